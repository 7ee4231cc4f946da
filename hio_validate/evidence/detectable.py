"""The smallest effect that a test finds, stated before and after an experiment (contract 4.4, 7.2).

Invariant: nothing is assumed about the shape of the noise. It is drawn, with a fixed seed, from trials that were
measured; what a test could never reach with so few trials is None, never a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from random import Random

from hio_validate.evidence.averages import mean
from hio_validate.evidence.statistics import SEED, Detectable, percent

_MOST = 300
"""Relabelings that are looked at for each drawn experiment; above, as many are drawn."""
_EXPERIMENTS = 1000


def detectable(
    noise: Sequence[float], n: int, test: str, alpha: float, power: float, seed: int = SEED
) -> Detectable:
    """The shift that `test` ("permutation" or "sign-flip") with n trials per arm finds in `power` of the experiments.

    `noise` are residuals of log values. For each of 1000 experiments drawn from them with replacement, the shift is
    computed above which p <= alpha; the answer is the `power` quantile of these shifts, rounded up to a hundredth of a
    percent, because at the shift itself a relabeling is still as extreme and few residuals meet there often.
    """
    method = f"{_EXPERIMENTS} experiments drawn from {len(noise)} measured residuals, seed {seed}"
    if len(noise) < 2 or n < 2:
        return Detectable(None, power, alpha, n, "no noise was measured")
    random = Random(seed)
    shifts = sorted(_smallest_found(noise, n, test, alpha, random) for _ in range(_EXPERIMENTS))
    found = shifts[math.ceil(power * _EXPERIMENTS) - 1]
    shown = math.floor(100 * percent(found) + 1) / 100 if math.isfinite(found) else None
    return Detectable(shown, power, alpha, n, method)


def _smallest_found(noise: Sequence[float], n: int, test: str, alpha: float, random: Random) -> float:
    """The smallest shift from which on this experiment's p is at most alpha; infinite where none is.

    With the shift s the observed statistic is d + s and that of a relabeling e + c s, |c| <= 1, so the relabeling is
    as extreme as long as s is at most the larger of (e - d) / (1 - c) and -(e + d) / (1 + c).
    """
    one, two = random.choices(noise, k=n), random.choices(noise, k=n)
    relabeled = list(_relabeled(one, two, test, random))
    observed = mean(two) - mean(one)
    until = sorted((_extreme_until(observed, e, c) for e, c in relabeled), reverse=True)
    allowed = math.floor(alpha * len(until) + 1e-9)
    return max(until[allowed], -observed) if allowed < len(until) else -math.inf


def _extreme_until(observed: float, e: float, c: float) -> float:
    if abs(abs(c) - 1) < 1e-12:
        return math.inf
    return max((e - observed) / (1 - c), -(e + observed) / (1 + c))


def _relabeled(
    one: Sequence[float], two: Sequence[float], test: str, random: Random
) -> Iterator[tuple[float, float]]:
    """(statistic without the shift, share of the shift in it) of the relabelings, the observed one among them."""
    n = len(one)
    if test == "sign-flip":
        differences = [b - a for a, b in zip(one, two, strict=True)]
        every = 2**n <= _MOST
        signs = (
            product((1, -1), repeat=n) if every else (random.choices((1, -1), k=n) for _ in range(_MOST - 1))
        )
        for each in signs:
            yield sum(map(float.__mul__, map(float, each), differences)) / n, sum(each) / n
    else:
        pooled, total = [*one, *two], sum(one) + sum(two)
        every = math.comb(2 * n, n) <= _MOST
        groups = (
            combinations(range(2 * n), n)
            if every
            else (random.sample(range(2 * n), n) for _ in range(_MOST - 1))
        )
        for group in groups:
            shifted = sum(at >= n for at in group)
            yield (2 * sum(pooled[at] for at in group) - total) / n, (2 * shifted - n) / n
    if not every:
        yield sum(two) / n - sum(one) / n, 1.0
