"""A plan whose baseline arm is not what serves in practice.

Against a weak control almost everything is an improvement: yesterday's thread count, a batch size nobody uses, the
build before the last. Contract 4.6: the baseline is the practical one, and the previous accepted stack is the first
candidate (3.8). Computed: the settings of the baseline arm, stack and delta, against those of the current parent in the
service's ledger. A screening may look from elsewhere, which is a gate; so is a service whose ledger names no parent. An
A-A experiment may compare any stack with itself. A plan that was run is held against the parents that its ledger had, and
of a screening that was run its verdict says it.

How to fix: let the baseline arm be the current parent (`hio ledger show` names it) without a delta, or record first
what serves: `hio ledger append baseline`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import between, full_name, settings_of
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, listed
from hio_validate.rules.planned import is_open
from hio_validate.settings.difference import Compared, Group


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.baseline not in plan.arms:
        yield Problem(
            at(item, "baseline"), f"no arm is called {plan.baseline}", f"one of {listed(plan.arms)}"
        )
    elif plan.stage != "a-a":
        yield from _against_parent(item, plan, view)


def _against_parent(item: Item, plan: Plan, view: View) -> Iterator[Problem]:
    ledger, still_open = view.ledger(item.service), is_open(item, view)
    place = at(item, "arms", plan.baseline, "stack")
    if ledger.parent is None:
        if still_open:
            yield Problem(
                place,
                f"the ledger of {item.service} names no parent, so nobody knows whether this is the practical baseline",
                "record what serves: hio ledger append baseline",
                severity=Severity.GATE,
            )
        return
    parents = [ledger.parent] if still_open else ledger.accepted_stacks()
    differing = [_differing(item, plan, parent, view) for parent in parents]
    if any(each == [] for each in differing) or differing[-1] is None:
        return
    known = [each for each in differing[-1] if each.group is not Group.UNKNOWN]
    what = listed(f"{each.address} ({each.from_} there, {each.to} here)" for each in known or differing[-1])
    weighs = Severity.GATE if plan.stage == "screening" or not known else None
    if weighs is Severity.GATE and not still_open:
        return
    yield Problem(
        place,
        f"the baseline is not the current parent {parents[-1]}: it {'differs' if known else 'may differ'} in {what}",
        f"start from stack: {parents[-1]} without a delta",
        severity=weighs,
    )


def _differing(item: Item, plan: Plan, parent: str, view: View) -> list[Compared] | None:
    """The settings in which the baseline arm differs from a stack; None where one of them cannot be read."""
    arm = plan.arms[plan.baseline]
    if not arm.set and full_name(arm.stack, item) == full_name(parent, item):
        return []
    stack = view.repo.find("stack/v1", parent, item.service)
    mine = settings_of(arm, item.service, view.repo, view.settings)
    if stack is None or stack.model is None or mine is None:
        return None
    return list(between(view.settings.effective(stack), mine, view.settings)[1])


RULE = Rule(
    "weak-baseline", Scope.DOCUMENT, Severity.ERROR, "the baseline is not what serves in practice", check,
    kinds=("plan/v1",), contract=("3.8", "4.6"), since=3,
)  # fmt: skip
