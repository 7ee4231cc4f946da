"""Measured numbers in words: the same on every page, a published one with every digit that it shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.raw import agrees
from hio_validate.quantity import change, declared, from_to, measured, published, share, span


def test_a_value_has_its_unit_and_a_change_its_sign() -> None:
    assert measured(62.3649, "token/s") == "62.365 token/s"
    assert measured(3.0) == "3"
    assert from_to(46.011, 62.365, "token/s") == "46.011 -> 62.365 token/s"
    assert (change(35.544), change(-8.7), share(6.216)) == ("+35.54 %", "-8.70 %", "6.22 %")
    assert (declared(5.5), declared(20.0)) == ("5.5 %", "20 %")


def test_how_long_something_may_take_is_said_in_the_unit_a_person_waits_in() -> None:
    assert [span(each) for each in (90.0, 119.5, 120, 2400, 7200, 14_400, 9000)] == [
        "90 s", "119.5 s", "2 min", "40 min", "2 h", "4 h", "2.5 h",
    ]  # fmt: skip


@pytest.mark.parametrize(("number", "said"), [(39.5062, "+39.5062 %"), (-2.0, "-2 %"), (0.1, "+0.1 %")])
def test_a_published_number_keeps_its_digits(number: float, said: str) -> None:
    assert published(number) == said


@given(st.integers(-(10**8), 10**8))
def test_what_is_read_off_a_page_agrees_with_what_was_published(number: int) -> None:
    percent = number / 10_000
    assert float(published(percent).removesuffix(" %")) == percent
    assert agrees(float(change(percent).removesuffix(" %")), round(percent, 2))
