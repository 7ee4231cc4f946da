"""A number that is not known exactly: a best guess between its ends.

Invariant: low <= value <= high, all finite and not negative; every operation keeps that (tests/costs/test_interval.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal


@dataclass(frozen=True, slots=True)
class Interval:
    """A best guess, the least and the most it may be."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.value <= self.high < math.inf):
            raise ValueError(f"no interval: {self.low} <= {self.value} <= {self.high}")

    @classmethod
    def exact(cls, value: float) -> Interval:
        """A number that is known."""
        return cls(value, value, value)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval | float) -> Interval:
        by = other if isinstance(other, Interval) else Interval.exact(other)
        return Interval(self.value * by.value, self.low * by.low, self.high * by.high)

    def __truediv__(self, other: Interval) -> Interval:
        """Raises ZeroDivisionError where the other may be zero."""
        return Interval(self.value / other.value, self.low / other.high, self.high / other.low)

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


ZERO = Interval.exact(0.0)


def longest(*intervals: Interval) -> Interval:
    """The largest of each end: the lower bound of what happens at the same time."""
    return Interval(
        max(each.value for each in intervals),
        max(each.low for each in intervals),
        max(each.high for each in intervals),
    )


def total(*intervals: Interval) -> Interval:
    """The sum: what happens one after the other."""
    found = ZERO
    for each in intervals:
        found = found + each
    return found


def either(one: Interval, other: Interval) -> Interval:
    """The first one's best guess, within the ends of both."""
    return Interval(one.value, min(one.low, other.low), max(one.high, other.high))


def digits(interval: Interval) -> int:
    """Significant digits that an interval allows its best guess, 1 to 4: as many as its width leaves certain, and one."""
    if interval.is_exact or not interval.value:
        return 4
    width = (interval.high - interval.low) / interval.value
    return min(4, max(1, 1 - math.floor(math.log10(width)))) if width else 4


def rounded(interval: Interval) -> Interval:
    """The interval to the digits that it allows, for showing: its ends outwards, so that it still contains itself.

    Documents keep the full numbers. A known number is rounded as such.
    """
    places = digits(interval)
    value = _to(interval.value, places, interval.value, ROUND_HALF_EVEN)
    if interval.is_exact:
        return Interval.exact(value)
    low = _to(interval.low, places, interval.value, ROUND_FLOOR)
    high = _to(interval.high, places, interval.value, ROUND_CEILING)
    return Interval(min(max(value, low), high), low, high)


def _to(number: float, places: int, as_wide_as: float, rounding: str) -> float:
    """A number to the last place that `as_wide_as` shows with so many digits."""
    if not as_wide_as:
        return number
    last = Decimal(as_wide_as).adjusted() - places + 1
    return float((Decimal(number).scaleb(-last)).to_integral_value(rounding).scaleb(last))
