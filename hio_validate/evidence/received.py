"""Whether the rows of a run follow from what its client received (contract 7.3).

Invariant: a run without such receipts is not judged here; where it has them, a row that counts has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from hio_validate.evidence.arrivals import json_lines, of_event
from hio_validate.evidence.raw import Row
from hio_validate.models.run import Run
from hio_validate.repo import Item, Repo

_REQUEST = "request"
_OK = "ok"
_ANSWERS = ".requests.jsonl.gz"
_ROUNDED = 1e-6
"""Rows keep six digits behind the point."""

Receipts = dict[tuple[str, str], dict[str, Any]]
"""(leg, request) -> what a receipt says of it."""


def contradictions(item: Item, rows: list[Row], repo: Repo) -> Iterator[tuple[Row, str]]:
    """Every row that is not what was received, and how; none where the run kept no receipts. Raises UnreadableReceipts."""
    run: Run = item.model
    if run.events is None or not run.raw.leg or _REQUEST not in run.columns:
        return
    answers, arrivals = _answers(item, repo), _arrivals(item, repo)
    for row in rows:
        said = _contradiction(row, run, answers, arrivals)
        if said:
            yield row, said


def _arrivals(item: Item, repo: Repo) -> Receipts:
    kept = repo.beside(item, item.model.events.file)
    lines = json_lines(kept) if kept is not None else ()
    return {(str(line.get("leg")), str(line.get(_REQUEST))): line for line in lines}


def _answers(item: Item, repo: Repo) -> Receipts:
    """What the client counted; each leg has a file of its own, whose name begins with its number."""
    found: Receipts = {}
    for log in item.model.logs:
        name = log.file.rpartition("/")[2]
        leg = name.partition("-")[0]
        if not (name.endswith(_ANSWERS) and leg.isdecimal()):
            continue
        kept = repo.beside(item, log.file)
        for line in json_lines(kept) if kept is not None else ():
            found[str(int(leg)), str(line.get(_REQUEST))] = line
    return found


def _contradiction(row: Row, run: Run, answers: Receipts, arrivals: Receipts) -> str | None:
    """What of a row is not what was received, in words; nothing of a request that failed."""
    assert run.raw.leg
    key = row.cells[run.raw.leg], row.cells[_REQUEST]
    if run.raw.status and row.cells[run.raw.status] != _OK:
        return None
    answer, event = answers.get(key), arrivals.get(key)
    if event is None:
        return f"nothing was received for request {key[1]} of leg {key[0]}"
    try:
        again = of_event(event, int(row.cells.get("generated") or 0))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return f"the arrivals of request {key[1]} of leg {key[0]} cannot be read"
    return _differing(row, again, "its pieces arrived so that it is") or _differing(
        row, answer or {}, "the client noted"
    )


def _differing(row: Row, receipt: Mapping[str, Any], how: str) -> str | None:
    for name, value in receipt.items():
        cell = row.cells.get(name)
        if cell is not None and not _is_same(cell, value):
            return f"{name} is {cell or 'empty'}; {how} {_shown(value)}"
    return None


def _is_same(cell: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return cell == " ".join(str(value).split())
    try:
        return isclose(float(cell), float(value), rel_tol=1e-9, abs_tol=_ROUNDED)
    except ValueError:
        return False


def _shown(value: object) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
