"""Reads what `llama-server --help` prints (llama.cpp common/arg.cpp, common_arg::to_string).

Invariant: a line where an option could begin is either understood or refused with its number; an option is
never half-learned, so a text that ends inside one is refused. Lines before the first section title are what
the program logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.settings.catalogue import Arity, Catalogue, Option, UnreadableHelp

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SECTION = re.compile(r"-{4,} .+ -{4,}")
_FLAG = re.compile(r"(--?[A-Za-z][A-Za-z0-9_.-]*)(,?)(\s*)")
_ENV = re.compile(r"\(env: ([A-Z][A-Z0-9_]*)\)")
_REMOVED = re.compile(r"the argument has been removed\.?\s*(.*)")
_SAME_AS = re.compile(r"(?:same as|follows)\s+(?:--)?([a-z][a-z0-9-]*)|^(--[a-z][a-z0-9-]*)$")
_CHOICES = re.compile(r"[\[{<]([^\]}>]*[|,][^\]}>]*)[\]}>]")
_GAP = re.compile(r"\s{2,}")
_FIRST_WORD = re.compile(r"(-?[0-9][0-9.]*|none|unset|auto|enabled|disabled), ")
_INDENT_OF_OPTION = 4


class _Entry(NamedTuple):
    line: int
    header: str
    body: list[str]


def learn(text: str) -> Catalogue:
    """The catalogue of one build. Raises UnreadableHelp with the line that is not understood."""
    lines = text.split("\n")
    entries = list(_entries(lines))
    if not entries:
        raise UnreadableHelp(1, "no option found; expected the output of llama-server --help")
    if lines[-1]:
        raise UnreadableHelp(len(lines), "the last line has no end; the text may be cut off")
    return Catalogue(tuple(_option(entry) for entry in entries))


def _entries(lines: list[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    begun = False
    for number, raw in enumerate(lines, 1):
        line = _ANSI.sub("", raw).rstrip()
        begun = begun or bool(_SECTION.fullmatch(line))
        if not begun:
            if _looks_like_option(line):
                raise UnreadableHelp(number, "an option before the first section title (----- … -----)")
            continue
        if not line.strip() or _SECTION.fullmatch(line):
            if entry and not line.strip():
                entry.body.append("")
            continue
        if _indent(line) <= _INDENT_OF_OPTION:
            if entry:
                yield entry
            entry = _begin(number, line)
        elif entry is None:
            raise UnreadableHelp(number, "a description before the first option")
        else:
            entry.body.append(line.strip())
    if entry:
        yield entry


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _looks_like_option(line: str) -> bool:
    return (
        line.lstrip().startswith("-")
        and _indent(line) <= _INDENT_OF_OPTION
        and bool(_FLAG.match(line.lstrip()))
    )


def _begin(number: int, line: str) -> _Entry:
    """Split an option's first line into its header and the description that may share the line.

    Upstream pads the header to column 40 with at least three spaces, or ends the line after it.
    """
    stripped = line.strip()
    end = _flags_end(stripped)
    if not end:
        raise UnreadableHelp(number, f"expected an option, got {stripped[:40]!r}")
    if stripped[:end].endswith("  "):
        return _Entry(number, stripped[:end].rstrip(), [stripped[end:]])
    header, _, description = _GAP.sub("\0", stripped[end:], count=1).partition("\0")
    return _Entry(number, stripped[:end] + header, [description] if description else [])


def _flags_end(text: str) -> int:
    """Where the comma-separated flags end and a value's name or the description begins."""
    position = 0
    while match := _FLAG.match(text, position):
        position = match.end()
        if not match[2]:
            break
    return position


def _option(entry: _Entry) -> Option:
    flags, value = _split_header(entry)
    description = " ".join(part for part in entry.body if part)
    if not _ENV.sub("", description).strip():
        raise UnreadableHelp(entry.line, f"{flags[0]} has no description; the text may be cut off")
    env = _environment(description, entry.line)
    removed = _REMOVED.search(_ENV.sub("", description))
    factor, positive, negative = _polarity(flags, value, entry.line)
    default = None if removed else _default(description, entry.line)
    return Option(
        factor=factor,
        flags=positive,
        negations=negative,
        env=env,
        arity=_arity(value),
        choices=_choices(value),
        default=default,
        follows=_follows(default),
        removed=removed[1].strip() if removed else None,
        line=entry.line,
        metavar=value,
    )


