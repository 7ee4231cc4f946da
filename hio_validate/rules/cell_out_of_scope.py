"""A cell that changes quantisation, speculation or an undeclared setting.

The fastest cell of a sweep is often the one that computes something else: a smaller K/V type, another quantisation of the
weights, a draft model. Contract 10.5: quantisation and speculation only in the campaign's declared scope. Computed from
the stacks and deltas of each cell's plan, against its baseline. Where `scope.factors` declares the space that is varied,
a setting outside it is found, too: "best of the N measured" holds for the declared space only.

How to fix: declare it before the first run (`scope: {quantisation: [q8_0]}`), or leave the cell out.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import cells_of
from hio_validate.evidence.campaign_scope import out_of_scope, to_declare
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    for each in cells_of(item, view.repo):
        if each.plan is None:
            continue
        for found in out_of_scope(each.plan, item.model.scope, view.repo, view.settings):
            changed = found.changed
            is_space = found.what == "the declared space"
            yield Problem(
                at(item, "cells", each.name, "plan"),
                f"{each.cell.plan} changes {changed.address} ({changed.from_} -> {changed.to}) in {found.arm}: "
                + ("outside the declared space" if is_space else f"{found.what} that is not declared"),
                f"write {to_declare(found, item.model.scope)} before the first run, or leave the cell out",
                (("the plan", at(each.plan, "name")),),
            )


RULE = Rule(
    "cell-out-of-scope", Scope.DOCUMENT, Severity.ERROR, "a cell changes what its campaign does not declare", check,
    kinds=("campaign/v1",), contract=("10.5", "7.7"), since=5,
)  # fmt: skip
