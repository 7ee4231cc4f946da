"""A confirmation without a check of its answers, or a check that expects nothing.

A setting that breaks the model is often the fastest. Contract 4.11: no speed verdict before the checks that belong to
the mechanism have passed; contract 7.2 wants them on both arms. A check is a fixture with an expected result that is
known without asking the engine (contract 4.2), or a task set with known answers (`quality`); a fixture without `expect` passes whatever the server says, which is an error
at any stage. A confirmation without any check, or with llama-bench, which shows no answers, is a gate.

How to fix: name in `checks` at least one fixture whose `expect` says what a right answer contains, and who says so, or
name in `quality` a task set.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import is_open


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    for index, name in enumerate(plan.checks):
        fixture = view.repo.find("fixture/v1", name, item.service)
        if fixture is not None and fixture.model is not None and fixture.model.expect is None:
            yield Problem(
                at(item, "checks", index),
                f"{name} expects nothing, so it passes whatever is answered",
                "give the fixture its expected result: expect: {source: ..., contains: [...]}",
                (("the fixture", at(fixture, "name")),),
            )
    if plan.stage == "confirmation" and not (plan.checks or plan.quality) and is_open(item, view):
        why = (
            "llama-bench shows no answers"
            if plan.method == "llama-bench"
            else "no check and no task set is named"
        )
        yield Problem(
            at(item, "stage"),
            f"{why}: nobody would notice that the faster arm answers wrongly",
            "name fixtures with expected results in checks: or a task set in quality:, or keep it a screening",
            severity=Severity.GATE,
        )


RULE = Rule(
    "missing-quality-gate", Scope.DOCUMENT, Severity.ERROR, "no answer of the trial is judged", check,
    kinds=("plan/v1",), contract=("4.2", "4.11", "7.2"), since=3,
)  # fmt: skip
