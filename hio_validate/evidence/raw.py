"""Raw rows of a run, read from their bytes (contract 7.3).

Invariant: a cell that is no finite number never enters a statistic; it is refused with its line. An empty cell of a
metric is no number either: of a row that counts it says that the metric is unknown, and it is refused where the run
has no column of statuses, because there it may as well be a request that failed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from hio_validate.models.run import Run


class UnreadableRows(Exception):
    """The rows are not what the run says; `line` counts from 1 in the file of rows."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


class Row(NamedTuple):
    """One observation: the text of every cell, and its line in the file."""

    line: int
    cells: dict[str, str]


def read_rows(run: Run, raw: bytes) -> list[Row]:
    """The rows, checked against the run's columns and count. Raises UnreadableRows."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableRows(raw.count(b"\n", 0, error.start) + 1, "the line is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise UnreadableRows(1, "the rows begin with a byte order mark U+FEFF")
    if not text.strip():
        if run.raw.format == "jsonl" and run.raw.rows == 0:
            return []  # nothing was measured; a table says so with its header
        raise UnreadableRows(1, "the file of rows is empty")
    rows = _tsv(text, run) if run.raw.format == "tsv" else _jsonl(text, run)
    if len(rows) != run.raw.rows:
        last = rows[-1].line if rows else 1
        raise UnreadableRows(last, f"{len(rows)} rows up to here; the run says {run.raw.rows}")
    for row in rows:
        _check(row, run)
    return rows


def _tsv(text: str, run: Run) -> list[Row]:
    lines = text.split("\n")
    header = lines[0].rstrip("\r").split("\t")
    _same_columns(header, run, 1)
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) != len(header):
            raise UnreadableRows(number, f"{len(cells)} cells under a header of {len(header)} columns")
        rows.append(Row(number, dict(zip(header, cells, strict=True))))
    return rows


def _jsonl(text: str, run: Run) -> list[Row]:
    # Imported here: most rows are tab-separated.
    import json

    from hio_validate.source.strict_json import Twice, once

    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data: Any = json.loads(line, object_pairs_hook=once)
        except Twice as error:
            raise UnreadableRows(number, f"the key {error} stands twice") from None
        except (ValueError, RecursionError):
            raise UnreadableRows(
                number, "the line is no JSON object; log lines belong into a file of their own"
            ) from None
        if not isinstance(data, dict):
            raise UnreadableRows(number, "the line is no JSON object")
        _same_columns(list(data), run, number)
        rows.append(
            Row(
                number,
                {key: _cell(value, json.dumps) for key, value in data.items()},
            )
        )
    return rows


def _cell(value: Any, dumps: Callable[[Any], str]) -> str:
    """A value as a cell of a table would show it; null is an empty cell."""
    return value if isinstance(value, str) else "" if value is None else dumps(value)


def _same_columns(found: Sequence[str], run: Run, line: int) -> None:
    if len(set(found)) != len(found):
        raise UnreadableRows(line, "a column stands twice")
    missing, extra = sorted(set(run.columns) - set(found)), sorted(set(found) - set(run.columns))
    if missing or extra:
        what = [f"columns without a unit in the run: {', '.join(extra)}"] if extra else []
        what += [f"columns that the rows do not have: {', '.join(missing)}"] if missing else []
        raise UnreadableRows(line, "; ".join(what))


def _check(row: Row, run: Run) -> None:
    arm = row.cells.get(run.raw.arm)
    if arm is None:
        raise UnreadableRows(row.line, f'no column "{run.raw.arm}" that names the arm')
    if arm not in run.arms:
        raise UnreadableRows(row.line, f'the arm "{arm}" is not in the run: expected {" or ".join(run.arms)}')
    for column in (run.raw.leg, run.raw.phase, run.raw.status):
        if column is not None and column not in row.cells:
            raise UnreadableRows(row.line, f'no column "{column}", which the run names in raw:')
    for name, meaning in run.columns.items():
        may_be_empty = run.raw.status is not None or not counts(row, run)
        if meaning.better is not None and not (may_be_empty and is_unknown(row, name)):
            number(row, name)


def is_unknown(row: Row, metric: str) -> bool:
    """Whether nobody knows a metric of a row: an answer of one token has no gap between tokens."""
    return not row.cells[metric]


def counts(row: Row, run: Run) -> bool:
    """Whether a row is a measurement: neither a warm-up nor a check, and its request did not fail."""
    return is_measured(row, run) and not failure(row, run)


def is_measured(row: Row, run: Run) -> bool:
    """Whether a row is one of the requests that are measured; without a column of phases each is."""
    return run.raw.phase is None or row.cells[run.raw.phase] == "measured"


def failure(row: Row, run: Run) -> str:
    """What went wrong with a row's request; "" where nothing did or the run has no column that says so."""
    status = row.cells[run.raw.status] if run.raw.status is not None else OK
    return "" if status == OK else status or "no status"


OK = "ok"
"""What the column of statuses says of a request that did not fail."""

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""Stricter than float(), which also takes `1_000`, blanks, `nan` and digits of other scripts."""


def number(row: Row, column: str) -> float:
    """A measured cell as a finite number. Raises UnreadableRows."""
    text = row.cells[column]
    if not _NUMBER.fullmatch(text):
        if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
            raise UnreadableRows(row.line, f"{column} is {text}: not a finite number")
        raise UnreadableRows(row.line, f'{column} is "{text}": expected a number; a failed row is no zero')
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableRows(row.line, f"{column} is {text}: not a finite number")
    return value


def agrees(published: float, computed: float) -> bool:
    """Whether a published number is the computed one, rounded to the digits it shows."""
    exponent = Decimal(repr(published)).as_tuple().exponent
    half_a_digit = 0.5 * 10.0 ** int(exponent)
    return abs(published - computed) <= half_a_digit + 1e-9
