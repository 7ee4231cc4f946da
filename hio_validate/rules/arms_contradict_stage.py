"""Arms that are the same where a plan compares, or that differ where it compares the baseline with itself.

An experiment whose two arms run the same settings can only find noise, however well it is done; an A-A experiment
whose arms differ measures an effect and calls it noise, and every later verdict is weighed against that. Computed from
stacks, deltas and the defaults of their builds (contract 4.6, 7.2). What cannot be compared counts as neither.

How to fix: give the arm the delta that was meant (`set: {server.threads: 2}`), or write `stage: a-a` for an A-A
experiment and take every delta away.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import contrasts
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    for each in contrasts(item, view.repo, view.settings):
        if plan.stage == "a-a" and each.known:
            differing = listed(f"{one.address} ({one.from_} -> {one.to})" for one in each.known)
            yield Problem(
                at_key(item, "arms", each.arm),
                f"{each.arm} differs from {plan.baseline} in {differing}; an A-A experiment compares the baseline with itself",
                "take the delta away, or plan a screening or a confirmation",
            )
        elif plan.stage != "a-a" and not each.factors:
            yield Problem(
                at_key(item, "arms", each.arm),
                f"{each.arm} runs the same settings as {plan.baseline}: whatever is measured is noise",
                "give it the delta that was meant, or write stage: a-a",
            )


RULE = Rule(
    "arms-contradict-stage", Scope.DOCUMENT, Severity.ERROR, "arms are the same, or an A-A experiment's differ", check,
    kinds=("plan/v1",), contract=("4.6", "7.2"), since=3,
)  # fmt: skip
