"""The default that ends an option's description, put together again where argparse wrapped it.

Invariant: a default whose spelling the line breaks hide is refused, never guessed. Source of the wrapping: CPython's
Lib/textwrap.py (where a line may break).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from hio_validate.settings.argparse_layout import Entry, Layout, beside
from hio_validate.settings.catalogue import UnreadableHelp

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


def default_of(entry: Entry, layout: Layout) -> str | None:
    """The text after `(default:`, put together again where it was wrapped; None where none is given."""
    first = beside(entry.first)
    lines = ([first] if first else []) + [line[layout.column :] for line in entry.below]
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


def _check_no_header_lost(lines: list[str], width: int, entry: Entry) -> None:
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
