"""Intervals keep their order, contain what they stand for, and stay so when they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.interval import Interval, digits, either, longest, rounded, total

NUMBERS = st.floats(0, 1e12, allow_subnormal=False).map(lambda x: x if x > 1e-9 else 0.0)
INTERVALS = st.lists(NUMBERS, min_size=3, max_size=3).map(sorted).map(lambda x: Interval(x[1], x[0], x[2]))
POSITIVE = INTERVALS.map(lambda x: Interval(x.value + 1, x.low + 1, x.high + 1))
SHARE = st.floats(0, 1)


@pytest.mark.parametrize(
    "ends", [(1.0, 2.0, 3.0), (2.0, 1.0, 1.5), (-1.0, -2.0, 3.0), (1.0, 1.0, float("inf"))]
)
def test_ends_out_of_order_negative_or_endless_are_no_interval(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="no interval"):
        Interval(*ends)


def point(interval: Interval, share: float) -> float:
    return min(interval.high, max(interval.low, interval.low + share * (interval.high - interval.low)))


@given(INTERVALS, POSITIVE, SHARE, SHARE)
def test_every_operation_contains_what_it_gives_for_points(
    one: Interval, other: Interval, first: float, second: float
) -> None:
    a, b = point(one, first), point(other, second)
    assert (one + other).contains(a + b)
    assert (one * other).contains(a * b)
    assert (one / other).contains(a / b)
    assert longest(one, other).contains(max(a, b))
    assert total(one, other).contains(a + b)
    assert either(one, Interval.exact(b)).contains(a) and either(one, Interval.exact(b)).contains(b)


@given(INTERVALS)
def test_a_shown_interval_is_none_that_is_empty_and_contains_the_whole(interval: Interval) -> None:
    shown = rounded(interval)
    if interval.is_exact:
        assert shown.value == pytest.approx(interval.value, rel=1e-3)
    else:
        assert shown.low <= interval.low and interval.high <= shown.high
        assert shown.contains(interval.value)


@given(POSITIVE)
def test_no_more_digits_than_the_width_leaves_certain(interval: Interval) -> None:
    if not interval.is_exact:
        last = 10.0 ** -(digits(interval) - 1) * interval.value
        assert digits(interval) in (1, 4) or last >= (interval.high - interval.low) / 10.001


@pytest.mark.parametrize(
    ("ends", "shown", "count"),
    [
        ((4.3749, 4.3749, 4.3749), (4.375, 4.375, 4.375), 4),
        ((4.3749, 4.2123, 4.5123), (4.37, 4.21, 4.52), 3),
        ((4.3749, 4.0123, 4.9123), (4.4, 4.0, 5.0), 2),
        ((4.3749, 1.2, 9.1), (4.0, 1.0, 10.0), 1),
        ((228571.4, 228571.4, 228571.4), (228600.0, 228600.0, 228600.0), 4),
        ((0.0, 0.0, 3.2), (0.0, 0.0, 3.2), 4),
    ],
)
def test_the_shown_digits_follow_the_width(
    ends: tuple[float, ...], shown: tuple[float, ...], count: int
) -> None:
    assert rounded(Interval(*ends)) == Interval(*shown)
    assert digits(Interval(*ends)) == count
