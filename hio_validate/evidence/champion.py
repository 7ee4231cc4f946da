"""The champion of a campaign: the best measured cell where every gate of contract 10.5 is met, else the previous one is kept.

Invariants: everything is computed from the runs that pin the campaign; a cell that nobody ran, or that ran outside the
campaign, counts for nothing; cells of different regimes never compete (contract 8.5); what was not measured is not worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from hio_validate.evidence.campaign import records_of
from hio_validate.evidence.case import Known
from hio_validate.evidence.cell_result import CellResult, Configuration, host_of, results_of
from hio_validate.evidence.champion_gates import gates
from hio_validate.evidence.outcome import Condition
from hio_validate.evidence.quality_gate import answered
from hio_validate.evidence.weights import shown, weights_of
from hio_validate.repo import Item
from hio_validate.settings.knowledge import Settings

TASK_KINDS = ("code-tests", "retrieval", "positional-recall", "tool-round-trips")
"""Kinds of tasks that are measured or listed untested (contract 10.4), as a task set's items name them."""


@dataclass(frozen=True)
class Regime:
    """The cells of one workload regime; `winner` is None where the previous configuration stays."""

    name: str
    cells: tuple[CellResult, ...]
    winner: CellResult | None
    not_told_apart: tuple[str, ...]
    """Other cells whose gain has an interval that overlaps the winner's: nobody compared the two directly."""


@dataclass(frozen=True)
class Champion:
    """What came of a campaign."""

    campaign: Item
    cells: tuple[CellResult, ...]
    gates: tuple[Condition, ...]
    regimes: tuple[Regime, ...]
    is_recorded: bool
    """Whether the campaign was run to its end and recorded; else further runs may still come."""

    @property
    def gates_met(self) -> bool:
        return all(each.met for each in self.gates)

    @property
    def is_measured(self) -> bool:
        """Whether any leg of any cell counts."""
        return any(
            trial.counted for each in self.cells if each.verdict is not None for trial in each.verdict.trials
        )

    @property
    def winners(self) -> list[Regime]:
        """The regimes that have a winner; none where a gate is not met."""
        return [each for each in self.regimes if each.winner is not None] if self.gates_met else []

    @property
    def overall(self) -> CellResult | None:
        """The winner of every regime, where that is one configuration."""
        won = self.winners
        if not won or len(won) < len(self.regimes):
            return None
        first = won[0].winner
        kinds = {
            each.winner.configuration(each.winner.best.candidate)
            for each in won
            if each.winner and each.winner.best
        }
        return first if len(kinds) == 1 else None

    @property
    def configurations(self) -> int:
        """How many different configurations were measured, the baseline among them."""
        return len(self._measured)

    @cached_property
    def _measured(self) -> set[Configuration]:
        return {
            each.configuration(arm)
            for each in self.cells
            if each.verdict is not None
            for arm in each.verdict.case.model.arms
            if each.verdict.case.counted(arm)
        }

    @property
    def scope(self) -> str:
        """Where it holds, in words."""
        hosts = sorted({host_of(each) for each in self.cells if each.run is not None})
        models = sorted(self._weights)
        space = self.campaign.model.scope.factors
        said = [f"host {' and '.join(hosts) or 'unknown'}", f"model {' and '.join(models) or 'unknown'}"]
        said += [", ".join(regime.name for regime in self.regimes)]
        return "; ".join([*said, f"varied: {', '.join(space)}"] if space else said)

    @property
    def _weights(self) -> set[str]:
        cases = [each.verdict.case for each in self.cells if each.verdict is not None]
        served = {weights_of(case, arm) for case in cases for arm in case.model.arms if case.counted(arm)}
        return {shown(each) if each is not None else "unknown" for each in served}

    @cached_property
    def task_kinds(self) -> list[str]:
        """Kinds of tasks that every cell with a run answered."""
        ran = [each.verdict.case for each in self.cells if each.verdict is not None]
        found = [set(seen.kinds) if (seen := answered(case)) is not None else set() for case in ran]
        return sorted(set.intersection(*found)) if found else []

    @property
    def untested_kinds(self) -> list[str]:
        """Of the kinds that contract 10.4 names, those that no task set asked in every cell."""
        return [kind for kind in TASK_KINDS if kind not in self.task_kinds]

    @property
    def untested(self) -> list[str]:
        """What the plans name as untested."""
        plans = [each.verdict.case.plan for each in self.cells if each.verdict is not None]
        return list(dict.fromkeys(text for plan in plans if plan is not None for text in plan.untested))


def champion(campaign: Item, known: Known, settings: Settings) -> Champion:
    """Judge a readable campaign by the runs that pin it."""
    cells = tuple(results_of(campaign, known))
    return Champion(
        campaign,
        cells,
        gates(campaign, cells, known, settings),
        tuple(_regimes(cells)),
        bool(records_of(campaign, known.repo)),
    )


def _regimes(cells: Sequence[CellResult]) -> Iterator[Regime]:
    for name in dict.fromkeys(each.regime for each in cells):
        mine = tuple(each for each in cells if each.regime == name)
        winner = max((each for each in mine if each.may_win), key=_gain, default=None)
        near = tuple(
            each.name for each in mine if winner is not None and each is not winner and _overlap(each, winner)
        )
        yield Regime(name, mine, winner, near)


def _gain(each: CellResult) -> float:
    return each.best.gain if each.best is not None else float("-inf")


def _overlap(one: CellResult, winner: CellResult) -> bool:
    """Whether two gains over one baseline have intervals that overlap; one without an interval is not told apart."""
    if not one.may_win or one.best is None or winner.best is None:
        return False
    mine, best = one.best.interval, winner.best.interval
    if None in (mine.low, mine.high, best.low, best.high):
        return True
    assert mine.low is not None and mine.high is not None and best.low is not None and best.high is not None
    return mine.low <= best.high and best.low <= mine.high
