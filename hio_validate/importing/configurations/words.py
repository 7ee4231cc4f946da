"""Texts that become words: as a POSIX shell splits them, and as a plain splitter of words does.

Invariant: what a shell would still expand stays as it is written, and is told; JSON whose quotes a shell would take away
keeps them, and is told, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_OPERATORS = (";;", "&&", "||", ">>", "<<", ">&", "<&", ";", "&", "|", "(", ")", "<", ">", "\n")
_EXPANDS = re.compile(r"\$(\w+|[@*#?!$-])|\$\{([^}\n]{0,1000})\}|\$\(|`")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_JSON = re.compile(r'\{\s*"|\[\s*[{"\]]')


class Unclosed(ValueError):
    """A quote that is never closed."""

    def __init__(self, line: int, quote: str) -> None:
        super().__init__(f"the quote {quote} that opens here is never closed")
        self.line = line


@dataclass
class Word:
    """One word: its text, the line it begins on (from 1 of the whole text), and why it is not certain."""

    text: str
    line: int
    raw: str = ""
    """As it is written, with its quotes."""
    expands: bool = False
    """Whether a shell would still fill something in."""
    is_operator: bool = False


@dataclass
class _Splitting:
    text: str
    shell: bool
    at: int = 0
    line: int = 1
    words: list[Word] = field(default_factory=list)


def split(text: str, *, shell: bool = True, line: int = 1) -> list[Word]:
    """The words of a text. With `shell`, operators are words of their own and line ends are one of them.

    Raises Unclosed.
    """
    going = _Splitting(text, shell, line=line)
    while going.at < len(text):
        char = text[going.at]
        if text.startswith("\\\n", going.at):
            going.at, going.line = going.at + 2, going.line + 1
        elif char == "\n" and not shell:
            going.at, going.line = going.at + 1, going.line + 1
        elif char == "#" and shell:
            end = text.find("\n", going.at)
            going.at = len(text) if end < 0 else end
        elif shell and (
            operator := next((each for each in _OPERATORS if text.startswith(each, going.at)), "")
        ):
            _drop_descriptor(going, operator)
            going.words.append(Word(operator, going.line, operator, is_operator=True))
            going.line += operator == "\n"
            going.at += len(operator)
        elif char.isspace():
            going.at += 1
        else:
            going.words.append(_word(going))
    return going.words


def _drop_descriptor(going: _Splitting, operator: str) -> None:
    """The number before a redirection (`2>`) is part of it."""
    if (
        operator[0] in "<>"
        and going.words
        and going.text[going.at - 1].isdigit()
        and going.words[-1].raw.isdigit()
    ):
        going.words.pop()


def _word(going: _Splitting) -> Word:
    """The word that begins here; what it is quoted by is taken away."""
    text, begin, line = going.text, going.at, going.line
    value: list[str] = []
    expands = False
    while going.at < len(text):
        char = text[going.at]
        if char in "'\"":
            part, opened = _quoted(going, char)
            value.append(part)
            expands = expands or opened
        elif char == "\\" and going.at + 1 < len(text):
            following = text[going.at + 1]
            value.append("" if following == "\n" else following)
            going.line += following == "\n"
            going.at += 2
        elif char.isspace() or (going.shell and char in ";&|()<>"):
            if not (char == "(" and value and value[-1].endswith("$")):
                break
            value.append(_substitution(going))
            expands = True
        else:
            expands = expands or (going.shell and _EXPANDS.match(text, going.at) is not None)
            value.append(char)
            going.at += 1
    raw = text[begin : going.at]
    return Word(_with_json(raw, "".join(value)), line, raw, expands and going.shell)


def _substitution(going: _Splitting) -> str:
    """`(…)` of a command substitution, with what is nested in it."""
    depth, begin = 0, going.at
    while going.at < len(going.text):
        char = going.text[going.at]
        depth += (char == "(") - (char == ")")
        going.line += char == "\n"
        going.at += 1
        if not depth:
            break
    return going.text[begin : going.at]


def _quoted(going: _Splitting, quote: str) -> tuple[str, bool]:
    """What stands between two quotes, and whether a shell would fill something in."""
    text, line = going.text, going.line
    value: list[str] = []
    expands = False
    going.at += 1
    while going.at < len(text):
        char = text[going.at]
        if char == quote:
            going.at += 1
            return "".join(value), expands
        going.line += char == "\n"
        following = text[going.at + 1 : going.at + 2]
        if quote == '"' and char == "\\" and following and following in '"\\$`\n':
            value.append("" if following == "\n" else following)
            going.line += following == "\n"
            going.at += 2
            continue
        if quote == '"' and char in "$`" and _EXPANDS.match(text, going.at):
            expands = True
        value.append(char)
        going.at += 1
    raise Unclosed(line, quote)


def _with_json(raw: str, value: str) -> str:
    """The word, or the JSON that was meant where its own quotes would be taken for a shell's."""
    return raw if loses_json(raw, value) else value


def loses_json(raw: str, value: str) -> bool:
    """Whether JSON stands in a word unquoted, so that a shell takes its quotes away."""
    found = _JSON.search(raw)
    if found is None or raw == value or "'" in raw or "\\" in raw or raw[0] not in "{[-":
        return False
    return _is_json(raw[found.start() :]) and not _is_json(value[value.find(raw[found.start()]) :])


def _is_json(text: str) -> bool:
    import json  # for a word that looks like JSON only

    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def commands(words: list[Word]) -> Iterator[list[Word]]:
    """The simple commands of a shell text, in order; redirections are left out."""
    command: list[Word] = []
    skip = False
    for word in words:
        if word.is_operator:
            skip = word.text in (">", ">>", "<", ">&", "<&")
            if not skip:
                if command:
                    yield command
                command = []
            continue
        if not skip:
            command.append(word)
        skip = False
    if command:
        yield command


def substituted(word: Word, known: Mapping[str, str]) -> tuple[str, bool]:
    """A word with the variables that are known, and whether everything in it is."""
    if not word.expands or "'" in word.raw:
        return word.text, not word.expands
    text = _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), word.text)
    return text, _EXPANDS.search(text) is None