def _environment(description: str, line: int) -> tuple[str, ...]:
    """The environment name, which upstream writes last: text after it belongs to a line that is missing."""
    match = _ENV.search(description)
    if match and description[match.end() :].strip():
        raise UnreadableHelp(
            line, f"text after (env: {match[1]}); the line of the next option may be missing"
        )
    if match is None and "(env:" in description:
        raise UnreadableHelp(line, "the text after (env: is no name of a variable")
    return (match[1],) if match else ()


def _split_header(entry: _Entry) -> tuple[list[str], str]:
    flags = []
    position = 0
    while match := _FLAG.match(entry.header, position):
        flags.append(match[1])
        position = match.end()
        if not match[2]:
            break
    value = entry.header[position:].strip()
    if value.startswith("-") or (not value and entry.header.rstrip().endswith(",")):
        raise UnreadableHelp(entry.line, f"expected flags and the name of a value, got {entry.header[:60]!r}")
    return flags, value


def _polarity(flags: list[str], value: str, line: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The factor, and which spellings switch on and which off.

    `--no-x` negates only where `--x` (or `--x-…`) stands beside it: `--no-host` alone is an option of its
    own. A short flag is a negation where it stands between the positive and the negated long flags.
    """
    positive_names = {flag.lstrip("-") for flag in flags if not flag.startswith("--no-")}
    negative = [] if value else [flag for flag in flags if _negates(flag, positive_names)]
    if negative:
        long = [i for i, flag in enumerate(flags) if flag.startswith("--") and flag not in negative]
        after = flags[long[-1] + 1 :] if long else []
        negative = [flag for flag in flags if flag in negative or flag in after]
    positive = [flag for flag in flags if flag not in negative]
    factor = next((flag for flag in positive if flag.startswith("--")), positive[0] if positive else "")
    if not factor:
        raise UnreadableHelp(line, f"only negations: {', '.join(flags)}")
    return factor.lstrip("-"), tuple(positive), tuple(negative)


def _negates(flag: str, positive_names: set[str]) -> bool:
    name = flag.removeprefix("--no-")
    return name != flag and any(other == name or other.startswith(name + "-") for other in positive_names)


def _arity(value: str) -> Arity:
    if not value:
        return Arity.NONE
    words = value.split()
    if len(words) == 2 and all(re.fullmatch(r"[A-Z]+", word) for word in words):
        return Arity.TWO
    return Arity.ONE


def _choices(value: str) -> tuple[str, ...]:
    match = _CHOICES.fullmatch(value)
    if not match or "..." in value or ".." in value:
        return ()
    return tuple(part.strip() for part in re.split(r"[|,]", match[1]))


def _default(description: str, line: int) -> str | None:
    """The default's text: `(default: …)`, `…, default: 'auto')`, `default: 1024`, `- layer (default): …`."""
    start = re.search(r"\(default: ?", description)
    if start:
        return _clean(_balanced(description, start.end(), line))
    inner = re.search(r"[,(] ?default: '?([^'),;]+)", description)
    if inner:
        return _clean(inner[1])
    listed = re.search(r"- (\S+) \(default\)", description)
    return listed[1] if listed else None


def _balanced(text: str, start: int, line: int) -> str:
    depth = 1
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return text[start:index]
    raise UnreadableHelp(line, "the text after (default: has no closing parenthesis")


def _clean(text: str) -> str:
    """The value alone: `-1, -1 = infinity` is -1; `'auto' (detect from template)` is auto."""
    quoted = re.match(r"'([^']*)'|\"([^\"]*)\"", text)
    if quoted:
        return quoted[1] if quoted[1] is not None else quoted[2]
    first = _FIRST_WORD.match(text)
    if first:
        return first[1]
    return re.split(r" = | \(|; (?=-?[0-9]+ = )", text, maxsplit=1)[0].strip()


def _follows(default: str | None) -> str | None:
    match = _SAME_AS.search(default) if default else None
    return (match[1] or match[2]).lstrip("-") if match else None
