"""A confirmation whose test cannot reach its level, whatever is measured.

An exact test has as many outcomes as there are relabellings. With three legs an arm there are 20 of them, and the
smallest two-sided p is 2/20 = 0.1: such a plan at level 0.05 has decided for "no improvement" before its first leg.
With n legs an arm the smallest two-sided p of the permutation test is 2 / C(2n, n), of the sign-flip test over n rounds
2 / 2^n (contract 4.4). Where several arms are compared with the baseline, they share the level.

How to fix: plan as many legs as the message says, or choose, before the first result, a level that they can reach.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import legs, legs_needed, level, smallest_p
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    counted = legs(plan)
    own = counted.get(plan.baseline, 0)
    others = [(arm, count) for arm, count in counted.items() if arm != plan.baseline and count]
    if plan.stage != "confirmation" or not own or not others:
        return
    arm, fewest = min(others, key=lambda each: each[1])
    smallest = smallest_p(plan.decide.test, own, fewest)
    wanted = level(plan)
    if smallest > wanted:
        needed = legs_needed(plan.decide.test, wanted)
        shared = f" ({plan.decide.alpha:g} shared by {len(plan.arms) - 1} arms)" if len(plan.arms) > 2 else ""
        yield Problem(
            at(item, "decide", "alpha"),
            f"with {own} legs of {plan.baseline} and {fewest} of {arm} the smallest two-sided p of {plan.decide.test} is "
            f"{float(smallest):.3g}; {wanted:g}{shared} cannot be reached",
            f"plan {needed} legs an arm, {needed * len(plan.arms)} in all",
        )


RULE = Rule(
    "unreachable-level", Scope.DOCUMENT, Severity.ERROR, "the test cannot reach its level with so few legs", check,
    kinds=("plan/v1",), contract=("4.4",), since=3,
)  # fmt: skip
