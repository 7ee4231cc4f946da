"""Reads the options of an engine from a help text in the layout of Python's argparse.

Written for `vllm serve --help=all`. Sources of the layout: CPython's Lib/argparse.py (HelpFormatter,
BooleanOptionalAction), Lib/textwrap.py (where a line may break) and vLLM's vllm/utils/argparse_utils.py
(FlexibleArgumentParser, SortedHelpFormatter, EnableDisableAction).

Invariant: every line at option indentation is an option, or the text is refused; a default whose spelling
the line breaks hide is refused, never guessed. Flags stay as printed: where a family takes underscores for
dashes it is argv that is turned into dashes, never the catalogue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum, auto
from itertools import pairwise
from typing import NamedTuple

from hio_validate.settings.catalogue import Arity, Catalogue, Option, UnreadableHelp

INDENT = 2
"""argparse's indent_increment: the column of every option, positional and group description."""

POSITIONALS = {"model_tag": "model"}
"""What `vllm serve` calls its positional -> the setting it is."""

INVERSES = {"--enable-": "--disable-", "--disable-": "--enable-"}

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
FLAG = r"--?[A-Za-z0-9][^\s,=\[\]{}]*"
PART = re.compile(rf"({FLAG})(?: (\S.*))?")
NEXT_FLAG = re.compile(r", (?=--?[A-Za-z0-9])")
USAGE_FLAG = re.compile(rf"(?<=[\s\[(|])({FLAG})")

CLOSED = r"\{[^{}]+\}"
ONE_VALUE = rf"(?:{CLOSED}(?: or [^\[\]{{}}]+)?|\['[^\[\]]*'\]|[^\s\[\]{{}}]+)"
SHAPES = (
    (Arity.ONE, re.compile(rf"({ONE_VALUE})")),
    (Arity.OPTIONAL, re.compile(rf"\[({ONE_VALUE})\]")),
    (Arity.MANY, re.compile(rf"\[({ONE_VALUE}) \.\.\.\]")),
    (Arity.MANY, re.compile(rf"({ONE_VALUE}) \[\1 \.\.\.\]")),
    (Arity.MANY, re.compile(rf"\[({ONE_VALUE}) \[\1 \.\.\.\]\]")),
    (Arity.TWO, re.compile(rf"({ONE_VALUE}) \1")),
)
"""How argparse prints `nargs`, as a pattern whose group 1 is the name or the choices of one value."""

DEFAULT = "(default:"
MOST_READINGS = 64
"""How many ways to join the lines of a default are followed before it counts as unreadable."""
DOCUMENTED = re.compile(r"(?:^|\s)Default: (\S+?|[\[{(].*[\]})])\.?$")
"""`Default: X` as the last words of a description, where no `(default: X)` is given."""

LITERAL = re.compile(r"[\w.]*[\[({].*[\])}]", re.DOTALL)
"""A list, a mapping or a record such as `Config(a=1)`, as far as its ends tell."""

HYPHEN_END = re.compile(r"(?:[^\W\d]{2}|[^\W\d]-[\w!\"'&.,?])-$")
HYPHEN_START = re.compile(r"[^\W\d]-?[^\W\d]")
"""Before and after the hyphen of a word that textwrap may break there (TextWrapper.wordsep_re)."""


class _Part(Enum):
    """Where in the text a line stands."""

    FREE = auto()
    """The description of the program or the closing notes."""
    POSITIONALS = auto()
    ABOUT = auto()
    """The description of a group, before its first option."""
    OPTIONS = auto()


class _Entry(NamedTuple):
    """One option or positional: its first line, and the lines indented deeper below it."""

    line: int
    first: str
    positional: bool
    below: list[str]


class _Layout(NamedTuple):
    """The column where descriptions start and the length of the longest line of any description."""

    column: int
    width: int


