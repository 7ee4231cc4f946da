"""An experiment, or an estimate, on a parent that is known to be wrong.

Numbers of a stack that produces non-finite values or malformed state are numbers of a broken machine, and what is built
on them falls with them. Contract 9.6: an open correctness failure on the parent blocks estimates and plans. Open is a `failed-run`
entry with such a hazard that pins the stack of the baseline arm and that no later correction puts right. A screening or
an A-A experiment may be how the cause is found, so there it is a gate. An estimate of such a stack names the failure in
`blocked_by` and has no candidate; its next experiment finds the cause, by the route `measure-baseline`, or is left out.

How to fix: find and mend the cause; a parent that was replaced is no longer the baseline. Where the entry was wrong,
append a `correction`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.correctness import open_failures
from hio_validate.models.estimate import Estimate, NextExperiment
from hio_validate.models.plan import Plan
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.planned import is_open


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Estimate):
        yield from _proposed(item, item.model, view)
        return
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


def _proposed(item: Item, estimate: Estimate, view: View) -> Iterator[Problem]:
    """What an estimate proposes, or leaves unsaid, though the stack is wrong."""
    stack, blocked = name_of(estimate.workload.stack), {name_of(pin) for pin in estimate.blocked_by}
    for entry in open_failures(view.ledger(item.service), stack, item):
        what = f"{stack} has an open correctness failure: {entry.name} ({entry.model.hazard})"
        related = (("the failure", at(entry, "hazard")),)
        is_named = bool({entry.name, entry.full_name} & blocked)
        proposes = ["candidates"] if estimate.candidates else []
        if estimate.next and not (is_named and _seeks_the_cause(estimate.next)):
            proposes.append("next")
        for key in proposes:
            yield Problem(
                at_key(item, key),
                f"{what}, and {'a candidate' if key == 'candidates' else 'an experiment'} is proposed",
                "propose nothing before its cause is found; name the failure in blocked_by, and as next what finds it, by the "
                "route measure-baseline",
                related,
            )
        if not proposes and not is_named:
            yield Problem(
                at(item, "workload", "stack"),
                f"{what}, and blocked_by does not name it",
                "pin the entry there",
                related,
            )


def _seeks_the_cause(next_: NextExperiment) -> bool:
    """Whether an experiment asks the stack as it is, with nothing changed."""
    return next_.route == "measure-baseline" and next_.candidate is None


RULE = Rule(
    "open-correctness-failure", Scope.DOCUMENT, Severity.ERROR, "the parent has an open correctness failure", check,
    kinds=("plan/v1", "estimate/v1"), contract=("9.6",), since=3,
)  # fmt: skip
