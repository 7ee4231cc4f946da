"""Every unit and the dimension of every formula, held against pint."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.composition import as_metric, time_of
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import BASE, DIMENSION_OF, DIVIDES, UNITS, Dimension, amount, base, fitting
from hio_validate.models.ceilings import QUANTITY, UNIT
from tests.costs.test_composition import amount as written
from tests.costs.test_composition import term

RATES = sorted(unit for unit, (kind, _) in UNITS.items() if kind in DIVIDES)


@pytest.fixture(scope="module")
def registry() -> Any:
    pint = pytest.importorskip("pint")
    found = pint.UnitRegistry()
    found.define("FLOP = [floating_point_operation]")
    return found


def read(registry: Any, unit: str) -> Any:
    """One of a unit of documents as pint reads it: us is a microsecond there, too, and 1 has no dimension."""
    return registry.Quantity(1.0) if unit == "1" else registry.Quantity(1.0, unit)


def test_the_vocabulary_of_documents_is_the_table() -> None:
    assert set(UNIT["expected"]) == set(UNITS)
    assert set(QUANTITY["expected"]) == set(DIMENSION_OF)
    assert {UNITS[unit][0] for unit in BASE.values()} == set(BASE) == set(Dimension)
    assert all(UNITS[unit] == (kind, 1.0) for kind, unit in BASE.items())


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_every_unit_is_worth_what_pint_says(registry: Any, unit: str) -> None:
    kind, size = UNITS[unit]
    assert read(registry, unit).to(read(registry, BASE[kind]).units).magnitude == pytest.approx(
        size, rel=1e-12
    )


@pytest.mark.parametrize("unit", RATES)
def test_a_time_has_the_dimension_and_the_size_of_pints_formula(registry: Any, unit: str) -> None:
    kind = UNITS[unit][0]
    work, cost = 12.0 * read(registry, BASE[DIVIDES[kind]]), 3.0 * read(registry, unit)
    spent = work * cost if kind is Dimension.TIME else work / cost
    found = time_of(term(written(BASE[DIVIDES[kind]], 12.0), written(unit, 3.0)))
    assert spent.check("[time]")
    assert found.value == pytest.approx(spent.to("s").magnitude, rel=1e-12)


def test_a_metric_has_the_dimension_of_pints_formula(registry: Any) -> None:
    time, tokens = registry.Quantity(4.0, "ms"), 8.0
    rate = as_metric(Interval.exact(0.004), "decode_tps", tokens)
    assert rate.value == pytest.approx((tokens / time).to("1/s").magnitude)
    assert as_metric(Interval.exact(0.004), "tpot_ms", tokens).value == pytest.approx(
        (time / tokens).to("ms").magnitude
    )


@given(st.sampled_from(sorted(UNITS)), st.floats(1e-6, 1e6))
def test_an_amount_is_the_interval_that_it_was_written_from(unit: str, value: float) -> None:
    interval = Interval(value, value / 2, value * 2)
    again = base(amount(interval, unit))
    assert (again.low, again.value, again.high) == pytest.approx((value / 2, value, value * 2), rel=1e-12)


@given(st.sampled_from(sorted(Dimension)), st.floats(0, 1e20))
def test_the_unit_that_fits_is_of_the_dimension_and_changes_nothing(kind: Dimension, value: float) -> None:
    found = fitting(Interval.exact(value), kind)
    assert UNITS[found.unit][0] is kind
    assert base(found).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (4.375e-3, Dimension.TIME, "4.375 ms"),
        (3e-9, Dimension.TIME, "3 ns"),
        (2.0, Dimension.TIME, "2 s"),
        (0.0, Dimension.TIME, "0 s"),
        (999.0, Dimension.DATA, "999 B"),
        (7e10, Dimension.DATA, "70 GB"),
        (36e3, Dimension.WORK, "36000 FLOP"),
        (2e12, Dimension.DATA_RATE, "2 TB/s"),
    ],
)
def test_the_largest_unit_that_a_number_fills(value: float, kind: Dimension, shown: str) -> None:
    found = fitting(Interval.exact(value), kind)
    assert f"{found.value:g} {found.unit}" == shown
