"""An order of legs in which time favours one arm.

A host drifts: it warms up, a neighbour wakes, the page cache fills. Where one arm runs first and the other one last,
the drift is measured and called an effect. Contract 4.4: ABBA or BAAB, or rounds; computed here as what makes them
fair: every arm has as many legs, and its legs have the same mean place in the order. The sign-flip test compares
within rounds, so each round has every arm once. A screening looks and decides nothing: of it only the names are
checked.

How to fix: order the legs ABBA BAAB, e.g. `[base, two, two, base, two, base, base, two]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.design import is_balanced, legs, mean_place, rounds
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    strangers = [(index, arm) for index, arm in enumerate(plan.order) if arm not in plan.arms]
    for index, arm in strangers:
        yield Problem(at(item, "order", index), f"no arm is called {arm}", f"one of {listed(plan.arms)}")
    idle = [arm for arm, count in legs(plan).items() if not count]
    for arm in idle:
        yield Problem(
            at_key(item, "arms", arm),
            f"no leg measures the arm {arm}",
            "give it legs in order:, or remove it",
        )
    if plan.stage != "screening" and not (strangers or idle):
        yield from _unfair(item, plan)


def _unfair(item: Item, plan: Plan) -> Iterator[Problem]:
    place, advice = at_key(item, "order"), "order the legs ABBA BAAB, or in rounds that turn around"
    counted = legs(plan)
    if len(set(counted.values())) > 1:
        said = listed(f"{arm} {count}" for arm, count in counted.items())
        yield Problem(place, f"the arms have different numbers of legs: {said}", advice)
    elif not is_balanced(plan.order):
        said = listed(f"{arm} {float(mean_place(plan.order, arm)):.3g}" for arm in plan.arms)
        yield Problem(place, f"time favours an arm: the mean places of their legs are {said}", advice)
    elif plan.decide.test == "sign-flip" and rounds(plan.order, list(plan.arms)) is None:
        yield Problem(
            place,
            "sign-flip compares within rounds, and this order is not made of rounds",
            "let every round have each arm once",
        )


RULE = Rule(
    "unbalanced-order", Scope.DOCUMENT, Severity.ERROR, "the order of the legs favours an arm", check,
    kinds=("plan/v1",), contract=("4.4", "7.2"), since=3,
)  # fmt: skip