def learn(text: str) -> Catalogue:
    """All options of a help text; raises UnreadableHelp where it is not argparse's or not complete."""
    lines = [ANSI.sub("", line).rstrip() for line in text.split("\n")]
    start, usage = _usage(lines)
    scan = _Scan(lines, start)
    entries = scan.entries()
    options = [entry for entry in entries if not entry.positional]
    if not options:
        raise UnreadableHelp(len(lines), _why_no_options(lines))
    layout = _layout(entries)
    learned = [_option(entry, layout) for entry in options]
    complete = _check_against_usage(learned, usage, start)
    if not scan.closed and not (complete and text.endswith("\n")):
        raise UnreadableHelp(
            len(lines), "the list of options is cut off: expected the notes that close the help"
        )
    positional = _positional([entry for entry in entries if entry.positional])
    if positional and all(option.factor != positional for option in learned):
        learned.append(_unlisted(positional, entries))
    return Catalogue(tuple(learned), positional)


def _usage(lines: list[str]) -> tuple[int, str]:
    """The index of the line after the usage, and the usage; what is logged before it does not count."""
    first = next((i for i, line in enumerate(lines) if re.match(r"usage: \S", line, re.IGNORECASE)), None)
    if first is None:
        raise UnreadableHelp(
            len(lines), 'no "usage:" line: expected the whole text of `--help=all`, not a part of it'
        )
    end = first + 1
    while end < len(lines) and lines[end]:
        end += 1
    return end, " ".join(line.strip() for line in lines[first:end])


def _why_no_options(lines: list[str]) -> str:
    if any(line == "Config Groups:" or "--help=all" in line for line in lines):
        return "this help only lists groups: expected the output of `--help=all`"
    return "no option found: expected the help of an argparse program"


class _Scan:
    """Cuts the text after the usage into entries."""

    def __init__(self, lines: list[str], start: int) -> None:
        self._lines = lines
        self._start = start
        self._part = _Part.FREE
        self._entries: list[_Entry] = []
        self.closed = False
        """Whether notes follow the last option, so that the list above them is whole."""

    def entries(self) -> list[_Entry]:
        blank_before = True
        for index in range(self._start, len(self._lines)):
            line = self._lines[index]
            if line:
                self._take(index, line, blank_before)
            blank_before = not line
        return self._entries

    def _take(self, index: int, line: str, blank_before: bool) -> None:
        indent = len(line) - len(line.lstrip(" "))
        if "\t" in line[: indent + 1]:
            raise UnreadableHelp(index + 1, "a line is indented by a tab: expected spaces")
        if indent == 0:
            self._at_margin(index, line, blank_before)
        elif self._part is _Part.FREE:
            if _starts_option(line):
                raise UnreadableHelp(index + 1, f"an option outside any group: {line.strip()!r}")
        elif self._part is _Part.ABOUT:
            self._about(index, line, blank_before)
        elif indent == INDENT:
            self._entry(index, line)
        else:
            self._below(index, line, indent, blank_before)

    def _at_margin(self, index: int, line: str, blank_before: bool) -> None:
        if not blank_before and self._part is not _Part.FREE:
            raise UnreadableHelp(index + 1, f"expected an option or its description, got {line!r}")
        if blank_before and self._is_heading(index, line):
            self._part = _Part.POSITIONALS if line.lower() == "positional arguments:" else _Part.ABOUT
            self.closed = False
            return
        if self._part is not _Part.FREE:
            self.closed = self._is_note(index, line)
        self._part = _Part.FREE

    def _is_heading(self, index: int, line: str) -> bool:
        """A group's title; the line that it heads stands at option indentation, an example's deeper."""
        below = next((later for later in self._lines[index + 1 :] if later), "")
        return line.endswith(":") and bool(re.match(rf" {{{INDENT}}}\S", below))

    def _is_note(self, index: int, line: str) -> bool:
        """Closing words, and not a group's title that was cut off."""
        rest = self._lines[index + 1 :]
        return bool(self._entries and rest) and (not line.endswith(":") or any(rest))

    def _about(self, index: int, line: str, blank_before: bool) -> None:
        if not _starts_option(line):
            return
        above = self._lines[index - 1]
        if not blank_before and above.startswith(" "):
            raise UnreadableHelp(index, f"expected an option, got {above.strip()!r}")
        self._part = _Part.OPTIONS
        self._entry(index, line)

    def _entry(self, index: int, line: str) -> None:
        positional = self._part is _Part.POSITIONALS
        if positional == line.lstrip().startswith("-"):
            expected = "a positional argument" if positional else "an option"
            raise UnreadableHelp(index + 1, f"expected {expected}, got {line.strip()!r}")
        self._entries.append(_Entry(index + 1, line, positional, []))

    def _below(self, index: int, line: str, indent: int, blank_before: bool) -> None:
        if indent < INDENT or blank_before:
            raise UnreadableHelp(index + 1, f"text that belongs to no option: {line.strip()!r}")
        self._entries[-1].below.append(line)


