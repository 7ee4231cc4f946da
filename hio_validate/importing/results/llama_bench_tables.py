"""Tables of llama-bench in Markdown, alone or in a page with other text.

Source: markdown_printer of llama-bench.cpp: chosen columns only, `pp 512` in 2023 and `pp512` since, `@ d4096`,
`mean ± standard deviation` with two decimals, and after the table `build: commit (number)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.importing.results.llama_bench_fields import IN_TABLES, Row, Unreadable, row_of
from hio_validate.importing.results.source import Source

_TEST = re.compile(r"(?:pp ?(\d{1,9}))?(?:\+?tg ?(\d{1,9}))?(?: ?@ ?d ?(\d{1,9}))?$")
_RATE = re.compile(r"(-?[\d.]+|-?nan|inf)(?: ?(?:±|\+/-|\+-) ?(-?[\d.]+|-?nan|inf))?$")
_BUILD = re.compile(r"\s*(?:[>*`\-]\s*)*build: ([0-9a-f]+|unknown) \((\d{1,9})\)")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*$")
_AS_SHOWN = {"size": "model_size_shown", "params": "model_n_params_shown"}
"""Columns whose values are rounded; the fields themselves are whole numbers."""


class _Test(NamedTuple):
    line: int
    told: dict[str, Any]


def is_table(head: str) -> bool:
    """Whether a text has the head of such a table."""
    return any(_columns(line) for line in head.splitlines())


def rows(source: Source) -> Iterator[Row]:
    """The tests of all tables of the text. Raises CannotImport."""
    columns: list[str] = []
    width = 0
    waiting: list[_Test] = []
    for number, text in source.lines():
        if build := _BUILD.match(text):
            yield from _finished(source, waiting, build)
            waiting, columns = [], []
        elif found := _columns(text):
            yield from _finished(source, waiting, None)
            waiting, columns, width = [], found, len(found)
        elif columns and _bare(text).startswith("|"):
            if not _RULE.match(_bare(text)):
                waiting.append(_Test(number, _told(source, columns, text, number)))
        else:
            columns = []
            if width and _bare(text).startswith("|") and _is_headless(_cells(text), width):
                raise source.refuse(
                    "a row of a table whose head is missing: its columns are unknown",
                    "put it below the head of its table",
                    number,
                )
    yield from _finished(source, waiting, None)


def _bare(text: str) -> str:
    return text.lstrip("> \t")


def _cells(text: str) -> list[str]:
    return [cell.strip().strip("*`").strip() for cell in _bare(text).strip().strip("|").split("|")]


def _columns(text: str) -> list[str]:
    """The heads of a table of llama-bench; empty where a line is none."""
    if not _bare(text).startswith("|"):
        return []
    names = [name.lower() for name in _cells(text)]
    return names if {"model", "test", "t/s"} <= set(names) else []


def _is_headless(cells: list[str], width: int) -> bool:
    """Whether these are the cells of a test, as wide as the table before."""
    return len(cells) == width and any(_test(each).get("n_prompt") for each in cells) and "±" in cells[-1]


def _told(source: Source, columns: list[str], text: str, number: int) -> dict[str, Any]:
    cells = _cells(text)
    if len(cells) != len(columns) or not text.rstrip().endswith("|"):
        raise source.refuse(
            f"the row has {len(cells)} cells, its head {len(columns)}: it is cut off, or was edited",
            "complete it, or remove it",
            number,
        )
    told: dict[str, Any] = {}
    for name, cell in zip(columns, cells, strict=True):
        if name == "test":
            told |= _test(cell)
        elif name == "t/s":
            told |= _rate(cell)
        elif cell:
            told[_AS_SHOWN.get(name) or IN_TABLES.get(name, name)] = cell
    return told


def _test(cell: str) -> dict[str, Any]:
    found = _TEST.match(cell)
    if not found or not (found[1] or found[2]):
        return {"test": cell}
    return {"n_prompt": found[1] or "0", "n_gen": found[2] or "0", "n_depth": found[3] or "0"}


def _rate(cell: str) -> dict[str, Any]:
    if found := _RATE.match(cell):
        return {"avg_ts": found[1], "stddev_ts": found[2]}
    return {"t/s": cell}


def _finished(source: Source, tests: list[_Test], build: re.Match[str] | None) -> Iterator[Row]:
    """The rows of a table; only after it stands which build made it."""
    for each in tests:
        if build:
            each.told.update(build_commit=build[1], build_number=build[2])
        try:
            yield row_of(each.line, each.told, rounded=True)
        except Unreadable as error:
            raise source.refuse(str(error), "import the table as llama-bench wrote it", each.line) from None
