"""A published number that the raw rows do not give.

Numbers are typed into decisions by tired people at the end of a long night: a sign is lost, the wrong column is
read, a mean stands where the median was meant. hio computes every derived number again from the pinned rows
(contract 7.3) and compares it to the digits that were published: `5` stands for 4.5 to 5.5, `5.3` for 5.25 to
5.35.

The number is 100 * (to / from - 1) of the mean or median of each arm's trials: its legs that count, each with the
median of its measured requests; its rows, where the run does not number its legs. A metric must be a column of the
run that says which direction is better.

How to fix: write what the rows give, or name the metric, the arms and the statistic that were meant. In a
committed entry leave the number and add a `correction` entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, agrees, read_rows
from hio_validate.evidence.trials import Trial, change_percent, known, plan_of, trials_of
from hio_validate.models.entry import Result
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    result = getattr(item.model, "result", None)
    run = view.repo.run_of(item) if result else None
    raw = view.repo.beside(run, run.model.raw.file) if run else None
    if run is None or raw is None or result is None:
        return
    column = run.model.columns.get(result.metric)
    if column is None or column.better is None:
        yield Problem(
            at(item, "result", "metric"),
            f"{run.name} has no metric {result.metric}",
            "name a column of the run that says which direction is better",
            (("its columns", Place(run.document, ("columns",), at_key=True)),),
        )
        return
    try:
        rows, plan = read_rows(run.model, raw), plan_of(run, view.repo)
        computed = change_percent(result, run.model, rows, plan)
    except UnreadableRows:
        return
    if computed is None:
        yield from _not_computable(item, result, run, trials_of(run.model, rows, plan))
    elif not agrees(result.change_percent, computed):
        yield Problem(
            at(item, "result", "change_percent"),
            f"change of {result.metric} is {result.change_percent} % here; the raw rows give {computed:.6g} %",
            f"the {result.statistic} of {result.to_arm} over that of {result.from_arm}, minus one, in percent",
            (("the raw rows", Place(run.document, ("raw", "file"))),),
        )


def _not_computable(item: Item, result: Result, run: Item, trials: Sequence[Trial]) -> Iterator[Problem]:
    """Why there is no number: an arm without trials that count and know the metric, or a reference of 0."""
    measured = {trial.arm for trial in trials if trial.counted}
    measured = {arm for arm in measured if known(trials, arm, result.metric)}
    for key, arm in (("from", result.from_arm), ("to", result.to_arm)):
        if arm not in measured:
            yield Problem(
                at(item, "result", key),
                f"{run.name} has no rows of the arm {arm} that count",
                f"it has rows of {listed(sorted(measured))}"
                if measured
                else "it has no rows: nothing was measured",
                (("the arms", Place(run.document, ("arms",), at_key=True)),),
            )
    if {result.from_arm, result.to_arm} <= measured:
        yield Problem(
            at(item, "result", "change_percent"),
            f"the {result.statistic} of {result.metric} of {result.from_arm} is 0: a change in percent does not exist",
            "leave the result out",
            (("the raw rows", Place(run.document, ("raw", "file"))),),
        )


RULE = Rule(
    "recomputed-mismatch", Scope.DOCUMENT, Severity.ERROR, "a published number is not what the raw rows give", check,
    kinds=("entry/v1",), contract=("7.3",), suppressible=False, spares_corrected=True,
)  # fmt: skip
