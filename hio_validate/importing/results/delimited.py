"""Rows of a CSV file with the line that each begins on, as a stream."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from hio_validate.importing.results.source import LONGEST, Source


def rows(source: Source, lines: Iterable[tuple[int, str]] | None = None) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not blank. Raises CannotImport for a quote that nothing closes.

    lines: those of the source, or some of them.
    """
    at = [0, 0]

    def told() -> Iterator[str]:
        for number, text in source.lines() if lines is None else lines:
            at[0] = at[0] or number
            at[1] = number
            yield text + "\n"

    csv.field_size_limit(LONGEST)
    reader = csv.reader(told(), strict=True)
    while True:
        at[0] = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = "a quote is opened and never closed" if "end of data" in str(error) else str(error)
            raise source.refuse(
                f"no CSV from here on: {what}", "import the file as the tool wrote it", at[0] or at[1]
            ) from None
        if any(cell.strip() for cell in cells):
            yield at[0], cells


def is_cut(source: Source) -> bool:
    """Whether the last line has no end: every writer of these tables ends it, so that its last cell may be half a number."""
    return not source.tail(1).endswith("\n")


CUT = "the last line has no end: the file was cut, and its last number may be half of one"
