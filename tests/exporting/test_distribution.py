"""Statistics of requests, against the standard library."""

from __future__ import annotations

from statistics import fmean, pstdev, quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.exporting.distribution import PERCENTILES, distribution

VALUES = st.lists(st.floats(0.001, 1e6), min_size=2, max_size=300)


@given(VALUES)
def test_it_agrees_with_the_standard_library(values: list[float]) -> None:
    found = distribution(values)
    assert found["mean"] == pytest.approx(fmean(values))
    assert found["stddev"] == pytest.approx(pstdev(values), rel=1e-6, abs=1e-6)
    permille = quantiles(values, n=1000, method="inclusive")
    for name, percent in {**PERCENTILES, "p50": 50.0}.items():
        if name in found:
            assert found[name] == pytest.approx(permille[round(percent * 10) - 1])
    in_order = [found[name] for name in ("min", "p10", "p25", "p50", "p75", "p90", "max") if name in found]
    assert in_order == sorted(in_order)


@pytest.mark.parametrize(
    ("count", "given"),
    [
        (1, {"mean", "min", "p50", "max"}),
        (3, {"mean", "min", "p50", "max", "stddev"}),
        (4, {"mean", "min", "p50", "max", "stddev", "p25", "p75"}),
        (20, {"mean", "min", "p50", "max", "stddev", "p25", "p75", "p10", "p90", "p5", "p95"}),
    ],
)
def test_a_percentile_that_nobody_could_see_is_absent(count: int, given: set[str]) -> None:
    assert set(distribution([float(each + 1) for each in range(count)])) == given


def test_of_a_thousand_all_are_given() -> None:
    assert set(PERCENTILES) <= set(distribution([float(each) for each in range(1, 1001)]))
