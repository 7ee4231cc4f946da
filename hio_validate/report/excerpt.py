"""A source line with its number, and a caret under one character of it.

Invariant: both lines fit the width, and the caret stands under the first column of the character that the
location names, whatever tabs, wide or hidden characters stand before it and however long the line is.
"""

from __future__ import annotations

from typing import NamedTuple

from hio_validate.report.visible import columns, visible

_TAB = "    "
_CUT = "…"


class Excerpt(NamedTuple):
    """Two lines of equal left margin: the source, and the caret ("" where no column is known)."""

    source: str
    caret: str


def excerpt(source_line: str, line: int, column: int, width: int) -> Excerpt:
    """The source line cut to `width` columns around `column` (counted from 1 in code points; 0: none)."""
    margin = f"  {line} | "
    below = " " * (len(margin) - 2) + "| "
    room = max(width - len(margin), 20)
    start = min(max(column - 1, 0), len(source_line))
    # One column per character is the least a cut line shows, so nothing further away can be seen.
    first = max(start - room, 0)
    window = [_shown(char) for char in source_line[first : start + room + 1]]
    shown, offset = _cut(window, start - first, room, first > 0, start + room + 1 < len(source_line))
    return Excerpt((margin + shown).rstrip(), below + " " * offset + "^" if column else "")


def _shown(char: str) -> str:
    return _TAB if char == "\t" else visible(char)


def _cut(cells: list[str], at: int, room: int, more_left: bool, more_right: bool) -> tuple[str, int]:
    """The cells around `at` that fit into `room` columns, and the columns that stand before `at`."""
    while 0 < at < len(cells) and not columns(cells[at]):
        at -= 1  # a combining mark is drawn on the character before it
    if not more_left and not more_right and columns("".join(cells)) + (at == len(cells)) <= room:
        return "".join(cells), columns("".join(cells[:at]))
    left, right = _span([columns(cell) for cell in cells], at, room - 2 * len(_CUT))
    before = (_CUT if more_left or left else "") + "".join(cells[left:at])
    after = _CUT if more_right or right < len(cells) else ""
    return before + "".join(cells[at:right]) + after, columns(before)


def _span(sizes: list[int], at: int, room: int) -> tuple[int, int]:
    """The half-open range of cells around `at`, grown on both sides in turn while it fits into `room`."""
    left, right = at, min(at + 1, len(sizes))
    room -= sizes[at] if at < len(sizes) else 1
    growing = True
    while growing:
        growing = False
        if left > 0 and sizes[left - 1] <= room:
            left, room, growing = left - 1, room - sizes[left - 1], True
        if right < len(sizes) and sizes[right] <= room:
            right, room, growing = right + 1, room - sizes[right], True
    while left < at and not sizes[left]:
        left += 1  # a line never starts with a combining mark: it would be drawn on the cut
    return left, right