def _starts_option(line: str) -> bool:
    return bool(re.match(rf" {{{INDENT}}}--?[A-Za-z0-9]", line))


def _layout(entries: list[_Entry]) -> _Layout:
    """The one column that argparse aligns every description to (HelpFormatter.format_help)."""
    starts = Counter(start for entry in entries for start in _starts(entry)[:1])
    column = starts.most_common(1)[0][0] if starts else 0
    described = [entry.first for entry in entries if _beside(entry.first)]
    described += [line for entry in entries for line in entry.below]
    layout = _Layout(column, max((len(line) - column for line in described), default=0))
    for entry in entries:
        _check_alignment(entry, layout)
    return layout


def _starts(entry: _Entry) -> list[int]:
    """The columns where the lines of a description start."""
    beside = _beside(entry.first)
    below = [len(line) - len(line.lstrip()) for line in entry.below]
    return [len(entry.first) - len(beside), *below] if beside else below


def _beside(first: str) -> str:
    """The description on the same line as the flags, at least two blanks after them."""
    parts = re.split(r" {2,}", first.strip(), maxsplit=1)
    return parts[1] if len(parts) == 2 else ""


def _check_alignment(entry: _Entry, layout: _Layout) -> None:
    """argparse puts a description beside the flags exactly where they leave two blanks before the column."""
    flags = re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0]
    starts = _starts(entry)
    fits = INDENT + len(flags) + 2 <= layout.column
    if starts and (
        bool(_beside(entry.first)) != fits or starts[0] != layout.column or min(starts) < starts[0]
    ):
        raise UnreadableHelp(
            entry.line, f"{flags!r} does not line up with the descriptions in column {layout.column}"
        )


def _option(entry: _Entry, layout: _Layout) -> Option:
    header = re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0]
    flags, value = _header(header, entry.line)
    arity, choices = _value(value, entry.line)
    negations = _negations(flags) if arity is Arity.NONE else ()
    positive = tuple(flag for flag in flags if flag not in negations)
    factor = next((flag[2:] for flag in positive if flag.startswith("--")), None)
    if factor is None:
        raise UnreadableHelp(entry.line, f"no long flag to name the setting by: {header!r}")
    default = _default(entry, layout)
    if negations and default not in (None, "True", "False", "None"):
        raise UnreadableHelp(
            entry.line, f"--{factor} is on or off, yet its default is {default!r}: is a line missing?"
        )
    return Option(factor, positive, negations, (), arity, choices, default, line=entry.line)


def _header(header: str, line: int) -> tuple[tuple[str, ...], str]:
    """The flags and the value; Python 3.13 prints the value after the last flag, older ones after each."""
    parts = [PART.fullmatch(part) for part in NEXT_FLAG.split(header)]
    found = [(match[1], match[2] or "") for match in parts if match]
    values = [value for _, value in found]
    value = values[-1] if values else ""
    once = not any(values[:-1])
    if len(found) != len(parts) or not (once or all(other == value for other in values)):
        raise UnreadableHelp(line, f"expected flags and their value, got {header!r}")
    return tuple(flag for flag, _ in found), value


