"""One metric of a candidate arm against the reference: values, change, test, interval, and what follows (7.2-7.4).

Invariant: every metric is judged by itself; a gain of decode says nothing of prefill (contract 6.4).
"""

from __future__ import annotations

import math
from functools import cached_property

from hio_validate.evidence.averages import mean, median
from hio_validate.evidence.case import Case, Direction
from hio_validate.evidence.noise import Floor
from hio_validate.evidence.outcome import Result
from hio_validate.evidence.statistics import (
    Detectable,
    Estimate,
    Noise,
    Test,
    logs,
    noise_floor,
    permutation_test,
    residuals,
    rounds,
    shift_between,
    shift_of_rounds,
    sign_flip_test,
)


class Comparison:
    """One metric of two arms. Percentages are of the reference; `gain` is positive where the candidate is better."""

    def __init__(self, case: Case, metric: Direction, candidate: str, floor: Floor, same_work: bool) -> None:
        self.case, self.metric, self.floor, self.same_work = case, metric, floor, same_work
        self.baseline, self.candidate = case.baseline, candidate

    @cached_property
    def values(self) -> tuple[list[float], list[float]]:
        """The observations of the reference and of the candidate, in the order of their legs."""
        one, two = (self.case.values(arm, self.metric.name) for arm in (self.baseline, self.candidate))
        return one, two

    @property
    def measurable(self) -> bool:
        """Whether both arms have a trial that counts and knows the metric, and a ratio exists."""
        if not all(values and min(values) > 0 for values in self.values):
            return False
        return self.test_name != "sign-flip" or bool(self.rounds)

    @cached_property
    def rounds(self) -> list[float]:
        """Log ratios by round, of the rounds whose two legs both know the metric."""
        one, two = (self.case.counted(arm) for arm in (self.baseline, self.candidate))
        pairs = [
            (a.value(self.metric.name), b.value(self.metric.name)) for a, b in zip(one, two, strict=False)
        ]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        return rounds([a for a, _ in known], [b for _, b in known])

    @property
    def medians(self) -> tuple[float, float]:
        return median(self.values[0]), median(self.values[1])

    @property
    def means(self) -> tuple[float, float]:
        return mean(self.values[0]), mean(self.values[1])

    @cached_property
    def change(self) -> float:
        """100 (median of the candidate / median of the reference - 1)."""
        one, two = self.medians
        return 100 * (two / one - 1)

    @property
    def gain(self) -> float:
        return self.change if self.metric.better == "higher" else -self.change

    @property
    def test_name(self) -> str:
        return self.case.decide.test if self.case.decide else "permutation"

    @cached_property
    def test(self) -> Test:
        """The planned test; of the labels where no plan says."""
        if self.test_name == "sign-flip":
            return sign_flip_test(self.rounds)
        return permutation_test(*self.values)

    @cached_property
    def interval(self) -> Estimate:
        """The Hodges-Lehmann estimate that belongs to the test, with its interval."""
        confidence = 1 - self.case.alpha
        if self.test_name == "sign-flip":
            return shift_of_rounds(self.rounds, confidence)
        return shift_between(*self.values, confidence)

    @cached_property
    def noise(self) -> Noise | None:
        """The A-A noise of this metric on this host; None where no A-A run may be used."""
        values = self.floor.values(self.metric.name)
        sizes = (len(self.values[0]), len(self.values[1]))
        return noise_floor(values, sizes, self.case.alpha) if len(values) >= 4 else None

    @cached_property
    def detectable_before(self) -> Detectable | None:
        """What this number of trials could find, by the noise of the A-A run; None without one."""
        arms = self.floor.arms(self.metric.name)
        return self._detectable(residuals(arms)) if arms else None

    @cached_property
    def detectable_after(self) -> Detectable:
        """What this number of trials could find, by the scatter that the run itself shows."""
        return self._detectable(residuals(self.values))

    def _detectable(self, noise: list[float]) -> Detectable:
        # Imported here: it draws, and only a verdict that is shown asks for it.
        from hio_validate.evidence.detectable import detectable

        n = min(map(len, self.values))
        return detectable(noise, n, self.test_name, self.case.alpha, self.case.power)

    @property
    def tolerance(self) -> float:
        """Smallest gain in percent that counts, as planned; 0 where nobody declared one, or where it is not the metric
        that decides."""
        decide = self.case.decide
        return float(decide.at_least_percent) if decide and decide.metric == self.metric.name else 0.0

    @property
    def significant(self) -> bool:
        """Whether p is at most the level, and means and medians agree about the direction."""
        one, two = (math.fsum(logs(values)) / len(values) for values in self.values)
        return self.test.p <= self.case.alpha + 1e-12 and (two - one) * self.change > 0

    @property
    def beyond_noise(self) -> bool:
        """Whether the change is larger than the A-A noise; without any known noise nothing is within it."""
        return self.noise is None or abs(self.change) > self.noise.percent

    @property
    def result(self) -> Result:
        """What the metric says, bounds on other metrics aside."""
        if not self.measurable:
            return Result.NOT_MEASURABLE
        if not self.same_work:
            return Result.NOT_COMPARABLE
        if not self.beyond_noise:
            return Result.WITHIN_NOISE
        if not self.significant or abs(self.gain) < self.tolerance:
            return Result.NO_IMPROVEMENT
        return Result.IMPROVEMENT if self.gain > 0 else Result.HARM
