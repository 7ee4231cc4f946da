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


def seconds_of(text: str) -> float:
    """Seconds from 1970 to a moment, without leap seconds; for differences only. Raises ValueError as `moment` does.

    Days are counted from March on (E. M. Reingold, N. Dershowitz, Calendrical Calculations, 4th ed. 2018, chapter 2).
    """
    found = moment(text)
    date, _, time = found.second.partition("T")
    year, month, day = (int(part) for part in date.split("-"))
    hour, minute, second = (int(part) for part in time.split(":"))
    year -= month <= 2
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 365 * year + year // 4 - year // 100 + year // 400 + of_year - 719468
    return days * 86400 + hour * 3600 + minute * 60 + second + float(f"0.{found.fraction or 0}")