def _value(value: str, line: int) -> tuple[Arity, tuple[str, ...]]:
    """The arity of a value, and its choices where no other is accepted.

    `['auto', 'hf']` and `{a,b} or name registered in --…` are what vLLM prints for names that a plugin may
    add to: no closed set, so no choices.
    """
    if not value:
        return Arity.NONE, ()
    for arity, shape in SHAPES:
        if match := shape.fullmatch(value):
            closed = re.fullmatch(CLOSED, match[1])
            return arity, tuple(match[1][1:-1].split(",")) if closed else ()
    raise UnreadableHelp(line, f"expected one value, several or choices, got {value!r}")


def _negations(flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags of an on/off option that switch it off.

    `--no-x` beside `--x` (BooleanOptionalAction). vLLM 0.33 pairs `--enable-x` with `--disable-x`, in either
    order, and still accepts the hidden `--no-enable-x` (EnableDisableAction).
    """
    plain = tuple(flag for flag in flags if "--no-" + flag[2:] in flags)
    if plain:
        return tuple("--no-" + flag[2:] for flag in plain)
    first = next((flag for flag in flags if flag.startswith("--")), "")
    for prefix, inverse in INVERSES.items():
        opposite = inverse + first.removeprefix(prefix)
        if first.startswith(prefix) and opposite in flags:
            return (opposite, "--no-" + first[2:])
    return ()


def _default(entry: _Entry, layout: _Layout) -> str | None:
    """The text after `(default:`, put together again where it was wrapped; None where none is given."""
    beside = _beside(entry.first)
    lines = ([beside] if beside else []) + [line[layout.column :] for line in entry.below]
    _check_no_header_lost(lines, layout.width, entry)
    tails = [_tail(lines, at, layout.width, entry.line) for at in _places(lines)]
    for tail in tails:
        if tail.endswith(")") and _is_balanced(tail[:-1]):
            return tail[:-1].strip()
    if not tails:
        documented = DOCUMENTED.search(" ".join(lines))
        return documented[1] if documented else None
    inside = _up_to_close(tails[0])
    if len(tails) > 1 or inside is None or tails[0].endswith(")"):
        raise UnreadableHelp(entry.line, f"cannot tell where the default ends in {DEFAULT + tails[0]!r}")
    return inside.strip()


def _places(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Line and position behind every `(default:`, the last one first."""
    for number in range(len(lines) - 1, -1, -1):
        for match in reversed(list(re.finditer(re.escape(DEFAULT), lines[number]))):
            yield number, match.end()


def _tail(lines: list[str], at: tuple[int, int], width: int, line: int) -> str:
    """The description from a place on, on one line, in the only reading that its line breaks allow."""
    number, position = at
    readings, broken = [lines[number][position:].strip()], False
    for above, below in pairwise(lines[number:]):
        joints = _joints(above, below.strip(), width)
        broken = broken or len(joints) > 1
        readings = [(reading + joint + below.strip()).strip() for reading in readings for joint in joints]
        readings = [reading for reading in readings if not broken or _begins_literal(reading)]
        if len(readings) > MOST_READINGS:
            break
    if broken:
        readings = [reading for reading in readings if LITERAL.fullmatch(reading.removesuffix(")"))]
    if len(readings) != 1:
        raise UnreadableHelp(
            line, "line breaks hide how the default is spelt: print the help with COLUMNS=10000 set"
        )
    return readings[0]


def _joints(above: str, below: str, width: int) -> tuple[str, ...]:
    """What textwrap can have taken away between two lines: a blank, or nothing inside a word.

    A line that ends in a hyphen is read as a broken word where textwrap may break it: no published default
    holds a word that ends in a hyphen.
    """
    last, first = above.split()[-1], below.split()[0]
    longer_than_a_line = len(last) + len(first) > width
    if above.endswith("-") and last != "-":
        dash = re.search(r"[\w!\"'&.,?]-{2,}$", above) and re.match(r"\w", below)
        hyphen = HYPHEN_END.search(above) and HYPHEN_START.match(below)
        return ("",) if dash or hyphen or longer_than_a_line else (" ",)
    before_dash = re.search(r"[\w!\"'&.,?]$", above) and re.match(r"-{2,}\w", below)
    if before_dash or (len(above) >= width and longer_than_a_line):
        return "", " "
    return (" ",)


def _begins_literal(text: str) -> bool:
    """Whether a text is spaced as Python's repr or compact JSON spaces lists, mappings and records."""
    if not re.match(r"[\w.]*(?:$|[\[({])", text):
        return False
    outside, _, _ = re.sub("[\"']", "\0", _outside_quotes(text)).partition("\0")
    as_repr = not re.search(r",(?![ )\]}]|$)|(?<![,:]) ", outside)
    return as_repr or not re.search(r"\s", text)


def _check_no_header_lost(lines: list[str], width: int, entry: _Entry) -> None:
    """A default ends a description; where it ends a line that had room for more, another option follows."""
    for number, (above, below) in enumerate(pairwise(lines), start=1):
        if above.endswith(")") and len(above) + 1 + len(below.split()[0]) <= width:
            _, found, default = " ".join(lines[:number]).rpartition(DEFAULT)
            if found and _is_balanced(default[:-1]):
                raise UnreadableHelp(entry.line, f"text after the default {above!r}: is a line missing?")


def _is_balanced(text: str) -> bool:
    """Whether all brackets close; those inside quotes do not count where the quotes are closed too."""
    return _unclosed(text, quotes=True) == [] or _unclosed(text, quotes=False) == []


def _up_to_close(text: str) -> str | None:
    """The text before the first `)` that closes what was open before it."""
    for match in re.finditer(r"\)", text):
        if _is_balanced(text[: match.start()]):
            return text[: match.start()]
    return None


def _unclosed(text: str, quotes: bool) -> list[str] | None:
    """The brackets still open at the end, None where one closes that was not open."""
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for char in _outside_quotes(text) if quotes else text:
        if char in pairs.values():
            stack.append(char)
        elif char in pairs and (not stack or stack.pop() != pairs[char]):
            return None
    return stack


def _outside_quotes(text: str) -> str:
    return re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "", text)


