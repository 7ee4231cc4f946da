"""Amdahl's bound: deleting a share gains no more than it, and what the bound of a rate is (contract 9.4)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.gain import at_most, of_times, rate_gained, time_saved
from hio_validate.costs.interval import Interval

SHARES = st.floats(0, 0.999)
FACTORS = st.floats(1, 1e6)


def test_that_deleting_eight_percent_gains_no_more_than_that() -> None:
    assert time_saved(0.08) == pytest.approx(0.08)
    assert rate_gained(0.08) == pytest.approx(0.08 / 0.92)


def test_that_half_of_the_time_at_twice_the_speed_saves_a_quarter() -> None:
    assert time_saved(0.5, 2) == pytest.approx(0.25)
    assert rate_gained(0.5, 2) == pytest.approx(1 / 3)


@given(SHARES, FACTORS)
def test_that_no_factor_gains_more_than_the_share_vanishing(share: float, factor: float) -> None:
    assert 0 <= time_saved(share, factor) <= time_saved(share) == share
    assert 0 <= rate_gained(share, factor) <= rate_gained(share) * (1 + 1e-12)


@given(SHARES, FACTORS)
def test_that_rate_and_time_say_the_same(share: float, factor: float) -> None:
    assert (1 + rate_gained(share, factor)) * (1 - time_saved(share, factor)) == pytest.approx(1)


@given(SHARES, SHARES, FACTORS)
def test_that_a_larger_share_never_gains_less(one: float, other: float, factor: float) -> None:
    low, high = sorted((one, other))
    assert rate_gained(low, factor) <= rate_gained(high, factor)


@pytest.mark.parametrize(("share", "factor"), [(-0.1, 2.0), (1.1, 2.0), (0.5, 0.9), (math.nan, 2.0)])
def test_that_what_is_no_share_or_no_gain_is_refused(share: float, factor: float) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|at least 1"):
        time_saved(share, factor)


def test_that_no_rate_is_stated_where_everything_vanishes() -> None:
    assert time_saved(1.0) == 1.0
    with pytest.raises(ValueError, match="no rate is left"):
        rate_gained(1.0)


def test_that_the_interval_of_a_gain_follows_from_both() -> None:
    found = at_most(Interval(0.5, 0.4, 0.6), "higher", Interval(2, 1.5, 4))
    assert found.value == pytest.approx(100 / 3)
    assert found.low == pytest.approx(100 * rate_gained(0.4, 1.5))
    assert found.high == pytest.approx(100 * rate_gained(0.6, 4))
    assert at_most(Interval.exact(0.08), "lower") == Interval(8, 8, 8)


def test_that_two_bounds_give_the_gain_between_them() -> None:
    before, after = Interval(10, 8, 12), Interval(5, 4, 6)
    assert of_times(before, after, "higher") == Interval(100, 100, 100)
    assert of_times(before, after, "lower") == Interval(50, 50, 50)


def test_that_what_becomes_slower_gains_nothing() -> None:
    assert of_times(Interval.exact(5), Interval.exact(10), "higher") == Interval(0, 0, 0)
