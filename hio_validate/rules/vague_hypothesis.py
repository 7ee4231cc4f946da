"""A claim without a number.

"Faster" is confirmed by any positive number and refuted by none that matters. A claim such as "decode gains at least
5 %" can be wrong, and tells the next reader what was worth the work (contract 4.1).

How to fix: write into `hypothesis.claim` the change that is expected, with its unit. An A-A experiment claims none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.unfinished_plan import TODO


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    claim = plan.hypothesis.claim
    if plan.stage != "a-a" and not claim.startswith(TODO) and not re.search(r"\d", claim):
        yield Problem(
            at(item, "hypothesis", "claim"),
            "this claim has no number, so nothing refutes it",
            "say how much is expected",
        )


RULE = Rule(
    "vague-hypothesis", Scope.DOCUMENT, Severity.NOTE, "a hypothesis without a number", check,
    kinds=("plan/v1",), contract=("4.1",), since=3,
)  # fmt: skip
