"""Statistics against brute force and, where scipy is installed, against scipy; and what must hold for any numbers."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence import statistics
from hio_validate.evidence.detectable import detectable
from hio_validate.evidence.statistics import (
    noise_floor,
    order_check,
    outliers,
    permutation_test,
    residuals,
    rounds,
    shift_between,
    shift_of_rounds,
    sign_flip_test,
)

ONE, TWO = [49.3376, 50.6456, 51.1969, 50.8475], [71.9772, 71.0913, 72.735, 64.0237]
VALUES = st.lists(st.floats(0.5, 500), min_size=1, max_size=5)


def test_four_and_four_that_do_not_overlap_reach_what_they_can() -> None:
    found = permutation_test(ONE, TWO)
    assert found.p == found.smallest_p == pytest.approx(2 / 70)
    assert found.n == (4, 4) and found.error == 0 and "exact" in found.method and "70 counted" in found.method


@pytest.mark.parametrize(("n", "smallest"), [(1, 1.0), (2, 1 / 3), (3, 0.1), (4, 2 / 70), (5, 2 / 252)])
def test_the_smallest_p_is_what_the_most_extreme_legs_give(n: int, smallest: float) -> None:
    one, two = [1.0 + each / 100 for each in range(n)], [9.0 + each / 100 for each in range(n)]
    found = permutation_test(one, two)
    assert found.p == found.smallest_p == pytest.approx(smallest)


@given(VALUES, VALUES)
def test_the_permutation_test_counts_every_relabeling(one: list[float], two: list[float]) -> None:
    pooled = [math.log(value) for value in [*one, *two]]
    everyone = range(len(pooled))

    def apart(group: tuple[int, ...]) -> float:
        inside = [pooled[at] for at in group]
        return abs(mean(inside) - mean(pooled[at] for at in everyone if at not in group))

    observed = apart(tuple(range(len(one), len(pooled))))
    ways = [apart(group) for group in combinations(everyone, len(two))]
    expected = sum(way >= observed - 1e-9 for way in ways) / len(ways)
    found = permutation_test(one, two)
    assert found.p == pytest.approx(expected, abs=1e-12) or any(
        abs(way - observed) < 1e-8 for way in ways[1:]
    )
    assert found.p >= found.smallest_p - 1e-12


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=7))
def test_the_sign_flip_test_counts_every_sign(differences: list[float]) -> None:
    observed = abs(math.fsum(differences))
    signs = product((1, -1), repeat=len(differences))
    sums = [abs(math.fsum(s * d for s, d in zip(each, differences, strict=True))) for each in signs]
    found = sign_flip_test(differences)
    assert found.p == pytest.approx(sum(each >= observed - 1e-9 for each in sums) / len(sums))
    assert found.smallest_p == pytest.approx(2.0 ** (1 - len(differences)))


@given(VALUES, VALUES)
def test_the_arms_may_be_exchanged(one: list[float], two: list[float]) -> None:
    there, back = permutation_test(one, two), permutation_test(two, one)
    assert there.p == pytest.approx(back.p)
    forth, other = shift_between(one, two, 0.9), shift_between(two, one, 0.9)
    assert 1 + forth.percent / 100 == pytest.approx(1 / (1 + other.percent / 100))
    assert forth.confidence == other.confidence


def test_all_equal_and_single_trials_are_no_effect() -> None:
    assert permutation_test([5.0] * 4, [5.0] * 4).p == 1
    assert sign_flip_test([0.0] * 4).p == 1
    assert permutation_test([5.0], [9.0]).p == 1
    alone = shift_between([5.0], [10.0], 0.95)
    assert (alone.percent, alone.low, alone.high, alone.confidence) == (
        pytest.approx(100.0),
        None,
        None,
        None,
    )
    equal = shift_between([5.0] * 4, [5.0] * 4, 0.95)
    assert (equal.percent, equal.low, equal.high) == (0, 0, 0)


def test_too_many_relabelings_are_drawn_and_say_so() -> None:
    one, two = [1.0 + each / 100 for each in range(12)], [1.001 + each / 100 for each in range(12)]
    found = permutation_test(one, two)
    assert found == permutation_test(one, two), "the same rows give the same answer"
    assert found.method.startswith("Monte Carlo") and "9999 drawn, seed" in found.method
    assert 0 < found.error < 0.01
    many = sign_flip_test([0.01] * 20)
    assert "Monte Carlo" in many.method and many.p >= many.smallest_p


def test_a_drawn_p_is_near_the_counted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = [50.0, 51, 49, 50.5, 52], [51.0, 52.5, 50.2, 53, 51.5]
    exact, rounds_ = permutation_test(one, two), rounds(one, two)
    flipped = sign_flip_test(rounds_)
    monkeypatch.setattr(statistics, "MOST_COUNTED", 1)
    drawn = permutation_test(one, two)
    assert abs(drawn.p - exact.p) < 4 * drawn.error
    again = sign_flip_test(rounds_)
    assert abs(again.p - flipped.p) < 4 * again.error


def test_three_and_three_have_an_interval_of_ninety_percent_and_no_wider_one() -> None:
    found = shift_between(ONE[:3], TWO[:3], 0.95)
    assert found.confidence == pytest.approx(0.9)
    ratios = sorted(b / a for a in ONE[:3] for b in TWO[:3])
    assert found.low == pytest.approx(100 * (ratios[0] - 1))
    assert found.high == pytest.approx(100 * (ratios[-1] - 1))
    assert found.percent == pytest.approx(100 * (median(ratios) - 1))


@given(st.integers(1, 6), st.integers(1, 6))
def test_the_distribution_of_rank_sums_is_the_counted_one(m: int, n: int) -> None:
    counted = [0] * (m * n + 1)
    for ranks in combinations(range(m + n), n):
        counted[sum(ranks) - n * (n - 1) // 2] += 1
    assert statistics._rank_sums(m, n) == counted


@given(st.integers(1, 9))
def test_the_distribution_of_signed_ranks_is_the_counted_one(n: int) -> None:
    counted = [0] * (n * (n + 1) // 2 + 1)
    for signs in product((0, 1), repeat=n):
        counted[sum(rank for rank, taken in enumerate(signs, 1) if taken)] += 1
    assert statistics._signed_ranks(n) == counted


@pytest.mark.parametrize(("n", "confidence"), [(4, 34 / 35), (5, 0.968253968), (6, 0.958874459)])
def test_the_interval_is_the_narrowest_of_its_confidence(n: int, confidence: float) -> None:
    """k = 1 of 4 and 4, 3 of 5 and 5, 6 of 6 and 6: tables of the Mann-Whitney distribution."""
    found = shift_between([1.0 + each for each in range(n)], [1.5 + each for each in range(n)], 0.95)
    assert found.confidence == pytest.approx(confidence)


def test_rounds_pair_the_legs_by_their_number_within_the_arm() -> None:
    assert rounds([1.0, 2.0, 4.0], [2.0, 2.0]) == [pytest.approx(math.log(2)), 0]
    paired = shift_of_rounds(rounds(ONE, TWO), 0.95)
    assert paired.confidence == pytest.approx(0.875), "four rounds cannot reach 95 %"
    assert paired.n == (4,)


def test_the_noise_floor_is_an_order_statistic_of_all_relabelings() -> None:
    values = [*ONE, 49.9, 50.1, 50.9, 51.0]
    changes = []
    for group in combinations(range(8), 4):
        one, two = [values[at] for at in group], [values[at] for at in range(8) if at not in group]
        changes.append(abs(100 * (median(two) / median(one) - 1)))
    expected = sorted(changes)[math.ceil(0.95 * 70) - 1]
    found = noise_floor(values, (4, 4), 0.05)
    assert found.percent == pytest.approx(expected)
    assert (found.n, found.sizes) == (8, (4, 4))
    assert noise_floor(values, (8, 8), 0.05).sizes == (4, 4), (
        "an A-A run that is smaller scatters more, not less"
    )
    assert noise_floor(values, (3, 3), 0.05).percent >= found.percent
    assert noise_floor([5.0] * 8, (4, 4), 0.05).percent == 0


def test_a_large_noise_experiment_is_drawn_from() -> None:
    found = noise_floor([50 + each / 10 for each in range(20)], (10, 10), 0.05)
    assert "drawn, seed" in found.method and found.percent > 0


def test_a_drift_is_seen_and_an_effect_is_none() -> None:
    drifting = [("a" if at in (1, 4, 6, 7) else "b", at, 50.0 - at) for at in range(1, 9)]
    found = order_check(drifting)
    assert found.correlation is not None and found.correlation < -0.99
    assert found.p is not None and found.p < 0.01
    jump = [(arm, at, 50.0 + 20 * (arm == "b")) for arm, at, _ in drifting]
    assert order_check(jump).correlation is None, "nothing varies within an arm"
    assert order_check([]).first_percent is None
    first = order_check([("a", 1, 90.0), ("b", 2, 50), ("b", 3, 50), ("a", 4, 100.0), ("a", 5, 100.0)])
    assert first.first_percent == pytest.approx(-10)


def test_an_outlier_is_named_and_small_arms_have_none() -> None:
    legs = [("two", at, value) for at, value in enumerate(TWO)]
    [found] = outliers(legs)
    assert (found.number, found.value) == (3, 64.0237)
    assert found.score == pytest.approx(
        0.6745 * (64.0237 - median(TWO)) / median(abs(v - median(TWO)) for v in TWO)
    )
    assert outliers(legs[1:]) == [], "of three, none can be told apart"
    assert outliers([("two", at, 5.0) for at in range(4)] + [("two", 9, 7.0)]) == [], "no scatter, no score"


def test_what_a_test_could_never_find_is_no_number() -> None:
    noise = residuals([ONE])
    assert detectable(noise, 3, "permutation", 0.05, 0.8).percent is None
    assert detectable(noise, 4, "sign-flip", 0.05, 0.8).percent is None
    assert detectable([], 4, "permutation", 0.05, 0.8).percent is None
    assert detectable([0.0] * 4, 4, "permutation", 0.05, 0.8).percent == 0.01, "the smallest that is stated"


def test_more_trials_find_smaller_effects_and_more_power_needs_larger_ones() -> None:
    noise = residuals([ONE])
    by_n = [_percent(noise, n, 0.8) for n in (4, 6, 8)]
    assert by_n == sorted(by_n, reverse=True)
    assert _percent(noise, 4, 0.5) < _percent(noise, 4, 0.9)


def _percent(noise: list[float], n: int, power: float) -> float:
    found = detectable(noise, n, "permutation", 0.05, power).percent
    assert found is not None
    return found


def test_residuals_have_the_scatter_of_their_arms() -> None:
    found = residuals([ONE, TWO, [7.0]])
    logs = [math.log(value) for value in ONE]
    variance = sum((each - mean(logs)) ** 2 for each in logs) / 3
    assert sum(each**2 for each in found[:4]) / 4 == pytest.approx(variance)
    assert len(found) == 8, "one trial scatters by nothing"


class TestAgainstScipy:
    """Runs where scipy is installed (it is in the extra `dev`); the package itself needs none."""

    @pytest.fixture
    def stats(self) -> Any:
        return pytest.importorskip("scipy.stats")

    @pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 4)])
    def test_permutation(self, stats: Any, sizes: tuple[int, int]) -> None:
        values = [50.1, 51.7, 49.2, 50.9, 53.3, 52.1, 50.4, 51.1, 48.8]
        one, two = values[: sizes[0]], values[sizes[0] : sum(sizes)]
        logs = [[math.log(value) for value in arm] for arm in (one, two)]

        def apart(a: Any, b: Any, axis: int) -> Any:
            return abs(b.mean(axis=axis) - a.mean(axis=axis))

        expected = stats.permutation_test(logs, apart, vectorized=True, alternative="greater").pvalue
        assert permutation_test(one, two).p == pytest.approx(expected)

    def test_sign_flip(self, stats: Any) -> None:
        differences = rounds(ONE, [50.0, 51.5, 51.0, 52.3])

        def size(a: Any, axis: int) -> Any:
            return abs(a.mean(axis=axis))

        expected = stats.permutation_test(
            (differences,), size, permutation_type="samples", vectorized=True, alternative="greater"
        ).pvalue
        assert sign_flip_test(differences).p == pytest.approx(expected)

    @pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5), (6, 6)])
    def test_rank_sums(self, stats: Any, m: int, n: int) -> None:
        ways = statistics._rank_sums(m, n)
        one = [float(each) for each in range(m)]
        for below in range(m):
            two = [below + 0.5 + each / 100 for each in range(n)]
            found = stats.mannwhitneyu(one, two, alternative="less", method="exact")
            u = int(found.statistic)
            assert sum(ways[: u + 1]) / sum(ways) == pytest.approx(found.pvalue)
