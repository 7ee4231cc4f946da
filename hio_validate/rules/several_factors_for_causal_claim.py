"""An arm that differs from the baseline in several settings, in a plan that does not say so.

Whatever such an arm gains or loses belongs to all of its changes together; nobody can say to which. Contract 4.6: one
changed factor for a causal claim. Flash attention, K/V type, model and speculation are separate hypotheses (contract
3.9). The difference is computed from stacks, deltas and builds; a setting that follows another one, such as
`threads-batch` that follows `threads`, is part of it and counts once.

How to fix: change one setting an arm, or write `combined: true` with all of them in `factors`; its parts then stay
unresolved, and no row of a matrix can cite it for one of them.
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
    if plan.combined or plan.stage == "a-a":
        return
    for each in contrasts(item, view.repo, view.settings):
        changed = [one for one in each.factors if one in each.known or one.set_by_a_person]
        if len(changed) > 1:
            differing = listed(f"{one.address} ({one.from_} -> {one.to})" for one in changed)
            yield Problem(
                at_key(item, "arms", each.arm),
                f"{each.arm} differs from {plan.baseline} in {len(changed)} settings: {differing}",
                "change one of them, or write combined: true",
            )


RULE = Rule(
    "several-factors-for-causal-claim", Scope.DOCUMENT, Severity.ERROR, "an arm differs in several settings at once", check,
    kinds=("plan/v1",), contract=("3.6", "3.9", "4.6"), since=3,
)  # fmt: skip
