"""A confirmation with fewer than three independent trials of an arm.

Requests of one process share its memory layout, its caches and its luck: they are samples of one trial. Contract 7.2:
a verdict needs at least three independent trials an arm, and independent means a process of its own. An A-A experiment
that restarts nothing measures the noise within a process, which is smaller than the one between processes; there it is
a gate.

How to fix: give every arm at least three legs (four, in the order ABBA BAAB) and write `restart: every-leg`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import legs
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

FEWEST = 3
"""Independent trials of an arm that a verdict needs (contract 7.2)."""


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.stage == "screening":
        return
    severity = Severity.GATE if plan.stage == "a-a" else None
    for arm, count in legs(plan).items():
        if 0 < count < FEWEST:
            yield Problem(
                at_key(item, "arms", arm),
                f"{arm} has {count} {'leg' if count == 1 else 'legs'}; a verdict needs {FEWEST} independent trials an arm",
                "add legs to order:, or call it a screening",
                severity=severity,
            )
    if plan.restart == "never":
        yield Problem(
            at(item, "restart"),
            "legs of one process are no independent trials",
            "write restart: every-leg",
            severity=severity,
        )


RULE = Rule(
    "too-few-trials", Scope.DOCUMENT, Severity.ERROR, "an arm has fewer than three independent trials", check,
    kinds=("plan/v1",), contract=("5.6", "7.2"), since=3,
)  # fmt: skip
