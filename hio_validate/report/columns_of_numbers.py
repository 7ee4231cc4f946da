"""Columns of numbers that fit a terminal: names to the left, numbers to the right, nothing cut.

Invariant: no line is wider than asked for, unless a single name is; a name that is too long stands alone on its line.
"""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.report.visible import columns as wide
from hio_validate.report.visible import visible

GAP = 2


def aligned(rows: Sequence[Sequence[str]], left: int, name_room: int, indent: int = 2) -> str:
    """Rows as lines, the first is the head; the first `left` cells begin at the left, the others end at the right.

    A first cell wider than `name_room` stands alone, its other cells below it.
    """
    told = [[visible(cell) for cell in row] for row in rows]
    short = [wide(row[0]) for row in told if wide(row[0]) <= name_room]
    sizes = [max(short, default=4)]
    sizes += [width_of([row[column] for row in told]) for column in range(1, len(told[0]))]
    text = ""
    for row in told:
        cells = list(row)
        if wide(cells[0]) > name_room:
            text += f"{' ' * indent}{cells[0]}\n"
            cells[0] = ""
        line = " " * indent + _placed(cells[0], sizes[0], True)
        for at in range(1, len(cells)):
            starred = at >= left and any(other[at].endswith("*") for other in told)
            cell = cells[at] + " " if starred and not cells[at].endswith("*") else cells[at]
            line += " " * GAP + _placed(cell, sizes[at], at < left)
        text += f"{line.rstrip()}\n" if line.strip() else ""
    return text


def width_of(cells: Sequence[str]) -> int:
    """Columns that these cells need, the place of a star included."""
    most = max(wide(cell.removesuffix("*")) for cell in cells)
    return most + any(cell.endswith("*") for cell in cells)


def _placed(cell: str, size: int, at_the_left: bool) -> str:
    blanks = " " * max(0, size - wide(cell))
    return cell + blanks if at_the_left else blanks + cell
