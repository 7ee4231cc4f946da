"""Statistics of a column: the same as those of plain definitions, however the rows are cut into runs."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hio_validate.importing.results.distribution import PERCENTILES, Distribution

VALUES = st.lists(st.just(0.0) | st.floats(1e-9, 1e12), min_size=1, max_size=60)


def of(values: list[float], run: int = 1 << 18) -> dict[str, float]:
    with Distribution(run) as column:
        for value in values:
            column.add(value)
        assert column.count == len(values)
        return column.statistics()


def by_definition(values: list[float], percent: int) -> float:
    """The percentile of method 7, in exact arithmetic."""
    ordered = sorted(map(Fraction, values))
    at = Fraction(percent, 100) * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (ordered[high] - ordered[low]) * (at - low))


@given(VALUES, st.integers(1, 7))
@example(
    [439804650962.0, 439804650959.0, 439804650940.0], 1
)  # a mean that is rounded by more than std may be
def test_every_statistic_is_what_its_definition_says(values: list[float], run: int) -> None:
    found = of(values, run)
    assert (found["min"], found["max"]) == (min(values), max(values))
    assert found["total"] == math.fsum(values)
    assert found["mean"] == pytest.approx(float(sum(map(Fraction, values)) / len(values)), rel=1e-15, abs=0)
    assert found["std"] == pytest.approx(statistics.pstdev(map(Fraction, values)), rel=1e-12, abs=1e-300)
    for name, percent in PERCENTILES.items():
        assert found[name] == pytest.approx(by_definition(values, percent), rel=1e-14, abs=1e-300)


@given(VALUES, st.integers(1, 7), st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_runs_change_a_statistic(values: list[float], run: int, any_order) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(values)
    any_order.shuffle(shuffled)
    assert of(shuffled, run) == of(values)


@given(VALUES, st.integers(1, 7))
def test_many_at_once_are_as_one_after_the_other(values: list[float], run: int) -> None:
    with Distribution(run) as column:
        column.extend(values)
        column.extend(values)
        assert column.statistics() == of(values * 2)


@given(VALUES)
def test_the_statistics_stand_in_their_order(values: list[float]) -> None:
    found = of(values, 3)
    ordered = [found["min"], *(found[name] for name in PERCENTILES), found["max"]]
    assert ordered == sorted(ordered)
    assert found["min"] <= found["mean"] <= found["max"]


def test_no_value_has_no_statistics() -> None:
    assert of([]) == {}


def test_the_values_come_back_and_a_second_look_is_the_same() -> None:
    with Distribution(2) as column:
        for value in (3.0, 1.0, 2.0):
            column.add(value)
        assert sorted(column.values()) == [1.0, 2.0, 3.0]
        assert column.statistics() == column.statistics()
