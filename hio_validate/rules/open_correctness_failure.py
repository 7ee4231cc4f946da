"""An experiment on a parent that is known to be wrong.

Numbers of a stack that produces non-finite values or malformed state are numbers of a broken machine, and what is built
on them falls with them. Contract 9.6: an open correctness failure on the parent blocks plans. Open is a `failed-run`
entry with such a hazard that pins the stack of the baseline arm and that no later correction puts right. A screening or
an A-A experiment may be how the cause is found, so there it is a gate.

How to fix: find and mend the cause; a parent that was replaced is no longer the baseline. Where the entry was wrong,
append a `correction`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.correctness import open_failures
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import is_open


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    baseline, ledger = plan.arms.get(plan.baseline), view.ledger(item.service)
    if baseline is None or not is_open(item, view):
        return
    for entry in open_failures(ledger, baseline.stack, item):
        yield Problem(
            at(item, "arms", plan.baseline, "stack"),
            f"{baseline.stack} has an open correctness failure: {entry.name} ({entry.model.hazard})",
            "find its cause first; a number of a wrong parent decides nothing",
            (("the failure", at(entry, "hazard")),),
            severity=None if plan.stage == "confirmation" else Severity.GATE,
        )


RULE = Rule(
    "open-correctness-failure", Scope.DOCUMENT, Severity.ERROR, "the parent has an open correctness failure", check,
    kinds=("plan/v1",), contract=("9.6",), since=3,
)  # fmt: skip
