"""Statistics of a few trials per arm, exact where counting is possible (contract 7.2, 7.3).

Invariant: every answer carries the number of trials and the method by which it was found. What was approximated says
so, with the seed; the same rows give the same answer on every machine. Nothing is dropped as an outlier.

Values are positive and compared as logarithms, because a gain of the same factor is the same gain at any speed:
`ln(to) - ln(from)` is the logarithm of the ratio. References: E. S. Edgington, P. Onghena, Randomization Tests, 4th
ed. 2007 (permutation and sign-flip tests); M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, 2nd ed. 1999,
sections 3.2-3.3 and 4.2-4.3 (Hodges-Lehmann estimates and their intervals).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple

from hio_validate.evidence.averages import mean, median

MOST_COUNTED = 20_000
"""Relabelings up to which every one is counted: 8 against 8 legs are 12870."""
DRAWN = 9_999
"""Relabelings drawn where there are too many to count; with the observed one they are 10000."""
SEED = 20261129
"""Of everything that is drawn."""
_TIE = 1e-9
"""Two sums of logarithms nearer than this are the same: their order would be that of rounding."""


class Test(NamedTuple):
    """A two-sided test of "the arm makes no difference"."""

    p: float
    """Share of the relabelings that differ at least as much as the legs really did."""
    smallest_p: float
    """What p could be at best with so many trials, however large the effect."""
    n: tuple[int, ...]
    """Trials of each arm, or rounds."""
    method: str
    error: float = 0.0
    """Standard error of p where relabelings were drawn; 0 where all were counted."""


class Estimate(NamedTuple):
    """A change in percent with its interval."""

    percent: float
    low: float | None
    high: float | None
    confidence: float | None
    """Probability with which such an interval covers the true change; None where no interval exists."""
    n: tuple[int, ...]
    method: str


class Noise(NamedTuple):
    """What an A-A experiment shows although nothing was changed."""

    percent: float
    """|change of the medians| that 1 - alpha of all relabelings stay within."""
    n: int
    """Trials of the A-A experiment, both arms together."""
    sizes: tuple[int, int]
    """Trials of each of the two groups that were compared."""
    method: str


class Order(NamedTuple):
    """Whether time itself explains something: drift within the arms, and what is special about a first leg."""

    correlation: float | None
    """Of the value with the position of its leg, both as deviations from their arm's mean; None where undefined."""
    p: float | None
    """Two-sided, over all orders within the arms, or as many as were drawn."""
    first_percent: float | None
    """The first leg against the median of the other legs of its arm."""
    n: int
    method: str


class Detectable(NamedTuple):
    """The smallest gain that a test finds with the power asked for."""

    percent: float | None
    """None where even the largest effect could not reach the level."""
    power: float
    alpha: float
    n: int
    """Trials per arm."""
    method: str


class Outlier(NamedTuple):
    """A trial that stands apart. It is shown and stays in every statistic."""

    arm: str
    number: int
    value: float
    score: float
    """Distance from the arm's median in robust standard deviations."""


OUTLIER_SCORE = 3.5
"""Modified z-score of B. Iglewicz, D. C. Hoaglin, How to Detect and Handle Outliers, 1993: 0.6745 (x - median) / MAD."""


def percent(log_ratio: float) -> float:
    """A logarithm of a ratio as a change in percent: 100 (e^x - 1)."""
    return 100 * math.expm1(log_ratio)


def logs(values: Sequence[float]) -> list[float]:
    """Natural logarithms. Raises ValueError where a value is not positive: it has no ratio."""
    return [math.log(value) for value in values]


