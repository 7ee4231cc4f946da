"""Criteria that were written with the results in hand.

A plan comes before its first result (contract 4.4). That its bytes did not change afterwards is a matter of pins, which
have rules of their own; that they never knew the results is checked here. A plan that names a run of its own, as its
noise, as what it reproduces or as the run it repeats, was written after that run.

How to fix: write a new plan, with its criteria, and run it. What the first one showed may be its question, and is no
part of its statistic.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import plan_of, run_named


def check(item: Item, view: View) -> Iterator[Problem]:
    for path, name, what in _named(item.model):
        run = run_named(item, name, view)
        if run is not None and plan_of(run, view) is item:
            yield Problem(
                at(item, *path),
                f"{what} is {run.name}, a run of this very plan",
                "what a plan relies on was there before it; write a new plan",
                (("the run", at(run, "plan")),),
            )


def _named(plan: Plan) -> Iterator[tuple[Path, str | None, str]]:
    """The runs that a plan relies on."""
    yield ("decide", "noise"), plan.decide.noise, "the noise"
    yield ("reproduces",), plan.reproduces, "what is reproduced"
    yield ("again", "run"), plan.again.run if plan.again else None, "the run that is repeated"


RULE = Rule(
    "criteria-after-results", Scope.DOCUMENT, Severity.ERROR, "a plan's criteria knew its results", check,
    kinds=("plan/v1",), contract=("4.4", "4.5"), since=3,
)  # fmt: skip
