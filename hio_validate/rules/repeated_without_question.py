"""A completed experiment that is run again without saying why.

Repeating until the number pleases is how noise becomes a result. Contract 4.8: what is completed is not repeated
without a stated question. The same comparison is: the same arms (stacks by their bytes, with their deltas), the same
stage, the same fixture (by its bytes) or bench, the same method and cache; `hio run` asks the same question. `again` names the run and what it left open, in other words than the first question;
it names a run of the same comparison. Of several completed runs of one plan, those after the first get a note: what was
recorded stays, and the first one is the result.

How to fix: write `again: {run: <the completed run>, question: <what it left open>}`, or ask something new.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import compares_the_same, has_answered
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import began_before, executions, is_open, plan_of, run_named, runs_of


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Run):
        yield from _run_twice(item, view)
        return
    plan: Plan = item.model
    if plan.again is not None:
        yield from _questions(item, plan, view)
    elif is_open(item, view):
        done = [run for run in runs_of(item, view) if has_answered(run, item, view.repo)]
        if done:
            yield Problem(
                at(item, "question"),
                f"{done[-1].name} has completed this comparison",
                f"write again: {{run: {done[-1].name}, question: ...}}, or ask something new",
                (("the plan of that run", at(done[-1], "plan")),),
            )


def _questions(item: Item, plan: Plan, view: View) -> Iterator[Problem]:
    run = run_named(item, plan.again.run if plan.again else None, view)
    first = plan_of(run, view) if run is not None else None
    if run is None or first is None or plan.again is None:
        return
    if not compares_the_same(run, item, view.repo):
        yield Problem(
            at(item, "again", "run"),
            f"{run.name} compared something else",
            "name a run of this comparison, or remove again:",
        )
    if plan.again.question.strip().lower() == first.model.question.strip().lower():
        yield Problem(
            at(item, "again", "question"),
            f"that is the question which {run.name} answered",
            "say what it left open",
            (("the first question", at(first, "question")),),
        )


def _run_twice(item: Item, view: View) -> Iterator[Problem]:
    plan = plan_of(item, view)
    if plan is None or item.model.outcome != "completed":
        return
    earlier = [
        run for run in executions(plan, view) if run.model.outcome == "completed" and began_before(run, item)
    ]
    if earlier:
        yield Problem(
            at(item, "plan"),
            f"{earlier[0].name} has completed this plan before",
            "the first run is the result; to ask again, write a new plan with again:",
            severity=Severity.NOTE,
        )


RULE = Rule(
    "repeated-without-question", Scope.DOCUMENT, Severity.ERROR, "a completed experiment is repeated without saying why", check,
    kinds=("plan/v1", "run/v1"), contract=("4.8",), since=3,
)  # fmt: skip
