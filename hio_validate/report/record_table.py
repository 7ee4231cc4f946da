"""The numbers of one record as tables of a terminal's width: a row a quantity, a column a statistic."""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.report.columns_of_numbers import GAP, aligned, width_of
from hio_validate.report.metric_rows import (
    DIRECTION,
    LOOKED_FOR,
    Quantity,
    by_importance,
    by_kind,
    count,
    in_order,
    shown,
)

_NAME = 30
"""Columns of a name that stands beside its numbers."""
_MOST = 6
"""Columns of statistics."""
_FEW = 4
"""Fewer columns of those that are looked for are filled up with others."""


def record_table(rows: Sequence[Quantity], width: int, left_out: dict[str, None]) -> str:
    """The tables; what has no room is noted in `left_out`."""
    return "".join(_one_kind(kind, width, left_out) for kind in by_kind(rows))


def _one_kind(rows: Sequence[Quantity], width: int, left_out: dict[str, None]) -> str:
    start = _leading(rows)
    room = width - GAP - max(len(each[0]) for each in start if len(each[0]) <= _NAME)
    room -= sum(GAP + width_of([each[at] for each in start]) for at in range(1, len(start[0])))
    statistics = _fitting(rows, room)
    left_out.update(dict.fromkeys(word for row in rows for word in row.numbers if word not in statistics))
    lines = [[*start[0], *statistics]]
    lines += [
        [*each, *(shown(row.numbers.get(word)) for word in statistics)]
        for each, row in zip(start[1:], rows, strict=True)
    ]
    left = 1 + ("unit" in start[0])
    return aligned(lines, left, _NAME)


def _leading(rows: Sequence[Quantity]) -> list[list[str]]:
    """The head and each row without its numbers: its name, and its unit and count where any row has one."""
    columns = [[DIRECTION[rows[0].better], *(row.name for row in rows)]]
    for head, cells in (("unit", [_unit(row) for row in rows]), ("n", [count(row) for row in rows])):
        if any(cells):
            columns.append([head, *cells])
    return [list(cells) for cells in zip(*columns, strict=True)]


def _unit(row: Quantity) -> str:
    return "" if row.unit == "1" else row.unit


def _fitting(rows: Sequence[Quantity], room: int) -> list[str]:
    """The statistics that have room: of each row at least one, then as they are looked for."""
    needed = [by_importance(row.numbers)[0] for row in rows]
    chosen: list[str] = []
    for word in dict.fromkeys([*needed, *by_importance(key for row in rows for key in row.numbers)]):
        size = GAP + width_of([word, *(shown(row.numbers.get(word)) for row in rows)])
        is_looked_for = word in LOOKED_FOR or len(chosen) < _FEW
        if word in needed or (is_looked_for and size <= room and len(chosen) < _MOST):
            chosen.append(word)
            room -= size
    return in_order(chosen)
