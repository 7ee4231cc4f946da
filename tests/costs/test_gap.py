"""A measurement beside its bound: the same gap whether the metric is a rate or a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.gap import efficiency, measured, measured_time, part_of
from hio_validate.costs.interval import Interval
from hio_validate.models.estimate import Amount, BoundTime, MeasuredBaseline

RATES = st.lists(st.floats(0.1, 1e4), min_size=3, max_size=3).map(sorted)


def baseline(value: float, low: float, high: float, unit: str) -> MeasuredBaseline:
    return MeasuredBaseline(run="r1@sha256:" + "0" * 64, arm="a", value=value, low=low, high=high, unit=unit)


def exactly(value: float, unit: str) -> Amount:
    return Amount(value=value, low=value, high=value, unit=unit)  # type: ignore[arg-type]


def bound(seconds: float, metric: Amount | None) -> BoundTime:
    return BoundTime(groups=[["weights"]], time=exactly(seconds, "s"), metric=metric)


def test_a_rate_and_a_time_are_read_in_base_units() -> None:
    assert measured(baseline(32, 30, 34, "token/s")) == Interval(32, 30, 34)
    assert measured(baseline(32, 30, 34, "ms")) == Interval(0.032, 0.03, 0.034)
    assert measured(baseline(29, 30, 34, "token/s")) == Interval(29, 29, 34)  # a median outside of its legs


def test_efficiency_is_the_bound_by_what_was_measured() -> None:
    assert efficiency(baseline(32, 32, 32, "token/s"), exactly(40, "1"), "higher") == Interval.exact(80)
    assert efficiency(baseline(50, 50, 50, "ms"), exactly(40, "ms"), "lower") == Interval.exact(80)
    assert efficiency(baseline(32, 0, 34, "token/s"), exactly(40, "1"), "higher") is None
    assert efficiency(baseline(32, 30, 34, "token/s"), exactly(0, "1"), "higher") is None


@given(RATES, st.floats(0.1, 1e4))
def test_that_the_measured_time_is_the_bounds_by_the_efficiency(rates: list[float], best: float) -> None:
    low, value, high = rates
    mine = baseline(value, low, high, "token/s")
    took = measured_time(mine, bound(1 / best, exactly(best, "1")), "higher")
    share = efficiency(mine, exactly(best, "1"), "higher")
    assert took is not None and share is not None
    assert (took.value, took.low, took.high) == pytest.approx((1 / value, 1 / high, 1 / low))
    assert 100 / best / took.value == pytest.approx(share.value)


def test_that_a_time_that_nothing_tells_is_none() -> None:
    mine = baseline(50, 40, 60, "ms")
    took = measured_time(mine, bound(0.02, exactly(25, "ms")), "lower")
    assert took is not None and (took.value, took.low, took.high) == pytest.approx((0.04, 0.032, 0.048))
    assert measured_time(mine, bound(0.02, None), "lower") is None
    assert measured_time(baseline(50, 0, 60, "ms"), bound(0.02, exactly(25, "ms")), "lower") is None


def test_that_a_part_is_at_most_all_and_of_nothing_none() -> None:
    assert part_of(Interval(2, 1, 3), Interval(4, 4, 4)) == Interval(0.5, 0.25, 0.75)
    assert part_of(Interval(2, 1, 3), Interval(2, 1, 2)) == Interval.exact(1)
    assert part_of(Interval(2, 0, 3), Interval(4, 0, 6)) == Interval(0.5, 0, 0.5)
