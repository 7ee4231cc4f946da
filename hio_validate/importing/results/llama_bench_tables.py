"""Tables of llama-bench in Markdown, alone or in a page with other text.

Source: markdown_printer of llama-bench.cpp: chosen columns only, `pp 512` in 2023 and `pp512` since, `@ d4096`,
`mean ± standard deviation` with two decimals, and after the table `build: commit (number)`. Tables that were copied from
a rendered page have no outer bars; consoles of Windows show the sign ± as two others, terminals colour lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.llama_bench_fields import IN_TABLES, Row, Unreadable, row_of
from hio_validate.importing.results.source import Source

_TEST = re.compile(r"(?:pp ?(\d{1,9}))?(?:\+?tg ?(\d{1,9}))?(?: ?@ ?d ?(\d{1,9}))?$")
_SIGN = "±|\\+/-|\\+-|\u00c2±|\u252c\u2592|\ufffd"
"""± as itself, as people type it, as cp1252 and cp437 show its two bytes, and as what no encoding knew."""
_RATE = re.compile(rf"(-?[\d.]+|-?nan|inf)(?: ?(?:{_SIGN}) ?(-?[\d.]+|-?nan|inf))?$")
_COLOUR = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_BUILD = re.compile(r"\s*(?:[>*`\-]\s*)*build: ([0-9a-f]+|unknown) \((\d{1,9})\)")
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?)?\s*$")
_AS_SHOWN = {"size": "model_size_shown", "params": "model_n_params_shown"}
"""Columns whose values are rounded; the fields themselves are whole numbers."""


class _Test(NamedTuple):
    line: int
    told: dict[str, Any]


def is_table(head: str) -> bool:
    """Whether a text has the head of such a table."""
    return any(_columns(_COLOUR.sub("", line)) for line in head.splitlines())


def rows(source: Source) -> Iterator[Row]:
    """The tests of all tables of the text. Raises CannotImport."""
    table = _Table(source)
    for number, text in source.lines():
        text = _COLOUR.sub("", text)
        if build := _BUILD.match(text):
            yield from _finished(source, table.take(), build)
            table.ends()
        elif found := _columns(text):
            yield from _finished(source, table.take(), None)
            table.begins(found, text)
        else:
            table.read(number, text)
    yield from _finished(source, table.take(), None)


class _Table:
    """The table that a page is in, with the tests whose build is still to come."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns: list[str] = []
        self._is_open = self._is_barred = False
        self._waiting: list[_Test] = []

    def begins(self, columns: list[str], text: str) -> None:
        """With the line that names its columns."""
        self._columns, self._is_open = columns, True
        self._is_barred = _bare(text).startswith("|")

    def ends(self) -> None:
        """After it comes another text."""
        self._is_open = False

    def take(self) -> list[_Test]:
        """The tests so far."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def read(self, number: int, text: str) -> None:
        """A line that is no head. Raises CannotImport for a row that is cut, or whose head is missing."""
        bare = _bare(text)
        if not self._may_be_row(bare):
            self.ends()
        elif (self._is_open or self._goes_on(number, text)) and not _RULE.match(bare):
            self._waiting.append(_Test(number, self._told(text, number)))

    def _may_be_row(self, bare: str) -> bool:
        if self._is_barred:
            return bare.startswith("|")
        return "|" in bare and (len(_cells(bare)) == len(self._columns) or self._is_last(bare))

    def _goes_on(self, number: int, text: str) -> bool:
        """Whether a row belongs to the table before, from which lines of a log part it."""
        if not self._columns or not _is_headless(_cells(text), len(self._columns)):
            return False
        if not self._source.skip_log_lines:
            raise self._source.refuse(
                "a row of a table whose head is missing: its columns are unknown",
                "put it below the head of its table, or skip the lines of a log between with --skip-log-lines",
                number,
            )
        return True

    def _told(self, text: str, number: int) -> dict[str, Any]:
        cells = _cells(text)
        help = "complete it, or remove it"
        if len(cells) != len(self._columns) or (self._is_barred and not text.rstrip().endswith("|")):
            what = (
                f"the row has {len(cells)} cells, its head {len(self._columns)}: it is cut off, or was edited"
            )
            raise self._source.refuse(what, help, number)
        if not self._is_barred and self._is_last(text):
            raise self._source.refuse(f"{CUT[0].lower()}{CUT[1:]}", help, number)
        return _row(self._columns, cells)

    def _is_last(self, text: str) -> bool:
        """Whether a row ends the file without a line end: with no bar after it, its number may be half of one."""
        return bool(self._cut_line) and self._cut_line.endswith(text[-40:])

    @cached_property
    def _cut_line(self) -> str:
        """The end of the last line, where nothing ends it."""
        return self._source.tail(400) if is_cut(self._source) else ""


def _bare(text: str) -> str:
    return text.lstrip("> \t")


def _cells(text: str) -> list[str]:
    return [cell.strip().strip("*`").strip() for cell in _bare(text).strip().strip("|").split("|")]


def _columns(text: str) -> list[str]:
    """The heads of a table of llama-bench; empty where a line is none."""
    if "|" not in text:
        return []
    names = [name.lower() for name in _cells(text)]
    return names if {"model", "test", "t/s"} <= set(names) else []


def _is_headless(cells: list[str], width: int) -> bool:
    """Whether these are the cells of a test, as wide as the table before."""
    return len(cells) == width and any(_test(each).get("n_prompt") for each in cells) and "±" in cells[-1]


def _row(columns: list[str], cells: list[str]) -> dict[str, Any]:
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
