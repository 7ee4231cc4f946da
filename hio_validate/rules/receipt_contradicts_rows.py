"""A receipt whose numbers do not follow from the rows that it keeps.

A quality receipt that keeps its items has as many of them as `n`, and their mean as its value; an operator test has the
counts of its cases; human scores are as many as `items` and within the scale. Whatever else stands in the document was
written by hand or by mistake, and a gate would decide on it (contract 7.3). Rows that cannot be read are no rows.

How to fix: bring back the files as they were recorded, or record the source again under another name.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.quality_receipts import UnreadableItemRows
from hio_validate.evidence.receipt_rows import Found, of_operators, of_quality, of_scores
from hio_validate.models.receipt import HumanScore, OperatorTest, Quality
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file

_ADVICE = "bring back what was recorded, or record the source again"


def check(item: Item, view: View) -> Iterator[Problem]:
    file = _rows_file(item)
    raw = view.repo.beside(item, file) if file else None
    if raw is None or file is None:
        return
    try:
        for path, said in list(_contradictions(item, raw)):
            yield Problem(at(item, *path), said, _ADVICE)
    except UnreadableItemRows as error:
        yield Problem(in_file(normpath(f"{item.file}/../{file}"), error.line, 1), error.message, _ADVICE)


def _rows_file(item: Item) -> str | None:
    model = item.model
    kept = getattr(model, "rows", None) or getattr(model, "cases", None) or getattr(model, "scores", None)
    return kept.file if kept else None


def _contradictions(item: Item, raw: bytes) -> Found:
    model = item.model
    if isinstance(model, Quality):
        yield from of_quality(model, raw)
    elif isinstance(model, OperatorTest):
        yield from of_operators(model, raw)
    elif isinstance(model, HumanScore):
        yield from of_scores(model, raw)


RULE = Rule(
    "receipt-contradicts-rows", Scope.DOCUMENT, Severity.ERROR, "a receipt is not what its rows say", check,
    kinds=("receipt/v1",), contract=("7.3",), suppressible=False, since=5,
)  # fmt: skip
