"""Raw rows that are not what their run says: a cell that is no number, a missing column, an unknown arm, a wrong count.

A failed leg is not 0 token/s, and a blank cell is not the mean of its neighbours: where a column of statuses says
that the request went well, an empty metric is unknown and its trial has no value for it (an answer of one token has no
time between tokens); without such a column it is refused. A reader that skips what it
does not understand publishes a median of the rows that happened to parse, so here one such row makes the whole
run unreadable (contract 7.3: every derived number is computed again from the raw rows). Every column has a unit
in the run, or a number in it means nothing (contract 6.5). The first fault of a file is reported.

How to fix: raw rows are never edited once the run is committed. Before that, describe them as they are in
run.yaml (columns, units, arms, number of rows), and keep a leg that failed as a run of its own, where nothing
is promised about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file


def check(item: Item, view: View) -> Iterator[Problem]:
    raw = view.repo.beside(item, item.model.raw.file)
    if raw is None:
        return
    try:
        read_rows(item.model, raw)
    except UnreadableRows as error:
        file = normpath(f"{item.file}/../{item.model.raw.file}")
        yield Problem(
            in_file(file, error.line, 1),
            error.message,
            "raw rows are never edited: describe them as they are in run.yaml",
            (("the run", at(item, "raw", "file")),),
        )


RULE = Rule(
    "unreadable-rows", Scope.DOCUMENT, Severity.ERROR, "raw rows are not what the run says", check,
    kinds=("run/v1",), contract=("6.5", "7.3"), suppressible=False,
)  # fmt: skip
