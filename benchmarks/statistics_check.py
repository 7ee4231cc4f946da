"""How often the tests of hio find something where nothing is, and whether they find what they say they would.

    python benchmarks/statistics_check.py [--run NAME --service SITE/NAME --metric METRIC] [--comparisons 2000]

Noise is drawn, with a fixed seed and with replacement, from the residuals of a recorded run: the deviations of the
logarithms of its trials from their arm's mean, widened by sqrt(n / (n - 1)). Each comparison draws two arms of n trials.
A-A: nothing is planted, and the share of p <= alpha may not be above the 99 % bound of a binomial count of that level;
of so few trials no exact test reaches alpha itself, so the level that it can reach stands beside it. Planted: the second
arm is faster by the effect that hio states as detectable with power 0.8, and the share found has to be 0.8, within the
99 % bound of this count and of the 1000 draws behind the statement. Claimed: what a verdict would call an improvement or
a harm, beyond the noise floor of an A-A run of the same size, drawn anew for each comparison.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hio_validate.evidence.case import Case  # noqa: E402
from hio_validate.evidence.detectable import detectable  # noqa: E402
from hio_validate.evidence.statistics import (  # noqa: E402
    noise_floor,
    permutation_test,
    residuals,
    rounds,
    sign_flip_test,
)
from hio_validate.evidence.trials import median  # noqa: E402
from hio_validate.history import Folder  # noqa: E402
from hio_validate.repo import load  # noqa: E402
from hio_validate.rules.base import View  # noqa: E402

RUN, SERVICE, METRIC = "2026-11-30-a-a-decode-2", "lab/gemma-270m", "decode_tps"
ALPHA, POWER, SEED, SPEED = 0.05, 0.8, 1, 50.0
_DRAWS_BEHIND_THE_STATEMENT = 1000


class Rate(NamedTuple):
    """What one test did with n trials per arm."""

    test: str
    n: int
    reachable: float
    """The largest level up to alpha that a p value can take."""
    false: float
    claimed: float
    most: float
    """99 % bound of the share of false positives at level alpha."""
    detectable: float | None
    found: float | None
    least: float | None
    """99 % bound of the share found at power 0.8."""

    @property
    def holds(self) -> bool:
        found = self.found is None or self.least is None or self.found >= self.least
        return self.false <= self.most and self.claimed <= self.most and found


def noise_of(run: str = RUN, service: str = SERVICE, metric: str = METRIC) -> list[float]:
    """The residuals of a recorded run's log values, of all its arms."""
    repo = load(Folder(ROOT))
    item = repo.find("run/v1", run, service)
    if item is None or item.model is None:
        raise SystemExit(f"no readable run of {service} is called {run}")
    case = Case(item, View(repo))
    return residuals([case.values(arm, metric) for arm in item.model.arms])


def rate(noise: list[float], test: str, n: int, comparisons: int) -> Rate:
    """One row of the table."""
    random = Random(f"{SEED} {test} {n}")
    stated = detectable(noise, n, test, ALPHA, POWER).percent
    false = claimed = found = 0
    for _ in range(comparisons):
        one, two = _arm(noise, n, random), _arm(noise, n, random)
        positive = _p(test, one, two) <= ALPHA + 1e-12
        false += positive
        floor = noise_floor(_arm(noise, 2 * n, random), (n, n), ALPHA).percent if positive else 0.0
        claimed += positive and abs(100 * (median(two) / median(one) - 1)) > floor
        if stated is not None:
            found += _p(test, one, [value * (1 + stated / 100) for value in two]) <= ALPHA + 1e-12
    most = binomial_bounds(comparisons, ALPHA)[1] / comparisons
    both = POWER * (1 - POWER) * (1 / comparisons + 1 / _DRAWS_BEHIND_THE_STATEMENT)
    return Rate(test, n, _reachable(test, n), false / comparisons, claimed / comparisons, most, stated,
                found / comparisons if stated is not None else None, POWER - 2.576 * math.sqrt(both))  # fmt: skip


def _arm(noise: list[float], n: int, random: Random) -> list[float]:
    return [SPEED * math.exp(each) for each in random.choices(noise, k=n)]


def _p(test: str, one: list[float], two: list[float]) -> float:
    return permutation_test(one, two).p if test == "permutation" else sign_flip_test(rounds(one, two)).p


def _reachable(test: str, n: int) -> float:
    """p comes in steps of 2 / (number of relabelings): a relabeling and its mirror image are equally extreme."""
    ways = math.comb(2 * n, n) if test == "permutation" else 2**n
    return 2 * math.floor(ALPHA * ways / 2 + 1e-9) / ways


def binomial_bounds(n: int, p: float, confidence: float = 0.99) -> tuple[int, int]:
    """The central interval of a binomial count: at most (1 - confidence) / 2 of the probability on each side."""
    tail, below, low = (1 - confidence) / 2, 0.0, 0
    for count in range(n + 1):
        chance = math.exp(
            math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
            + count * math.log(p) + (n - count) * math.log1p(-p)
        )  # fmt: skip
        if below <= tail:
            low = count
        below += chance
        if below >= 1 - tail:
            return low, count
    return low, n


def table(rates: list[Rate]) -> str:
    """The rates as Markdown."""
    lines = [
        "| test | trials per arm | level it can reach | A-A: p <= 0.05 | A-A: claimed | 99 % bound | detectable | found | 99 % bound |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in rates:
        known = each.detectable is not None and each.found is not None and each.least is not None
        planted = (
            f"{each.detectable:.2f} % | {each.found:.3f} | >= {each.least:.3f}" if known else "none | - | -"
        )
        lines.append(
            f"| {each.test} | {each.n} | {each.reachable:.4f} | {each.false:.4f} | {each.claimed:.4f} | <= {each.most:.4f} "
            f"| {planted} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print the table; exit 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", default=RUN)
    parser.add_argument("--service", default=SERVICE)
    parser.add_argument("--metric", default=METRIC)
    parser.add_argument("--comparisons", type=int, default=2000)
    asked = parser.parse_args()
    noise = noise_of(asked.run, asked.service, asked.metric)
    rates = [
        rate(noise, test, n, asked.comparisons)
        for test in ("permutation", "sign-flip")
        for n in (3, 4, 5, 6, 8)
    ]
    print(table(rates), end="")
    return 0 if all(each.holds for each in rates) else 1


if __name__ == "__main__":
    sys.exit(main())