def permutation_test(one: Sequence[float], two: Sequence[float]) -> Test:
    """Exact two-sided test over all C(n, k) ways to say which trials belong to the second arm.

    p = #{relabelings with |mean(ln two) - mean(ln one)| at least as large as observed} / C(n, k).
    """
    pooled, size = logs([*one, *two]), len(two)
    total, n = math.fsum(pooled), len(one) + len(two)
    exact = math.comb(n, size) <= MOST_COUNTED
    observed = abs(_apart(math.fsum(pooled[len(one) :]), size, total, n))
    groups = combinations(pooled, size) if exact else _drawn_groups(pooled, size)
    hits = count = 0
    for group in groups:
        count += 1
        hits += abs(_apart(math.fsum(group), size, total, n)) >= observed - _TIE
    smallest = (2 if n == 2 * size else 1) / math.comb(n, size)
    return _test(hits, count, exact, smallest, (len(one), size), "permutation test of the log values")


def _apart(sum_: float, size: int, total: float, n: int) -> float:
    """Difference of the means of a group of that sum and of all others."""
    return sum_ / size - (total - sum_) / (n - size)


def _drawn_groups(pooled: Sequence[float], size: int) -> Iterator[Sequence[float]]:
    # Imported here: no run of ordinary size draws.
    from random import Random

    random = Random(SEED)
    yield from (random.sample(pooled, size) for _ in range(DRAWN))


def sign_flip_test(differences: Sequence[float]) -> Test:
    """Exact two-sided test over all 2^n signs of the rounds' log ratios.

    p = #{signs with |mean(sign * difference)| at least as large as observed} / 2^n.
    """
    n = len(differences)
    exact = 2**n <= MOST_COUNTED
    observed = abs(math.fsum(differences))
    hits = count = 0
    for signs in product((1, -1), repeat=n) if exact else _drawn_signs(n):
        count += 1
        sum_ = math.fsum(map(float.__mul__, map(float, signs), differences))
        hits += abs(sum_) >= observed - _TIE
    return _test(hits, count, exact, 2.0 ** (1 - n), (n,), "sign-flip test of the rounds' log ratios")


def _drawn_signs(n: int) -> Iterator[Sequence[int]]:
    # Imported here: no run of ordinary size draws.
    from random import Random

    random = Random(SEED)
    yield from (random.choices((1, -1), k=n) for _ in range(DRAWN))


def _test(hits: int, count: int, exact: bool, smallest: float, n: tuple[int, ...], name: str) -> Test:
    """The share of hits; among drawn relabelings the observed one counts as one more (Phipson, Smyth 2010)."""
    if exact:
        return Test(hits / count, smallest, n, f"exact {name}, {count} counted")
    p = (hits + 1) / (count + 1)
    error = math.sqrt(p * (1 - p) / count)
    return Test(
        p, max(smallest, 1 / (count + 1)), n, f"Monte Carlo {name}, {count} drawn, seed {SEED}", error
    )


def shift_between(one: Sequence[float], two: Sequence[float], confidence: float) -> Estimate:
    """Hodges-Lehmann estimate: the median of all len(one) * len(two) differences ln(two) - ln(one).

    Its interval runs from the k-th smallest to the k-th largest difference, k from the exact distribution of the
    rank-sum statistic U; confidence 1 - 2 P(U < k). Where so few trials cannot reach the confidence asked for, it is the
    widest one, with the confidence that it has.
    """
    differences = sorted(b - a for a in logs(one) for b in logs(two))
    sizes = (len(one), len(two))
    if len(differences) > MOST_COUNTED:
        return _bootstrapped(one, two, confidence)
    return _interval(differences, _rank_sums(*sizes), confidence, sizes, "rank-sum distribution")


def shift_of_rounds(differences: Sequence[float], confidence: float) -> Estimate:
    """Hodges-Lehmann estimate of paired log ratios: the median of all means of two of them, each with itself too.

    Its interval is found as for `shift_between`, k from the exact distribution of the signed-rank statistic.
    """
    n = len(differences)
    walsh = sorted((a + b) / 2 for at, a in enumerate(differences) for b in differences[at:])
    return _interval(walsh, _signed_ranks(n), confidence, (n,), "signed-rank distribution")


