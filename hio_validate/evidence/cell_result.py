"""One cell of a campaign with its run and what that says.

Invariant: a cell that nobody ran, or that ran outside the campaign, counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from hio_validate.evidence import quality_gate
from hio_validate.evidence.campaign import records_of, runs_of
from hio_validate.evidence.case import Known
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.design import has_answered
from hio_validate.evidence.outcome import Condition, Result, Tier
from hio_validate.evidence.tiers import Verdict, verdict
from hio_validate.evidence.weights import OtherWeights, other_weights
from hio_validate.models.campaign import Cell
from hio_validate.quantity import counted
from hio_validate.repo import Item, name_of
from hio_validate.settings.value import text_of

QUALITY = ("quality gate", quality_gate.NAME)
"""Names of a verdict's conditions that the accuracy floor is read from: expected answers, and the task set."""
FAILED_ANSWERS = frozenset({"quality-gate-failed", "quality-not-shown"})

Configuration = tuple[str, tuple[tuple[str, str], ...]]
"""What was measured: the pin of a stack with its delta."""


@dataclass(frozen=True)
class CellResult:
    """One cell with its run and what that says; `run` is None where nothing was measured for the campaign."""

    name: str
    cell: Cell
    run: Item | None
    verdict: Verdict | None
    why_not: str
    """Why there is no run; nothing where there is one."""
    otherwise: tuple[tuple[str, str], ...] = ()
    """Where it shows an improvement: other runs of the same comparison that do not, each with what it shows."""

    @property
    def regime(self) -> str:
        return self.cell.regime

    @property
    def is_complete(self) -> bool:
        return self.run is not None and self.run.model.outcome == "completed"

    @property
    def best(self) -> Comparison | None:
        """The comparison of its best candidate that improves on the baseline; None where none does."""
        if self.verdict is None:
            return None
        won = [each for each in self.verdict.deciding if self.verdict.result_of(each) is Result.IMPROVEMENT]
        return max(won, key=lambda each: each.gain) if won else None

    @cached_property
    def quality(self) -> list[Condition]:
        return [each for each in self.verdict.conditions if each.name in QUALITY] if self.verdict else []

    @cached_property
    def other_weights(self) -> list[OtherWeights]:
        """The candidates that serve other weights than the baseline."""
        return other_weights(self.verdict.case) if self.verdict else []

    @property
    def unjudged_weights(self) -> list[str]:
        """Other weights that no task set judged, a sentence each: checks of single answers say nothing of the others
        (contract 10.4)."""
        if any(each.name == quality_gate.NAME for each in self.quality):
            return []
        return [f"{each.sentence} and was asked no task set" for each in self.other_weights]

    @property
    def fails_its_answers(self) -> bool:
        """Whether an answer was wrong: then its candidates are not kept, and nothing else is wrong with the cell."""
        return any(each.reason in FAILED_ANSWERS for each in self.quality)

    @property
    def against(self) -> list[str]:
        """Why none of its candidates is the champion, a sentence each; none where one may be."""
        if self.run is None or self.verdict is None:
            return [self.why_not]
        judged = self.verdict
        if not self.is_complete:
            return [f"its run was {self.run.model.outcome or 'not told to have ended'}"]
        found = [each.sentence for each in self.quality if not each.met]
        found += self.unjudged_weights
        if judged.tier is not Tier.VERDICT:
            reasons = [each.reason for each in judged.reasons if each.name not in QUALITY]
            if reasons:
                found.append(f"it is a {judged.tier}: {', '.join(reasons)}")
        if judged.result is not Result.IMPROVEMENT:
            found.append(f"it shows {_SHOWN[judged.result]}")
        return found

    @property
    def may_win(self) -> bool:
        return not self.against and self.best is not None

    def configuration(self, arm: str) -> Configuration:
        assert self.run is not None
        said = self.run.model.arms[arm]
        return said.stack, tuple(sorted((name, text_of(value)) for name, value in said.set.items()))


_SHOWN = {
    Result.HARM: "a harm",
    Result.NO_IMPROVEMENT: "no improvement",
    Result.WITHIN_NOISE: "nothing beyond the noise of this host",
    Result.NOT_COMPARABLE: "arms that did not do the same work",
    Result.NOT_MEASURABLE: "no trial that counts",
    Result.IMPROVEMENT: "an improvement",
}


def results_of(campaign: Item, known: Known) -> Iterator[CellResult]:
    """Every cell: by the record of the campaign, where it was recorded, else by the runs that pin the campaign."""
    pinned = _pinned(campaign, known)
    mine = runs_of(campaign, known.repo)
    for name, cell in campaign.model.cells.items():
        of_cell = [run for run in mine if run.model.campaign.cell == name]
        if pinned is not None:
            of_cell = [run for run in of_cell if pinned.get(name) == run.pin]
        completed = [run for run in of_cell if run.model.outcome == "completed"]
        run = next(iter(completed or of_cell), None)
        planned = run is not None and run.model.plan and name_of(run.model.plan) == name_of(cell.plan)
        if run is None or not planned:
            why = "its run ran another plan" if run is not None else "it was not run under this campaign"
            yield CellResult(name, cell, None, None, why)
        else:
            result = CellResult(name, cell, run, verdict(run, known), "")
            yield replace(result, otherwise=tuple(_otherwise(result, known))) if result.may_win else result


def _otherwise(cell: CellResult, known: Known) -> Iterator[tuple[str, str]]:
    plan = known.repo.find("plan/v1", cell.cell.plan, cell.run.service) if cell.run is not None else None
    if plan is None or plan.model is None:
        return
    for run in known.repo.of("run/v1"):
        if run is cell.run or run.service != plan.service or not has_answered(run, plan, known.repo):
            continue
        judged = verdict(run, known)
        if judged.tier is Tier.VERDICT and judged.result is not Result.IMPROVEMENT:
            yield run.name, _SHOWN[judged.result]


def _pinned(campaign: Item, known: Known) -> dict[str, str | None] | None:
    """Cell -> the run that the first record of the campaign pins; None where it was not recorded yet."""
    record = next(iter(records_of(campaign, known.repo)), None)
    return {name: cell.run for name, cell in record.model.cells.items()} if record is not None else None


def scope_of(each: CellResult, what: str) -> str:
    """What a run says of where it holds: host, model; unknown where it does not."""
    scope = each.run.model.scope if each.run is not None else None
    return str(getattr(scope, what, None) or "unknown")


def host_of(each: CellResult) -> str:
    """The host of a run, shortly, with the processors that its captures saw: what a campaign says of its target is a text."""
    short = scope_of(each, "host")[:12]
    if each.verdict is None:
        return short
    case = each.verdict.case
    hosts = [kept.host for arm in case.model.arms for _, kept in case.captures(arm) if kept is not None]
    seen = sorted({f"{one.cpu}, {counted(one.cores, 'processor')}" for one in hosts if one.cpu and one.cores})
    return f"{short} ({' or '.join(seen)})" if seen else short
