"""An entry that publishes a speed from arms that did not do the same work.

The faster arm generated 63 tokens and the slower one 64, drafted less, took half of its prompt from a cache, or answered
something else: tokens per second of different work are not compared (contract 6.3). The work is compared request by
request, over the legs that count: the prompt, tokens evaluated, generated, drafted and accepted, the answer. How far
tokens may differ is what the pinned plan says (`same_work`); without a plan nothing may. What a server does not report
is not known to differ.

How to fix: a committed entry stays: append a `correction`. Before that, leave the result out, keep the branch as
research, and measure again with a fixture, a seed and a cache regime that make the arms do the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import plan_of, trials_of
from hio_validate.evidence.work_done import STRICT, unequal_work
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    result = getattr(item.model, "result", None)
    run = view.repo.run_of(item) if result else None
    raw = view.repo.beside(run, run.model.raw.file) if run else None
    if run is None or raw is None or result is None or result.from_arm == result.to_arm:
        return
    try:
        rows = read_rows(run.model, raw)
    except UnreadableRows:
        return
    plan = plan_of(run, view.repo)
    trials = trials_of(run.model, rows, plan)
    allowed = plan.same_work if plan is not None else STRICT
    different = unequal_work(run.model, trials, (result.from_arm, result.to_arm), allowed)
    if different:
        more = f", and {len(different) - 1} more" if len(different) > 1 else ""
        yield Problem(
            at(item, "result", "change_percent"),
            f"{result.metric} of {run.name} is published, and {different[0].sentence}{more}",
            "speeds of different work are not compared",
            (("the raw rows", Place(run.document, ("raw", "file"))),),
            severity=Severity.GATE if item.model.imported or run.model.imported else None,
        )


RULE = Rule(
    "not-same-work", Scope.DOCUMENT, Severity.ERROR, "a published speed is of arms that did different work", check,
    kinds=("entry/v1",), contract=("6.3",), since=3, suppressible=False, spares_older=True, spares_corrected=True,
)  # fmt: skip