def _interval(
    ordered: Sequence[float], ways: Sequence[int], confidence: float, n: tuple[int, ...], name: str
) -> Estimate:
    """The interval of order statistics whose exact confidence is the one asked for, or the widest there is."""
    total, below, k = sum(ways), 0, 0
    for k_, count in enumerate(ways[: (len(ordered) + 1) // 2], 1):
        below += count
        if k_ > 1 and 1 - 2 * below / total < confidence - _TIE:
            below -= count
            break
        k = k_
    reached = 1 - 2 * below / total
    if reached <= 0:
        return Estimate(percent(median(ordered)), None, None, None, n, "Hodges-Lehmann")
    method = f"Hodges-Lehmann, exact interval from the {name}"
    return Estimate(
        percent(median(ordered)), percent(ordered[k - 1]), percent(ordered[-k]), reached, n, method
    )


def _rank_sums(m: int, n: int) -> list[int]:
    """Ways in which the Mann-Whitney statistic is 0, 1, ..., m n: the coefficients of the Gaussian binomial."""
    ways = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for u in range(m * n, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, m * n + 1):
            ways[u] += ways[u - i]
    return ways


def _signed_ranks(n: int) -> list[int]:
    """Ways in which the Wilcoxon signed-rank statistic is 0, 1, ..., n (n + 1) / 2."""
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for at, count in enumerate(ways):
            longer[at + rank] += count
        ways = longer
    return ways


def _bootstrapped(one: Sequence[float], two: Sequence[float], confidence: float) -> Estimate:
    """Percentile bootstrap of the difference of the medians, for arms of more trials than can be counted."""
    # Imported here: no run of ordinary size draws.
    from random import Random

    random, a, b = Random(SEED), logs(one), logs(two)
    drawn = sorted(
        median(random.choices(b, k=len(b))) - median(random.choices(a, k=len(a))) for _ in range(DRAWN)
    )
    cut = int((1 - confidence) / 2 * DRAWN)
    method = f"difference of the medians, percentile bootstrap, {DRAWN} drawn, seed {SEED}"
    estimate = median(b) - median(a)
    return Estimate(
        percent(estimate), percent(drawn[cut]), percent(drawn[~cut]), confidence, (len(a), len(b)), method
    )


def rounds(one: Sequence[float], two: Sequence[float]) -> list[float]:
    """Log ratios by round: the k-th leg of the second arm against the k-th leg of the first; what is left over is not
    paired. In ABBA BAAB the rounds are AB, BA, BA, AB: each leg with its neighbour."""
    return [b - a for a, b in zip(logs(one), logs(two), strict=False)]


def noise_floor(values: Sequence[float], sizes: tuple[int, int], alpha: float) -> Noise:
    """What the medians of two groups differ by although nothing differs.

    The trials of an A-A experiment are divided into two groups of `sizes` in every way; the floor is the smallest
    observed |100 (median2 / median1 - 1)| that at least 1 - alpha of all ways stay within. Where the experiment has
    fewer trials than the groups need, the groups are halves of it: smaller groups scatter more.
    """
    n = len(values)
    one, two = sizes if sum(sizes) <= n else (n // 2, n - n // 2)
    exact = math.comb(n, one) * math.comb(n - one, two) <= MOST_COUNTED
    changes = sorted(_median_changes(values, one, two, exact))
    floor = changes[min(len(changes), math.ceil((1 - alpha) * len(changes) - _TIE)) - 1]
    how = f"{len(changes)} relabelings counted" if exact else f"{len(changes)} relabelings drawn, seed {SEED}"
    return Noise(floor, n, (one, two), f"{100 * (1 - alpha):g} % quantile of |median change|, {how}")


def _median_changes(values: Sequence[float], one: int, two: int, exact: bool) -> Iterator[float]:
    if exact:
        everyone = range(len(values))
        for first in combinations(everyone, one):
            rest = [at for at in everyone if at not in first]
            for second in combinations(rest, two):
                yield _change([values[at] for at in first], [values[at] for at in second])
        return
    # Imported here: no run of ordinary size draws.
    from random import Random

    random = Random(SEED)
    for _ in range(DRAWN):
        drawn = random.sample(values, one + two)
        yield _change(drawn[:one], drawn[one:])


def _change(one: Sequence[float], two: Sequence[float]) -> float:
    return abs(100 * (median(two) / median(one) - 1))


def residuals(arms: Sequence[Sequence[float]]) -> list[float]:
    """Deviations of the logarithms from their arm's mean, widened by sqrt(n / (n - 1)): n - 1 of n are free."""
    found = []
    for values in arms:
        if len(values) > 1:
            middle, wider = mean(logs(values)), math.sqrt(len(values) / (len(values) - 1))
            found += [(value - middle) * wider for value in logs(values)]
    return found


def order_check(trials: Sequence[tuple[str, int, float]]) -> Order:
    """Drift: the correlation of value and position within the arms, from (arm, position, value) in order.

    Both are taken as deviations from their arm's mean, so that a difference between the arms is no drift. p is the share
    of orders, values moved among the positions of their own arm, whose |correlation| is at least as large.
    """
    arms = {
        arm: [(float(at), math.log(value)) for name, at, value in trials if name == arm]
        for arm, _, _ in trials
    }
    places, values = [], []
    for found in arms.values():
        places.append(_centred([at for at, _ in found]))
        values.append(_centred([value for _, value in found]))
    spread = math.sqrt(_squares(places) * _squares(values))
    first = _first_against_others(trials)
    if spread < _TIE:
        return Order(None, None, first, len(trials), "no correlation: too few trials, or all equal")
    together = _products(places, values)
    p, how = _drift_p(places, values, abs(together))
    return Order(together / spread, p, first, len(trials), f"correlation within arms, {how}")


def _centred(values: Sequence[float]) -> list[float]:
    middle = mean(values)
    return [value - middle for value in values]


def _squares(groups: Iterable[Sequence[float]]) -> float:
    return math.fsum(value * value for group in groups for value in group)


def _products(places: Sequence[Sequence[float]], values: Sequence[Sequence[float]]) -> float:
    return math.fsum(
        a * b for one, two in zip(places, values, strict=True) for a, b in zip(one, two, strict=True)
    )


def _drift_p(
    places: Sequence[Sequence[float]], values: Sequence[Sequence[float]], observed: float
) -> tuple[float, str]:
    many = math.prod(math.factorial(len(group)) for group in values)
    if many <= MOST_COUNTED:
        orders: Iterable[Sequence[Sequence[float]]] = product(*map(permutations, values))
        hits = sum(abs(_products(places, order)) >= observed - _TIE for order in orders)
        return hits / many, f"{many} orders counted"
    # Imported here: no run of ordinary size draws.
    from random import Random

    random = Random(SEED)
    orders = ([random.sample(group, len(group)) for group in values] for _ in range(DRAWN))
    hits = sum(abs(_products(places, order)) >= observed - _TIE for order in orders)
    return (hits + 1) / (DRAWN + 1), f"{DRAWN} orders drawn, seed {SEED}"


def _first_against_others(trials: Sequence[tuple[str, int, float]]) -> float | None:
    """100 (first leg / median of its arm's other legs - 1); None where its arm has no other."""
    if not trials:
        return None
    arm, position, value = min(trials, key=lambda trial: trial[1])
    others = [each for name, at, each in trials if name == arm and at != position]
    return 100 * (value / median(others) - 1) if others and median(others) else None


def outliers(trials: Sequence[tuple[str, int, float]]) -> list[Outlier]:
    """Trials of (arm, number, value) whose modified z-score within their arm is beyond 3.5, arms of 4 and more."""
    found = []
    for arm in dict.fromkeys(name for name, _, _ in trials):
        mine = [(number, value) for name, number, value in trials if name == arm]
        middle = median([value for _, value in mine])
        scatter = median([abs(value - middle) for _, value in mine])
        if len(mine) < 4 or scatter == 0:
            continue
        scores = ((number, value, 0.6745 * (value - middle) / scatter) for number, value in mine)
        found += [
            Outlier(arm, number, value, score)
            for number, value, score in scores
            if abs(score) > OUTLIER_SCORE
        ]
    return found
