"""What a plan can show, how long it lasts, what it stops and what it still needs, before anything runs (contract 4).

Invariant: everything here is computed from documents; a number that nobody can know yet is None, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from hio_validate.evidence.design import Contrast, contrasts, legs, legs_needed, rounds, smallest_p
from hio_validate.execute.approvals import given, needed
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.rules.planned import executions
from hio_validate.settings.places import place_of


@dataclass(frozen=True)
class Level:
    """What the test of a plan can reach with its legs."""

    test: str
    alpha: float
    smallest_p: float | None
    """Two-sided; None where an arm has no leg."""
    reachable: bool
    legs_needed: int
    """Legs an arm with which the level can be reached."""


@dataclass(frozen=True)
class Approval:
    """One approval that the plan needs: the entry that gives it, or why none does and how to ask for it."""

    approves: str
    entry: str | None
    until: str | None
    missing: str


@dataclass(frozen=True)
class Prospect:
    """One plan before its first leg. Times are seconds."""

    item: Item
    runs: tuple[str, ...]
    """The runs that pin it: then it is frozen."""
    contrasts: tuple[Contrast, ...]
    legs: dict[str, int]
    rounds: int | None
    level: Level
    requests: int | None
    """Measured requests of the whole trial; None with llama-bench."""
    longest_s: float
    """All legs as long as they may be, or the limit of the whole; restoration comes on top."""
    stops: str | None
    """The service that is stopped."""
    port: int | None
    approvals: tuple[Approval, ...]

    @property
    def plan(self) -> Plan:
        plan: Plan = self.item.model
        return plan


def prospect(item: Item, view: View, now: str) -> Prospect:
    """The prospect of a valid plan at `now` (UTC, as documents write it)."""
    plan: Plan = item.model
    own = place_of(item.service, view.repo)
    return Prospect(
        item=item,
        runs=tuple(run.name for run in executions(item, view)),
        contrasts=tuple(contrasts(item, view.repo, view.settings)),
        legs=dict(legs(plan)),
        rounds=rounds(plan.order, list(plan.arms)),
        level=_level(plan),
        requests=plan.requests.measured * len(plan.order) if plan.requests else None,
        longest_s=min(plan.limits.total_s, len(plan.order) * plan.limits.leg_s),
        stops=item.service if plan.serving.during == "stop" else None,
        port=plan.port or (own.port if own else None),
        approvals=_approvals(item, view, now),
    )


def _level(plan: Plan) -> Level:
    counted = legs(plan)
    own = counted.pop(plan.baseline, 0)
    fewest = min(counted.values(), default=0)
    decide = plan.decide
    smallest = smallest_p(decide.test, own, fewest) if own and fewest else None
    return Level(
        decide.test,
        decide.alpha,
        float(smallest) if smallest is not None else None,
        smallest is not None and smallest <= decide.alpha,
        legs_needed(decide.test, decide.alpha),
    )


def _approvals(item: Item, view: View, now: str) -> tuple[Approval, ...]:
    found, missing = given(item, view.ledger(item.service), now)
    held = {each.approves: each for each in found}
    lacking = iter(missing)
    return tuple(
        Approval(kind, held[kind].entry.partition("@")[0], held[kind].until, "")
        if kind in held
        else Approval(kind, None, None, next(lacking))
        for kind in needed(item.model)
    )
