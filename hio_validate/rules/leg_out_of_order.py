"""Legs of a run whose numbers or times are not in the order in which they are listed.

The order of the legs is what tells an effect from a host that grew warm (contract 4.4, 7.2): it is proven by the times
at which they started. A leg that is listed fourth and started second, one that ended before it started, or a number
that is missing says that the record was sorted, joined or typed.

How to fix: a run is written once, by what ran it, and stays as it is; list the legs as they ran before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    before = None
    for index, leg in enumerate(item.model.legs):
        if leg.leg != index + 1:
            yield Problem(
                at(item, "legs", index, "leg"),
                f"leg {leg.leg} stands at place {index + 1} of the list",
                "number the legs 1, 2, … in the order in which they ran",
            )
        if moment(leg.ended) < moment(leg.started):
            yield Problem(
                at(item, "legs", index, "ended"),
                f"leg {leg.leg} ended at {leg.ended}, before it started at {leg.started}",
                "say when its process started and when its last request ended",
            )
        if before is not None and moment(leg.started) < moment(before.started):
            yield Problem(
                at(item, "legs", index, "started"),
                f"leg {leg.leg} started at {leg.started}, before leg {before.leg} did at {before.started}",
                "list the legs in the order in which they ran",
                (("the leg before", at(item, "legs", index - 1, "started")),),
            )
        before = leg


RULE = Rule(
    "leg-out-of-order", Scope.DOCUMENT, Severity.ERROR, "legs are not listed in the order in which they ran", check,
    kinds=("run/v1",), contract=("4.4", "7.2"), since=3,
)  # fmt: skip
