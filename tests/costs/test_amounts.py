"""Numbers show as many digits as their interval allows, and never become zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.amounts import (
    best_guess,
    common_unit,
    digits,
    in_unit,
    percent,
    readable,
    with_interval,
)
from hio_validate.costs.units import UNITS, base
from hio_validate.models.estimate import Amount


def amount(value: float, low: float, high: float, unit: str = "1") -> Amount:
    return Amount.model_validate({"value": value, "low": low, "high": high, "unit": unit})


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown"),
    [
        (81.384, 77.946, 89.905, "ms", "81 ms (78 to 90)"),
        (0.081384, 0.081351, 0.081399, "s", "81.38 ms (81.35 to 81.40)"),
        (4_980_736_000, 4_980_736_000, 4_980_736_000, "B", "4.981 GB"),
        (57, 50, 60, "GiB/s", "61 GB/s (54 to 64)"),
        (800, 800, 800, "Gbit/s", "100 GB/s"),
        (30, 1, 1000, "us", "30 us (1.0 to 1000)"),
        (0.5, 0.5, 0.5, "ns", "0.5 ns"),
        (0, 0, 0.25, "s", "0 ms (0 to 250)"),
        (1, 1, 1, "1", "1"),
        (2048, 2048, 2048, "1", "2048"),
        (1234, 700, 1700, "1", "1200 (700 to 1700)"),
        (1_500_000, 1_000_000, 2_000_000, "FLOP", "1.5 MFLOP (1.0 to 2.0)"),
    ],
)
def test_an_amount_as_it_is_read(value: float, low: float, high: float, unit: str, shown: str) -> None:
    assert with_interval(amount(value, low, high, unit)) == shown


def test_words_for_units() -> None:
    assert with_interval(amount(12.4, 11, 13), word="token/s") == "12.4 token/s (11.0 to 13.0)"
    assert percent(amount(80, 80, 80)) == "80 %"
    assert best_guess(amount(81.384, 77.946, 89.905, "ms"), "us") == "81000 us"


def test_a_column_of_amounts_has_the_unit_of_the_largest() -> None:
    assert common_unit([amount(3, 3, 3, "us"), amount(0.02, 0.02, 0.02, "s")]) == "ms"
    assert common_unit([amount(0, 0, 0, "s")]) == "ns"


positive = st.floats(1e-12, 1e18)


@given(st.lists(positive, min_size=3, max_size=3).map(sorted), st.sampled_from(sorted(UNITS)))
def test_no_unit_changes_the_amount_and_nothing_becomes_zero(ends: list[float], unit: str) -> None:
    low, value, high = ends
    said = amount(value, low, high, unit)
    told = readable(said)
    assert base(told).value == pytest.approx(base(said).value)
    assert base(in_unit(said, told.unit)).low == pytest.approx(base(said).low)
    for each in ends:
        shown = digits(each, low, high)
        assert float(shown) == pytest.approx(each, rel=0.05)
