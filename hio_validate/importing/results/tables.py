"""Rows of a CSV table as objects: what is written is read as JSON reads it, and an empty cell is absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.importing.results.objects import Skipped
from hio_validate.importing.results.source import Source


def table(source: Source, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, row) of a table with a header, as pandas writes it; its unnamed index is left out. Raises CannotImport."""
    lines = source.lines()
    first = next(lines, None)
    if first is None:
        raise source.refuse("it is empty", "import the file as the tool wrote it")
    header = _cells(source, first[1], first[0])
    for name in header:
        if header.count(name) > 1:
            raise source.refuse(f"the column {name} stands twice", "keep the one that is meant", first[0])
    for line, text in lines:
        row = _cells(source, text, line)
        if len(row) != len(header):
            skipped.line(line, text)
            continue
        yield line, {name: _value(cell) for name, cell in zip(header, row, strict=True) if name and cell}


def _cells(source: Source, text: str, line: int) -> list[str]:
    import csv  # only where a table is imported

    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise source.refuse(
            f"no row of a table ({error})", "import the file as the tool wrote it", line
        ) from None


def _value(cell: str) -> str | int | float:
    for read in (int, float):
        try:
            value = read(cell)
        except ValueError:
            continue
        if "_" not in cell and cell.lower().strip("+-") not in ("nan", "inf", "infinity"):
            return value
    return cell
