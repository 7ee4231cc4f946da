"""A leg that started while the one before it was still measured.

Two servers that measure at once share the caches, the memory bus and the temperature of one host: each slows the other,
and no order of legs balances that (contract 5.2, 7.2).

How to fix: a run is written once and stays; measure again, one leg at a time (`hio run` does). If only the times were
written down wrongly, say so in an entry: such a run proves no order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hio_validate.diagnostic import Severity
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    for index, (before, leg) in enumerate(pairwise(item.model.legs), 1):
        if moment(before.started) <= moment(leg.started) < moment(before.ended):
            yield Problem(
                at(item, "legs", index, "started"),
                f"leg {leg.leg} started at {leg.started}; leg {before.leg} ended at {before.ended}",
                "measure one leg at a time",
                (("the leg before", at(item, "legs", index - 1, "ended")),),
            )


RULE = Rule(
    "overlapping-legs", Scope.DOCUMENT, Severity.ERROR, "two legs were measured at the same time", check,
    kinds=("run/v1",), contract=("5.2", "7.2"), since=3,
)  # fmt: skip
