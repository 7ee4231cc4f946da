"""Numbers as people's locales print them: `1,234.5`, `1.234,5`, `1 234,5`, and `1,234`, which is two different numbers.

Invariant: whether a comma or a point begins the fraction is decided by the whole column of a file, from numbers that can be
read one way only; where none is, or two disagree, a number that can be read two ways is ambiguous and never guessed.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_SPACES = str.maketrans("", "", " \u00a0\u202f\u2009'\u2019")
"""Marks that group digits and nothing else."""
_PLAIN = re.compile(r"[-+]?\d+")
_ONE = re.compile(r"([-+]?)(\d+)([.,])(\d+)(?:[eE]([-+]?\d+))?")
_GROUPS = re.compile(r"[-+]?\d{1,3}(?:,\d{3}){2,}|[-+]?\d{1,3}(?:\.\d{3}){2,}")
_BOTH = {
    ".": re.compile(r"[-+]?\d{1,3}(?:,\d{3})+\.\d+(?:[eE][-+]?\d+)?"),
    ",": re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+"),
}
_LONGEST = 40


class Ambiguous(NamedTuple):
    """A text that is two different numbers."""

    text: str


class Convention:
    """What the numbers of a file say about its locale; feed it every one, then ask."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def see(self, text: str) -> None:
        if len(self._seen) < 2 and (mark := _fraction_mark(text.strip().translate(_SPACES))):
            self._seen.add(mark)

    @property
    def mark(self) -> str | None:
        """The mark that begins a fraction: `.` or `,`; None: unknown, or two in one file."""
        return next(iter(self._seen)) if len(self._seen) == 1 else None


def _fraction_mark(text: str) -> str | None:
    """The mark that a number alone proves; None where it proves none, or is no number."""
    if len(text) > _LONGEST:
        return None
    for mark, pattern in _BOTH.items():
        if pattern.fullmatch(text):
            return mark
    if _GROUPS.fullmatch(text):
        return "." if "," in text else ","
    one = _one_mark(text)
    if one is None or _two_ways(one):
        return None
    return one[3]


def _one_mark(text: str) -> re.Match[str] | None:
    """A number with one mark; who prints exponents prints points."""
    one = _ONE.fullmatch(text)
    return None if one is not None and one[3] == "," and one[5] is not None else one


def _two_ways(one: re.Match[str]) -> bool:
    """Whether a number with one mark may be a group of thousands as well: 1,234 may, 0,234 and 12,34 and 1234,567 may not."""
    return len(one[4]) == 3 and len(one[2]) <= 3 and not one[2].startswith("0") and one[5] is None


def number(text: str, mark: str | None) -> int | float | Ambiguous | None:
    """What a text is where `mark` begins a fraction; None: no number. Integers are exact."""
    text = text.strip().translate(_SPACES)
    if len(text) > _LONGEST:
        return None
    if _PLAIN.fullmatch(text):
        return int(text)
    own = _fraction_mark(text)
    one = _one_mark(text)
    if own is None and one is None:
        return None
    if own is None:
        if mark is None:
            return Ambiguous(text)
        own = mark
    elif mark is not None and own != mark:
        return Ambiguous(text)
    whole = text.replace("," if own == "." else ".", "")
    if own not in whole:
        return int(whole)
    value = float(whole.replace(",", "."))
    return value if math.isfinite(value) else None
