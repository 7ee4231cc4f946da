"""A series that is called new although the parent was measured with this fixture, or that reproduces something else.

Where a completed run has asked the parent this very fixture, its answer is known. A plan that does not name that run in
`reproduces` begins a new series beside it, and nobody notices that model, build or template have changed since
(contract 4.7). Named is checked: the run asked that fixture, on the baseline of this plan, and was completed.

How to fix: name the latest completed run of the parent with this fixture in `reproduces`; where the series is meant to
be new, use a new fixture.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import asked_with, has_baseline, is_open, run_named, runs_of


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.fixture is None:
        return
    run = run_named(item, plan.reproduces, view)
    if run is not None:
        for message in _faults(run, item, plan.fixture):
            yield Problem(
                at(item, "reproduces"), message, "name a completed run of the parent with this fixture"
            )
    elif plan.reproduces is None and is_open(item, view):
        done = [each for each in runs_of(item, view) if _retains(each, item, plan.fixture)]
        if done:
            yield Problem(
                at(item, "fixture"),
                f"{done[-1].name} has asked the baseline {plan.fixture} before, and this plan does not reproduce it",
                f"write reproduces: {done[-1].name}",
                severity=Severity.GATE,
            )


def _retains(run: Item, item: Item, fixture: str) -> bool:
    """Whether a run is a retained answer of the parent to this fixture, by its own record."""
    completed = run.model.outcome == "completed"
    return completed and asked_with(run, fixture, item) and has_baseline(run, item)


def _faults(run: Item, item: Item, fixture: str) -> Iterator[str]:
    """What the record of a run says against it; what it does not say is no contradiction."""
    if run.model.outcome not in ("completed", None):
        yield f"{run.name} was not completed"
    if run.model.fixtures and not asked_with(run, fixture, item):
        yield f"{run.name} did not ask {fixture}"
    if not has_baseline(run, item):
        yield f"{run.name} has no arm that is the baseline of this plan"


RULE = Rule(
    "parent-not-reproduced", Scope.DOCUMENT, Severity.ERROR, "a retained fixture of the parent is not reproduced", check,
    kinds=("plan/v1",), contract=("4.7",), since=3,
)  # fmt: skip
