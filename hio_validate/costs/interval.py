"""A number that is not known exactly: a best guess between its ends.

Invariant: low <= value <= high, all finite and not negative; every operation keeps that (tests/costs/test_interval.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


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

    def no_more_than(self, most: float) -> Interval:
        return Interval(min(self.value, most), min(self.low, most), min(self.high, most))

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


def end_by_end(function: Callable[..., float], *intervals: Interval) -> Interval:
    """A function of the best guesses, of the low ends and of the high ends: of what is uncertain for one and the same reason.

    Its ends are the least and the most of the three, as the function need not grow with what it is given.
    """
    value = function(*(each.value for each in intervals))
    low = function(*(each.low for each in intervals))
    high = function(*(each.high for each in intervals))
    return Interval(value, min(value, low, high), max(value, low, high))


def either(one: Interval, other: Interval) -> Interval:
    """The first one's best guess, within the ends of both."""
    return Interval(one.value, min(one.low, other.low), max(one.high, other.high))
