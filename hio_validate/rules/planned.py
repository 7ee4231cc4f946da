"""What rules about plans share: whether a plan is still open, and the runs of its service. No rule of its own.

Invariant: what could still be better is asked only of an open plan. One that a run has pinned is frozen, and what
it lacked then lowers the tier of its run (contract 7.2), not the state of the repository.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.evidence.design import full_name
from hio_validate.models.plan import Plan
from hio_validate.models.run import Arm
from hio_validate.moment import moment
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View
from hio_validate.settings.value import text_of


def executions(plan: Item, view: View) -> list[Item]:
    """The runs that pin a plan, in path order."""
    return [run for run in runs_of(plan, view) if plan_of(run, view) is plan]


def is_open(plan: Item, view: View) -> bool:
    """Whether no run has pinned it yet."""
    return not executions(plan, view)


def runs_of(plan: Item, view: View) -> Iterator[Item]:
    """The runs of the plan's service."""
    return (run for run in view.repo.of("run/v1") if run.service == plan.service)


def plan_of(run: Item, view: View) -> Item | None:
    """The readable plan that a run pins."""
    found = view.repo.find("plan/v1", name_of(run.model.plan), run.service) if run.model.plan else None
    return found if found is not None and found.model is not None else None


def run_named(plan: Item, name: str | None, view: View) -> Item | None:
    """The readable run that a plan names."""
    found = view.repo.find("run/v1", name, plan.service) if name else None
    return found if found is not None and found.model is not None else None


def asked_with(run: Item, fixture: str, plan: Item) -> bool:
    """Whether a run asked the fixture that a plan names."""
    wanted = full_name(fixture, plan)
    return any(full_name(name_of(pin), run) == wanted for pin in run.model.fixtures)


def has_baseline(run: Item, plan: Item) -> bool:
    """Whether some arm of a run is the plan's baseline arm: the same stack with the same delta."""
    return any(is_baseline(arm, run, plan) for arm in run.model.arms.values())


def is_baseline(arm: Arm, run: Item, plan: Item) -> bool:
    """Whether an arm of a run is the plan's baseline arm, by the names of stacks and the deltas."""
    model: Plan = plan.model
    mine = model.arms.get(model.baseline)
    if mine is None or full_name(name_of(arm.stack), run) != full_name(mine.stack, plan):
        return False
    return {name: text_of(each) for name, each in arm.set.items()} == {
        name: text_of(each) for name, each in mine.set.items()
    }


def began_before(run: Item, other: Item) -> bool:
    """Whether a run began before another one; a run that does not say when did not."""
    if run.model.at is None or other.model.at is None:
        return False
    return moment(run.model.at) < moment(other.model.at)
