"""A row of a run that does not follow from what the client received.

A run that hio measured keeps, beside its rows, when each piece of each answer arrived (`events`) and what was counted of
each request (`logs/NN-arm.requests.jsonl.gz`). A number in the rows that neither gives was written by hand, or by mistake
(contract 7.3): every statistic, every verdict and every entry stands on these rows.

Compared are all columns that both name, to the six digits that the rows keep; ttft_ms, itl_ms, tpot_ms and wall_s are
computed again from the arrivals. A run without such receipts, as history from before hio has none, is not judged here.

How to fix: bring back the rows as hio wrote them (`git checkout`, or `hio runs --recover` while the job's folder is
there). If they are right and a receipt is not, the run cannot be believed: measure again, and let an entry say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.arrivals import UnreadableReceipts
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.received import contradictions
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file

_ADVICE = "bring back the rows that hio wrote, or measure again"


def check(item: Item, view: View) -> Iterator[Problem]:
    run: Run = item.model
    raw = view.repo.beside(item, run.raw.file)
    if raw is None:
        return
    file = normpath(f"{item.file}/../{run.raw.file}")
    try:
        for row, said in contradictions(item, read_rows(run, raw), view.repo):
            yield Problem(in_file(file, row.line, 1), said, _ADVICE, (("the receipts", at(item, "events")),))
    except UnreadableRows:
        return
    except UnreadableReceipts as error:
        yield Problem(at(item, "events"), f"what the client received cannot be read: {error}", _ADVICE)


RULE = Rule(
    "rows-contradict-receipts", Scope.DOCUMENT, Severity.ERROR, "a row is not what the client received", check,
    kinds=("run/v1",), contract=("7.3", "1.4"), since=4,
)  # fmt: skip
