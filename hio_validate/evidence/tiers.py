"""The verdict of a run: its tier, its result, and every condition that it meets or misses (contract 7.1-7.7).

Invariant: a tier is computed from the record each time it is asked for, never read from a document.

VERDICT needs every condition of the record. An improvement or a harm then stands on an effect beyond the noise and the
tolerance, by the planned test. "Within noise" and "no improvement" are results too (contract 7.4): a VERDICT that says
so keeps the previous configuration.
"""

from __future__ import annotations

from hio_validate.evidence.case import Case, Direction, Known
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.conditions import of_context, of_effect, of_noise, of_record
from hio_validate.evidence.noise import floor_of
from hio_validate.evidence.outcome import Condition, Result, Tier
from hio_validate.evidence.trials import Trial
from hio_validate.evidence.work_done import Unequal, unequal_work
from hio_validate.repo import Item


class Verdict:
    """What a run says, and what that may be used for."""

    def __init__(
        self,
        case: Case,
        metric: Direction | None,
        comparisons: tuple[Comparison, ...],
        unequal: tuple[Unequal, ...],
        conditions: tuple[list[Condition], list[Condition], list[Condition]],
    ) -> None:
        self.case = case
        self.metric = metric
        """The metric that the result is about; None where the run has none."""
        self.comparisons = comparisons
        """Every metric of every candidate, the deciding metric first."""
        self.unequal = unequal
        self.context, self.record, self.effect = conditions

    @property
    def run(self) -> Item:
        return self.case.run

    @property
    def trials(self) -> tuple[Trial, ...]:
        return self.case.trials

    @property
    def deciding(self) -> list[Comparison]:
        """The comparisons that the result is about."""
        return [each for each in self.comparisons if each.metric == self.metric]

    @property
    def conditions(self) -> list[Condition]:
        return [*self.context, *self.record, *self.effect]

    @property
    def reasons(self) -> list[Condition]:
        """What the record lacks for a VERDICT."""
        return [each for each in (*self.context, *self.record) if not each.met]

    @property
    def tier(self) -> Tier:
        if any(not each.met for each in self.context):
            return Tier.NEEDS_CONTEXT
        decided = self.result not in (Result.NOT_MEASURABLE, Result.NOT_COMPARABLE)
        return Tier.VERDICT if decided and not self.reasons else Tier.DRAFT

    @property
    def result(self) -> Result:
        """The best of the candidates' results; of one candidate, its own."""
        found = [self.result_of(each) for each in self.deciding]
        return min(found, key=_BEST_FIRST.index, default=Result.NOT_MEASURABLE)

    def result_of(self, each: Comparison) -> Result:
        """A comparison's result; a gain that breaks a bound, or comes with wrong answers, is none."""
        if each.result is Result.IMPROVEMENT and any(
            condition.reason
            in ("bound-broken", "bound-unmeasured", "quality-gate-failed", "quality-not-shown")
            for condition in (*self.record, *self.effect)
        ):
            return Result.NO_IMPROVEMENT
        return each.result

    @property
    def best(self) -> str:
        """The arm to go on with: the candidate with the largest shown gain, else the reference."""
        won = [each for each in self.deciding if self.result_of(each) is Result.IMPROVEMENT]
        return max(won, key=lambda each: each.gain).candidate if won else self.case.baseline


_BEST_FIRST = (Result.IMPROVEMENT, Result.WITHIN_NOISE, Result.NO_IMPROVEMENT, Result.HARM, Result.NOT_COMPARABLE,
               Result.NOT_MEASURABLE)  # fmt: skip


def verdict(run: Item, known: Known, metric: str | None = None) -> Verdict:
    """Judge a run; `metric` asks about another metric than the one that was planned to decide, which then is no verdict.

    Raises KeyError for a metric that the run does not have.
    """
    case = Case(run, known)
    floor = floor_of(case)
    metrics = {each.name: each for each in case.metrics}
    planned = next(iter(metrics.values()), None)
    asked = metrics[metric] if metric is not None else planned
    unequal = {
        arm: unequal_work(case.model, case.trials, (case.baseline, arm), case.same_work)
        for arm in case.candidates
    }
    ordered = sorted(metrics.values(), key=lambda each: each != asked)
    compared = tuple(
        Comparison(case, each, arm, floor, not unequal[arm]) for each in ordered for arm in unequal
    )
    deciding = [each for each in compared if each.metric == asked]
    bounded = {bound.metric for bound in case.decide.bounds} if case.decide else set()
    different = tuple(each for found in unequal.values() for each in found)
    record = [*of_record(case, different), *of_noise(deciding)]
    if case.decide is not None and asked is not None and asked.name != case.decide.metric:
        said = f"{case.decide.metric} was planned to decide; {asked.name} is shown beside it"
        record.append(Condition("planned metric", "not-the-planned-metric", said))
    effect = of_effect(case, deciding, [each for each in compared if each.metric.name in bounded])
    return Verdict(case, asked, compared, different, (of_context(case), record, effect))
