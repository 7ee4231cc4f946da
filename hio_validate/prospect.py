"""What a plan can show, how long it lasts, what it stops and what it still needs, before anything runs (contract 4).

Invariant: everything here is computed from documents; a number that nobody can know yet is None, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hio_validate.evidence.case import Case
from hio_validate.evidence.design import Contrast, contrasts, legs, legs_needed, level, rounds, smallest_p
from hio_validate.evidence.detectable import detectable
from hio_validate.evidence.quality_gate import items_planned, margin_at_best
from hio_validate.evidence.statistics import residuals
from hio_validate.execute.approvals import given, needed
from hio_validate.models.plan import Plan
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.rules.planned import executions, run_named
from hio_validate.settings.difference import Compared
from hio_validate.settings.places import place_of
from hio_validate.settings.setting import Class, Origin
from hio_validate.settings.value import text_of


@dataclass(frozen=True)
class Level:
    """What the test of a plan can reach with its legs."""

    test: str
    alpha: float
    """Of one comparison: arms that are compared with one baseline share the plan's."""
    smallest_p: float | None
    """Two-sided; None where an arm has no leg."""
    reachable: bool
    legs_needed: int
    """Legs an arm with which the level can be reached."""
    detectable_percent: float | None
    """The smallest change that the test finds with the planned power, by the noise of the named A-A run."""
    detectable_how: str
    """How it was computed, or why it is not known."""


@dataclass(frozen=True)
class Approval:
    """One approval that the plan needs: the entry that gives it, or why none does and how to ask for it."""

    approves: str
    entry: str | None
    until: str | None
    missing: str


PLAN, DEFAULT = "plan", "default"
"""Where a limit that is in force comes from."""


@dataclass(frozen=True)
class Limit:
    """One limit that is in force, or could be: the plan writes it, or it is hio's default."""

    name: str
    value: str | bool | int | float | None
    """As the plan has it: sizes in bytes or like 4GiB, times in seconds; None = no such limit."""
    origin: str

    @property
    def shown(self) -> str:
        if self.value is None:
            return "none"
        return f"{text_of(self.value)}{' s' if self.name.endswith('_s') else ''}"


class Observed(NamedTuple):
    """What the newest capture of a stack shows beside what the documents say of it."""

    stack: str
    capture: str | None
    """None where no capture is of this stack."""
    at: str | None
    differs: tuple[Compared, ...]
    """Settings whose observed value is not the declared one, `from_` as declared; hashes of files stand apart."""


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
    items: int | None
    """Items of the task set; None where none is planned or it cannot be read."""
    least_margin: float | None
    """The margin that so many items can show at best, a share; None where their number is unknown."""
    longest_s: float
    """All legs as long as they may be, or the limit of the whole; restoration comes on top."""
    stops: str | None
    """The service that is stopped."""
    port: int | None
    approvals: tuple[Approval, ...]
    limits: tuple[Limit, ...]
    """Every limit, those that nobody wrote, too."""
    observed: tuple[Observed, ...]
    """Each stack of the arms; what is compared are the values of the documents."""

    @property
    def plan(self) -> Plan:
        plan: Plan = self.item.model
        return plan


def prospect(item: Item, view: View, now: str) -> Prospect:
    """The prospect of a valid plan at `now` (UTC, as documents write it)."""
    plan: Plan = item.model
    own = place_of(item.service, view.repo)
    items = items_planned(item, view.repo)
    return Prospect(
        item=item,
        runs=tuple(run.name for run in executions(item, view)),
        contrasts=tuple(contrasts(item, view.repo, view.settings)),
        legs=dict(legs(plan)),
        rounds=rounds(plan.order, list(plan.arms)),
        level=_level(item, view),
        requests=plan.requests.measured * len(plan.order) if plan.requests else None,
        items=len(items) if items else None,
        least_margin=margin_at_best(plan, len(items)) if items else None,
        longest_s=min(plan.limits.total_s, len(plan.order) * plan.limits.leg_s),
        stops=item.service if plan.serving.during == "stop" else None,
        port=plan.port or (own.port if own else None),
        approvals=_approvals(item, view, now),
        limits=_limits(item),
        observed=tuple(_observed(item, view)),
    )


def _observed(item: Item, view: View) -> Iterator[Observed]:
    for name in dict.fromkeys(arm.stack for arm in item.model.arms.values()):
        stack = view.repo.find("stack/v1", name, item.service)
        if stack is None or stack.model is None:
            continue
        captures = [each for each in view.repo.of("capture/v1") if _is_of(each, stack, view)]
        newest = max(captures, key=lambda each: (moment(each.model.at), each.name), default=None)
        if newest is None:
            yield Observed(name, None, None, ())
            continue
        both = view.settings.effective(stack), view.settings.effective(stack, newest)
        differing = [each for each in view.settings.difference(*both).touched if _is_another_value(each)]
        yield Observed(name, newest.name, newest.model.at, tuple(differing))


def _is_of(capture: Item, stack: Item, view: View) -> bool:
    """Whether a readable capture claims to be this stack, by its name or its full one."""
    named = capture.model.stack if capture.model is not None else None
    return named is not None and view.repo.find("stack/v1", named, capture.service) is stack


def _is_another_value(each: Compared) -> bool:
    """Whether a setting was observed otherwise than declared; that a file has a hash is no difference."""
    is_identity = any(
        side is not None and side.origin is Origin.IDENTITY for side in (each.parent, each.candidate)
    )
    return not is_identity and each.class_ is not Class.SECRET and each.from_ != each.to


def _limits(item: Item) -> tuple[Limit, ...]:
    """Every limit of the model, in its order; what the document does not write is a default."""
    written = item.document.data["limits"]
    return tuple(
        Limit(name, _plain(value), PLAN if name in written else DEFAULT)
        for name, value in item.model.limits.model_dump().items()
    )


def _plain(value: Any) -> Any:
    """A whole number of seconds without the point that its type gives it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _level(item: Item, view: View) -> Level:
    plan: Plan = item.model
    counted = legs(plan)
    own = counted.pop(plan.baseline, 0)
    fewest = min(counted.values(), default=0)
    test, alpha = plan.decide.test, level(plan)
    smallest = smallest_p(test, own, fewest) if own and fewest else None
    percent, how = _detectable(item, min(own, fewest), alpha, view)
    return Level(
        test=test,
        alpha=alpha,
        smallest_p=float(smallest) if smallest is not None else None,
        reachable=smallest is not None and smallest <= alpha,
        legs_needed=legs_needed(test, alpha),
        detectable_percent=percent,
        detectable_how=how,
    )


def _detectable(item: Item, n: int, alpha: float, view: View) -> tuple[float | None, str]:
    """The smallest change in percent that n legs an arm find, and how that is known."""
    plan: Plan = item.model
    noise, metric = run_named(item, plan.decide.noise, view), plan.decide.metric
    if noise is None:
        return None, "no A-A experiment says how large the noise is"
    case = Case(noise, view)
    arms = [case.values(arm, metric) for arm in noise.model.arms] if metric in noise.model.columns else []
    if not arms or any(len(values) < 2 or min(values) <= 0 for values in arms):
        return None, f"{noise.name} has not two trials an arm with {metric}"
    found = detectable(residuals(arms), n, plan.decide.test, alpha, plan.decide.power)
    return found.percent, f"noise of {noise.name}: {found.method}"


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
