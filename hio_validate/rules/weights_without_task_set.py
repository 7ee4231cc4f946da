"""A cell that serves other weights and asks no task set.

Another quantisation answers differently, and one check that passes says nothing of the other answers. Contract 10.4: the
same dataset, a floor that is met and a receipt, on the baseline and on each candidate that is kept. A cell whose arms
differ in the file that they serve therefore needs a task set in its plan; without it there is no champion, however long
it was measured. Computed from the stacks and deltas of the cell's plan, as long as the campaign is not recorded: then its
plans are frozen.

How to fix: write `quality: {tasks: ..., floor: ..., margin: ...}` in the plan, and the same as `accuracy:` of the campaign,
before the first run.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import cells_of, records_of
from hio_validate.evidence.campaign_scope import changes_weights
from hio_validate.evidence.design import contrasts
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    if records_of(item, view.repo):
        return
    for each in cells_of(item, view.repo):
        if each.plan is None or each.plan.model.quality is not None:
            continue
        for contrast in contrasts(each.plan, view.repo, view.settings):
            for changed in filter(changes_weights, contrast.factors):
                yield Problem(
                    at(item, "cells", each.name, "plan"),
                    f"{each.cell.plan} serves other weights in {contrast.arm} ({changed.address}: "
                    f"{changed.from_} -> {changed.to}) and asks no task set",
                    "write quality: {tasks: ..., floor: ..., margin: ...} in the plan, before the first run",
                    (("the plan", at(each.plan, "name")),),
                )


RULE = Rule(
    "weights-without-task-set", Scope.DOCUMENT, Severity.ERROR, "a cell serves other weights and asks no task set", check,
    kinds=("campaign/v1",), contract=("10.4", "10.5"), since=6,
)  # fmt: skip
