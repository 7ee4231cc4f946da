"""The tests are wrong as seldom as they say and find what they say they find, on the noise that is recorded here.

The small version of benchmarks/statistics_check.py, whose table stands in docs/guide/statistics.md.
"""

from __future__ import annotations

import pytest

from benchmarks.statistics_check import binomial_bounds, noise_of, rate

COMPARISONS = 500


@pytest.fixture(scope="module")
def noise() -> list[float]:
    return noise_of()


@pytest.mark.parametrize(("test", "n"), [("permutation", 4), ("permutation", 5), ("sign-flip", 6)])
def test_nothing_is_found_seldom_and_the_detectable_effect_often(
    noise: list[float], test: str, n: int
) -> None:
    found = rate(noise, test, n, COMPARISONS)
    assert found.false <= found.most and found.claimed <= found.most
    assert found.detectable is not None and found.found is not None and found.least is not None
    assert found.least <= found.found < 0.9, "and not by stating an effect that nobody could miss"
    assert found.holds


@pytest.mark.parametrize(("test", "n"), [("permutation", 3), ("sign-flip", 4), ("sign-flip", 5)])
def test_too_few_trials_find_nothing_and_say_so(noise: list[float], test: str, n: int) -> None:
    found = rate(noise, test, n, 100)
    assert (found.reachable, found.false, found.detectable) == (0, 0, None)


def test_the_bound_is_that_of_a_binomial_count() -> None:
    assert binomial_bounds(10, 0.5, 0.9) == (2, 8)
    low, high = binomial_bounds(2000, 0.05)
    assert (low, high) == (76, 126)
