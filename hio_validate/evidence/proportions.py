"""Shares of right answers: intervals of one share and of the difference of two, without drawing anything.

Invariant: nothing about no items is measurable; swapping two shares turns the sign of the difference and of both ends.

One share: Wilson's score interval (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927): the p with |k/n - p| <= z sqrt(p(1-p)/n).
Two independent shares: the hybrid of two Wilson intervals (R. G. Newcombe, Stat. Med. 17:873, 1998, method 10).
The same items on both sides: Tango's score interval (T. Tango, Stat. Med. 17:891, 1998). With b items right only in the
second and c right only in the first, it is every difference d with |b - c - n d| <= z sqrt(n (2 q + d(1 - d))), where q is
the likeliest probability of "right only in the first" given d. Unlike what conditions on the items that differ, it does
not claim certainty where none differ: its ends then are +-z^2 / (n + z^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """A share or a difference of shares, 0 to 1, with its two-sided interval."""

    value: float
    low: float
    high: float
    method: str


def z_of(alpha: float) -> float:
    """The normal deviate that is exceeded with probability `alpha` (0 to 0.5), by bisection of the error function."""
    low, high = 0.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        if 0.5 * math.erfc(middle / math.sqrt(2)) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def wilson(right: int, n: int, z: float) -> Interval:
    """The share right/n. Raises ValueError for no items."""
    _refuse_nothing(right, n)
    p, square = right / n, z * z
    centre = (p + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    low = 0.0 if right == 0 else max(0.0, centre - half)
    high = 1.0 if right == n else min(1.0, centre + half)
    return Interval(p, low, high, "Wilson score")


def unpaired(first: tuple[int, int], second: tuple[int, int], z: float) -> Interval:
    """second - first, each (right, n) of items of its own. Raises ValueError for no items."""
    one, two = wilson(*first, z), wilson(*second, z)
    difference = two.value - one.value
    low = difference - math.hypot(two.value - two.low, one.high - one.value)
    high = difference + math.hypot(two.high - two.value, one.value - one.low)
    return Interval(difference, max(-1.0, low), min(1.0, high), "Newcombe, two Wilson intervals")


def paired(n: int, only_first: int, only_second: int, z: float) -> Interval:
    """second - first over the same `n` items, of which some were right in one of them only. Raises ValueError for no items."""
    _refuse_nothing(only_first + only_second, n)
    low = _lower(n, only_second, only_first, z)
    high = -_lower(n, only_first, only_second, z)
    return Interval((only_second - only_first) / n, low, high, "Tango score, the same items")


def _lower(n: int, gained: int, lost: int, z: float) -> float:
    """The smallest difference that is not rejected: the score falls with it, so that it is found by bisection."""
    low, high = -1.0, (gained - lost) / n
    for _ in range(100):
        middle = (low + high) / 2
        if _score(n, gained, lost, middle) > z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _score(n: int, gained: int, lost: int, d: float) -> float:
    a = 2 * n
    b = -gained - lost + (2 * n - gained + lost) * d
    c = -lost * d * (1 - d)
    q = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * q + d * (1 - d))
    distance = gained - lost - n * d
    return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)


def least_margin(n: int, z: float) -> float:
    """The margin that `n` items can show at best, where not one of them differs. Raises ValueError for no items."""
    _refuse_nothing(0, n)
    return z * z / (n + z * z)


def of_errors(first: tuple[float, float], second: tuple[float, float], z: float) -> Interval:
    """second - first, each (value, standard error) of a mean over items of its own: the normal interval."""
    difference = second[0] - first[0]
    half = z * math.hypot(first[1], second[1])
    return Interval(difference, difference - half, difference + half, "normal, two standard errors")


def _refuse_nothing(part: int, n: int) -> None:
    if n <= 0 or not 0 <= part <= n:
        raise ValueError(f"{part} of {n} items: there is no share of it")
