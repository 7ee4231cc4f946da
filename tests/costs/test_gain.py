"""Amdahl's bound: deleting a share gains no more than it, and what the bound of a rate is (contract 9.4)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.gain import at_most, of_times, part_gone, rate_gained, time_saved
from hio_validate.costs.interval import Interval

SHARES = st.floats(0, 0.999)
PARTS = st.floats(0, 1)


def test_that_deleting_eight_percent_gains_no_more_than_that() -> None:
    assert time_saved(0.08) == pytest.approx(0.08)
    assert rate_gained(0.08) == pytest.approx(0.08 / 0.92)


def test_that_half_of_the_time_at_twice_the_speed_saves_a_quarter() -> None:
    gone = part_gone(1.0, 1.0 / 2)
    assert time_saved(0.5, gone) == pytest.approx(0.25)
    assert rate_gained(0.5, gone) == pytest.approx(1 / 3)


@given(SHARES, PARTS)
def test_that_no_part_gains_more_than_the_share_vanishing(share: float, gone: float) -> None:
    assert 0 <= time_saved(share, gone) <= time_saved(share) == share
    assert 0 <= rate_gained(share, gone) <= rate_gained(share)


@given(SHARES, PARTS)
def test_that_rate_and_time_say_the_same(share: float, gone: float) -> None:
    assert (1 + rate_gained(share, gone)) * (1 - time_saved(share, gone)) == pytest.approx(1)


@given(SHARES, SHARES, PARTS)
def test_that_a_larger_share_never_gains_less(one: float, other: float, gone: float) -> None:
    low, high = sorted((one, other))
    assert rate_gained(low, gone) <= rate_gained(high, gone)


@pytest.mark.parametrize(
    ("share", "gone"), [(-0.1, 0.5), (1.1, 0.5), (0.5, -0.1), (0.5, 1.1), (math.nan, 0.5), (0.5, math.nan)]
)
def test_that_what_is_no_share_is_refused(share: float, gone: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        time_saved(share, gone)


@given(st.floats(1e-9, 1e9), st.floats(1, 1e6))
def test_that_a_part_goes_with_the_speed(before: float, times: float) -> None:
    """Amdahl's factor: n times as fast leaves one n-th."""
    assert part_gone(before, before / times) == pytest.approx(1 - 1 / times, abs=1e-9)


def test_that_all_goes_where_nothing_is_left_and_nothing_where_it_grows() -> None:
    assert part_gone(2.0, 0.0) == 1.0
    assert part_gone(2.0, 3.0) == 0.0
    assert part_gone(0.0, 0.0) == 1.0, "of nothing everything goes, as of any time that ends"
    assert part_gone(0.0, 1.0) == 0.0


def test_that_no_rate_is_stated_where_everything_vanishes() -> None:
    assert time_saved(1.0) == 1.0
    with pytest.raises(ValueError, match="no rate is left"):
        rate_gained(1.0)


def test_that_the_interval_of_a_gain_follows_from_both() -> None:
    found = at_most(Interval(0.5, 0.4, 0.6), "higher", Interval(0.5, 1 / 3, 0.75))
    assert found.value == pytest.approx(100 / 3)
    assert found.low == pytest.approx(100 * rate_gained(0.4, 1 / 3))
    assert found.high == pytest.approx(100 * rate_gained(0.6, 0.75))
    assert at_most(Interval.exact(0.08), "lower") == Interval(8, 8, 8)


def test_that_two_bounds_give_the_gain_between_them() -> None:
    before, after = Interval(10, 8, 12), Interval(5, 4, 6)
    assert of_times(before, after, "higher") == Interval(100, 100, 100)
    assert of_times(before, after, "lower") == Interval(50, 50, 50)


def test_that_what_becomes_slower_gains_nothing() -> None:
    assert of_times(Interval.exact(5), Interval.exact(10), "higher") == Interval(0, 0, 0)
