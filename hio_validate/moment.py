"""Moments in UTC, compared exactly: to the last digit of a fraction of a second, of any length.

Invariant: the order is that of time (tests/test_moment.py compares it with datetime, which keeps six digits).
"""

from __future__ import annotations

from typing import NamedTuple


class Moment(NamedTuple):
    """A moment as a document writes it. Both texts sort as time does: digits of equal places stand under each other."""

    second: str
    """`2026-09-16T23:58:00`."""
    fraction: str
    """Digits behind the point without the zeros at their end; none = the full second."""


def moment(text: str) -> Moment:
    """The moment that `2026-09-16T23:58:00.25Z` names. Raises ValueError where the text does not end in Z."""
    if not text.endswith("Z"):
        raise ValueError(f"{text} is no moment in UTC: expected it to end in Z")
    second, _, fraction = text[:-1].partition(".")
    return Moment(second, fraction.rstrip("0"))