def _check_against_usage(options: list[Option], usage: str, line: int) -> bool:
    """True where the usage names every option, so that the list is known to be whole."""
    named = set(USAGE_FLAG.findall(re.sub(r"\{[^{}]*\}|'[^']*'", "", usage)))
    if not named or re.search(r"\[options\]", usage, re.IGNORECASE):
        return False
    known = {flag for option in options for flag in (*option.flags, *option.negations)}
    if lost := sorted(named - known):
        raise UnreadableHelp(line, f"the usage names {lost[0]}, which no line describes")
    for option in options:
        if named.isdisjoint((*option.flags, *option.negations)):
            raise UnreadableHelp(option.line, f"{option.flags[0]} is missing from the usage")
    return True


def _positional(entries: list[_Entry]) -> str | None:
    names = [re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0] for entry in entries]
    for entry, name in zip(entries, names, strict=True):
        if name not in POSITIONALS:
            raise UnreadableHelp(entry.line, f"a positional argument this reader does not know: {name!r}")
    if len(names) > 1:
        raise UnreadableHelp(entries[1].line, "expected one positional argument, got several")
    return POSITIONALS[names[0]] if names else None


def _unlisted(factor: str, entries: list[_Entry]) -> Option:
    """The option that a positional sets where help does not list its flag, which `vllm serve` accepts."""
    line = next(entry.line for entry in entries if entry.positional)
    return Option(factor, ("--" + factor,), line=line)
