"""Moments are ordered as time is, to the last digit of a second's fraction."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.moment import moment, seconds_of

_times = st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))
_fractions = st.text("0123456789", min_size=1, max_size=20)


def _written(time: datetime, digits: int) -> str:
    """A time as a document writes it, with as many digits of its fraction, at most six."""
    text = f"{time:%Y-%m-%dT%H:%M:%S}"
    return f"{text}.{time:%f}"[: len(text) + 1 + digits] + "Z" if digits else f"{text}Z"


def _cut(time: datetime, digits: int) -> datetime:
    unit = 10 ** (6 - digits)
    return time.replace(microsecond=time.microsecond // unit * unit)


@given(_times, _times, st.integers(0, 6), st.integers(0, 6))
def test_the_order_is_that_of_time(one: datetime, other: datetime, some: int, more: int) -> None:
    before = moment(_written(one, some)) < moment(_written(other, more))
    assert before == (_cut(one, some) < _cut(other, more))
    same = moment(_written(one, some)) == moment(_written(other, more))
    assert same == (_cut(one, some) == _cut(other, more))


@given(_times, st.integers(-3, 3), st.integers(0, 6))
def test_neighbours_are_told_apart(one: datetime, microseconds: int, digits: int) -> None:
    other = one.replace(microsecond=min(max(one.microsecond + microseconds, 0), 999_999))
    before = moment(_written(one, 6)) < moment(_written(other, digits))
    assert before == (one < _cut(other, digits))


@given(_fractions, _fractions)
def test_fractions_are_compared_as_numbers_beyond_what_datetime_keeps(one: str, other: str) -> None:
    longest = max(len(one), len(other))
    mine, theirs = int(one.ljust(longest, "0")), int(other.ljust(longest, "0"))
    first, second = moment(f"2026-09-16T23:58:00.{one}Z"), moment(f"2026-09-16T23:58:00.{other}Z")
    assert (first < second, first == second) == (mine < theirs, mine == theirs)


@pytest.mark.parametrize("text", ["2026-09-16T23:58:00+02:00", "2026-09-16T23:58:00", ""])
def test_what_is_not_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected it to end in Z"):
        moment(text)


@given(_times, _times)
def test_seconds_between_two_moments_are_those_of_datetime(one: datetime, other: datetime) -> None:
    between = seconds_of(_written(other, 6)) - seconds_of(_written(one, 6))
    assert between == pytest.approx((other - one).total_seconds(), abs=1e-4)
