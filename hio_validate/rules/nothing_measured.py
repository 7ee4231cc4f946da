"""A decision about a run that measured nothing that counts.

A run whose legs were all invalid, failed or never reached their requests is no pass and no loss: it is not measurable
(contract 6.7). It stays on record as a failed run, and whatever is decided about its setting needs another one.

How to fix: append a `failed-run` with the run (`hio ledger append failed-run --from-run RUN`), and measure again. A
committed entry stays: append a `correction`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import plan_of, trials_of
from hio_validate.models.entry import Decision, Increment, NegativeControl
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed, with_article


def check(item: Item, view: View) -> Iterator[Problem]:
    run = view.repo.run_of(item)
    raw = view.repo.beside(run, run.model.raw.file) if run else None
    if run is None or raw is None or not _decides(item):
        return
    try:
        trials = trials_of(run.model, read_rows(run.model, raw), plan_of(run, view.repo))
    except UnreadableRows:
        return
    if any(trial.counted for trial in trials):
        return
    why = listed(dict.fromkeys(reason for trial in trials for reason in trial.invalid), 2)
    yield Problem(
        at(item, "pins", "run"),
        f"{item.name} is {with_article(item.model.kind)}, and {run.name} measured nothing that counts"
        + (f": {why}" if why else ""),
        "keep the run as a failed-run and measure again",
        (("the raw rows", Place(run.document, ("raw", "file"))),),
        severity=Severity.GATE if item.model.imported or run.model.imported else None,
    )


def _decides(item: Item) -> bool:
    """Whether an entry says that something was measured; a stopped trial is a decision about its hazard."""
    model = item.model
    return isinstance(model, Increment | NegativeControl) or (
        isinstance(model, Decision) and model.decision != "stop-trial"
    )


RULE = Rule(
    "nothing-measured", Scope.DOCUMENT, Severity.ERROR, "a decision pins a run that measured nothing", check,
    kinds=("entry/v1",), contract=("6.7",), since=3, suppressible=False, spares_older=True, spares_corrected=True,
)  # fmt: skip
