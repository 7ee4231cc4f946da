"""Columns of text that fit a terminal: the last column wraps, the others are cut where they must be.

Where a terminal is too narrow for columns, a row's first cell stands alone and the others wrap below it.

Invariant: no line is wider than asked for, unless a single word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from hio_validate.report.visible import columns as wide
from hio_validate.report.visible import visible

_LEAST_OF_THE_LAST = 20
"""Columns that the last column must have, to be read."""
_NARROW = 60
"""Below, a cut cell tells too little."""


def table(
    rows: Sequence[Sequence[str]], width: int = 80, head: Sequence[str] = (), whole: bool = False
) -> str:
    """Rows as aligned lines, each ending with a newline; all rows have as many cells as the first.

    `whole`: the first cells are names that a person types, so they are never cut; a table too narrow for them is
    stacked.
    """
    shown = [[visible(cell) for cell in row] for row in ([head, *rows] if head else rows)]
    if not shown:
        return ""
    widths = _widths(shown, width, whole)
    cut = any(wide(row[column]) > size for row in shown for column, size in enumerate(widths))
    if (cut and width < _NARROW) or sum(widths) + 2 * len(widths) > width - _LEAST_OF_THE_LAST:
        return "".join(_stacked(row, width) for row in shown)
    lines = []
    for row in shown:
        *cells, last = row
        start = "".join(
            _padded(_cut(cell, size), size) + "  " for cell, size in zip(cells, widths, strict=True)
        )
        room = width - wide(start)
        pieces = wrap(last, room, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [(start + pieces[0]).rstrip(), *(" " * wide(start) + piece for piece in pieces[1:])]
    return "\n".join(lines) + "\n"


def _widths(rows: Sequence[Sequence[str]], width: int, whole: bool) -> list[int]:
    """Each column as wide as its widest cell; where not `whole`, the widest ones are shortened until enough is left for
    the last."""
    widths = [max(wide(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    while (
        not whole
        and widths
        and sum(widths) + 2 * len(widths) > width - _LEAST_OF_THE_LAST
        and max(widths) > 12
    ):
        widths[widths.index(max(widths))] -= 1
    return widths


def _stacked(row: Sequence[str], width: int) -> str:
    rest = "  ".join(cell for cell in row[1:] if cell)
    lines = [
        *wrap(row[0], width, break_long_words=False, break_on_hyphens=False),
        *(f"    {line}" for line in wrap(rest, width - 4, break_long_words=False, break_on_hyphens=False)),
    ]
    return "".join(f"{line}\n" for line in lines)


def _cut(cell: str, size: int) -> str:
    return cell if wide(cell) <= size else cell[: size - 1] + "…"


def _padded(cell: str, size: int) -> str:
    return cell + " " * (size - wide(cell))
