"""A quality gate whose margin its task set cannot show, whatever is answered.

The gate is met where the lower end of the one-sided interval of the difference is at least -margin. With n items of which
not one is answered differently, that end is -z^2 / (n + z^2): 40 items show 0.063 at level 0.05 at best, 400 show 0.007.
A smaller margin has decided against every candidate before its first answer (contract 4.4). Where several candidates are
compared with the baseline, they share the level.

How to fix: ask as many items as the message says, or choose, before the first result, a margin that so many can show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.proportions import z_of
from hio_validate.evidence.quality_gate import items_planned, level_of, margin_at_best
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.planned import is_open


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    items = items_planned(item, view.repo)
    if plan.quality is None or not items or plan.stage != "confirmation" or not is_open(item, view):
        return
    best = margin_at_best(plan, len(items))
    if best > plan.quality.margin:
        yield Problem(
            at(item, "quality", "margin"),
            f"{len(items)} items show a margin of {best:.3f} at best, where not one answer differs; "
            f"{plan.quality.margin:g} cannot be reached",
            _advice(plan),
        )


def _advice(plan: Plan) -> str:
    assert plan.quality is not None
    margin = plan.quality.margin
    if not margin:
        return "no number of items shows a margin of 0: allow a small one"
    square = z_of(level_of(plan)) ** 2
    return f"ask {math.ceil(square / margin - square)} items, or allow a wider margin"


RULE = Rule(
    "unreachable-margin", Scope.DOCUMENT, Severity.ERROR, "so few items cannot show the margin", check,
    kinds=("plan/v1",), contract=("4.4", "10.4"), since=5,
)  # fmt: skip
