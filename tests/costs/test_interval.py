"""Intervals keep their order, contain what they stand for, and follow what they are computed from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.interval import Interval, either, end_by_end, longest, total

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


@given(INTERVALS, POSITIVE)
def test_end_by_end_is_narrower_than_ends_that_have_nothing_to_do_with_each_other(
    one: Interval, other: Interval
) -> None:
    found, wide = end_by_end(lambda a, b: a / b, one, other), one / other
    assert wide.low <= found.low <= found.value <= found.high <= wide.high


def test_end_by_end_a_function_may_fall_where_its_input_grows() -> None:
    assert end_by_end(lambda x: 12 / x, Interval(3, 2, 4)) == Interval(4, 3, 6)
    assert end_by_end(lambda a, b: a / b, Interval(10, 8, 12), Interval(5, 4, 6)) == Interval.exact(2)
