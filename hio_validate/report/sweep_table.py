"""Several records of one file as one table: a row a record, with what distinguishes them and their numbers as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hio_validate.evidence.observed import Fact, Observation
from hio_validate.report.columns_of_numbers import GAP, aligned, width_of
from hio_validate.report.metric_rows import Quantity, by_importance, count, in_order, quantities, shown

_FEW = 3
"""Quantities that are shown with their spread; of more, the middle and the slow end are."""
_HEAD = 24
"""Columns of a name above its numbers."""
_LEAST = 36
"""Columns that a name leaves to the others."""
Key = tuple[str, str, str]


class _Column(NamedTuple):
    head: tuple[str, ...]
    """The name in pieces, the unit, the statistic."""
    cells: list[str]

    @property
    def width(self) -> int:
        return GAP + width_of([*self.head, *self.cells])


def sweep_table(
    records: Sequence[Observation], own: Sequence[Mapping[str, Fact]], width: int, left_out: dict[str, None]
) -> str | None:
    """The table; `own` are the facts that distinguish each record. None where two quantities of a record cannot be told apart."""
    rows = [_by_key(record) for record in records]
    if any(row is None for row in rows):
        return None
    known = [row for row in rows if row is not None]
    columns = _numbers(known, left_out)
    names = [record.name for record in records]
    room = max(16, width - GAP - _LEAST)
    taken = GAP + max([len(name) for name in names if len(name) <= room] or [6])
    counts = _Column(("n",), [_counts(row.values()) for row in known])
    left = width - taken - counts.width
    numbers = _width([column for of_one in columns for column in of_one])
    needed = numbers if numbers <= left else _width(columns[0])
    leading = [*_leading(records, own, left - needed), *([counts] if any(counts.cells) else [])]
    text = ""
    for part in _parts(leading, columns, width - taken):
        heads = _heads(part)
        cells = [[name, *(each.cells[at] for each in part)] for at, name in enumerate(names)]
        text += ("\n" if text else "") + aligned(heads + cells, 1, room)
    return text


def _by_key(record: Observation) -> dict[Key, Quantity] | None:
    rows = quantities(record.metrics)
    found = {(row.name, row.unit, row.better): row for row in rows}
    return found if len(found) == len(rows) else None


def _numbers(rows: Sequence[Mapping[Key, Quantity]], left_out: dict[str, None]) -> list[list[_Column]]:
    """The columns of each quantity."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = []
    for key in keys:
        of_one = []
        present = by_importance(word for row in rows if key in row for word in row[key].numbers)
        wanted = [word for word in present if word in ("mean", "median", "p99", "std")]
        if len(keys) > _FEW:
            wanted = [word for word in wanted if word != "std" and (word != "median" or "mean" not in wanted)]
        words = in_order(wanted or present[:1])
        words += [word for word in ("value", "total") if word in present and word not in words]
        left_out.update(dict.fromkeys(word for word in present if word not in words))
        for at, word in enumerate(words):
            name = () if at else (*_pieces(key[0]), "" if key[1] == "1" else key[1])
            cells = [shown(row[key].numbers.get(word)) if key in row else "-" for row in rows]
            of_one.append(_Column((*name, word), cells))
        columns.append(of_one)
    return columns


def _parts(leading: list[_Column], columns: Sequence[list[_Column]], room: int) -> list[list[_Column]]:
    """The columns in parts that fit, each quantity in one; what distinguishes the records stands in the first one."""
    parts, left = [list(leading)], room - _width(leading)
    whole = [[each] for of_one in columns for each in of_one] if _is_too_wide(columns, room) else columns
    for each in whole:
        if _width(each) > left and parts[-1]:
            parts.append([])
            left = room
        parts[-1] += each
        left -= _width(each)
    return parts


def _is_too_wide(columns: Sequence[list[_Column]], room: int) -> bool:
    return any(_width(each) > room for each in columns)


def _heads(part: Sequence[_Column]) -> list[list[str]]:
    """The lines above the numbers, each head ending on the last of them."""
    most = max(len(each.head) for each in part)
    heads = [("",) * (most - len(each.head)) + each.head for each in part]
    lines = [[head[at] for head in heads] for at in range(most)]
    return [["record" if at == most - 1 else "", *line] for at, line in enumerate(lines)]


def _pieces(name: str) -> list[str]:
    """A name over several lines, so that a column is not wider for its sake than for its numbers."""
    pieces = [""]
    for word in re.findall(r"[^_ .-]*[_ .-]*", name):
        if pieces[-1] and len(pieces[-1] + word) > _HEAD:
            pieces.append("")
        pieces[-1] += word
    return [piece.rstrip() for piece in pieces]


def _width(columns: Sequence[_Column]) -> int:
    return sum(each.width for each in columns)


def _leading(records: Sequence[Observation], own: Sequence[Mapping[str, Fact]], room: int) -> list[_Column]:
    """What distinguishes the records, as far as it leaves room for a number."""
    found = []
    for key in _telling(records, own):
        column = _Column((key,), [_said(facts.get(key)) for facts in own])
        if column.width <= room:
            found.append(column)
            room -= column.width
    return found


def _telling(records: Sequence[Observation], own: Sequence[Mapping[str, Fact]]) -> list[str]:
    """Facts that a record's name does not say already."""
    keys = dict.fromkeys(key for facts in own for key in facts)
    return [
        key
        for key in keys
        if not all(
            str(facts.get(key, "")) in record.name or not facts.get(key)
            for record, facts in zip(records, own, strict=True)
        )
    ]


def _said(value: Fact | None) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _counts(rows: Iterable[Quantity]) -> str:
    """How many observations the numbers of a record are of: 89, or 30-89; nothing where they are totals."""
    told = [count(row) for row in rows]
    if not told:
        return "-"
    if "?" in told:
        return "?"
    known = sorted({int(each) for each in told if each})
    return "-".join(str(each) for each in dict.fromkeys((known[0], known[-1]))) if known else ""
