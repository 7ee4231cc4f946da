"""Columns of text that fit a terminal: the last column wraps, the others are cut where they must be.

Invariant: no line is wider than asked for, unless a single word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from hio_validate.report.visible import columns as wide
from hio_validate.report.visible import visible


def table(rows: Sequence[Sequence[str]], width: int = 80, head: Sequence[str] = ()) -> str:
    """Rows as aligned lines, each ending with a newline; all rows have as many cells as the first."""
    shown = [[visible(cell) for cell in row] for row in ([head, *rows] if head else rows)]
    if not shown:
        return ""
    widths = _widths(shown, width)
    lines = []
    for row in shown:
        *cells, last = row
        start = "".join(
            _padded(_cut(cell, size), size) + "  " for cell, size in zip(cells, widths, strict=True)
        )
        room = max(20, width - wide(start))
        pieces = wrap(last, room, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [(start + pieces[0]).rstrip(), *(" " * wide(start) + piece for piece in pieces[1:])]
    return "\n".join(lines) + "\n"


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Each column as wide as its widest cell, the widest ones shortened until 20 columns are left for the last."""
    widths = [max(wide(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    while widths and sum(widths) + 2 * len(widths) > width - 20 and max(widths) > 12:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cut(cell: str, size: int) -> str:
    return cell if wide(cell) <= size else cell[: size - 1] + "…"


def _padded(cell: str, size: int) -> str:
    return cell + " " * (size - wide(cell))
