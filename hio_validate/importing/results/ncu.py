"""`ncu --csv`: pages of details (one row a metric of a launch; `--metrics` too) and raw (one row a launch); a record a launch.

Sources: the CSV output of Nsight Compute (documentation "Nsight Compute CLI", Printing; files of 2019.5 ... 2025.3). Columns
differ by version: Block Size, Grid Size, Device, CC and the rules' columns came later, so that they are found by name. Units
stand in a column of their own. Lines that begin with == are ncu's own words; an ==ERROR== with no table is why there is none.
ncu runs a kernel several times with fixed clocks, flushed caches and its own counters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Measured, Observation
from hio_validate.importing.results.beside import refuse_beside
from hio_validate.importing.results.delimited import CUT, is_cut, rows
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.numerals import Ambiguous, Convention, number
from hio_validate.importing.results.profiles import NO_BENCHMARK, record_of, refuse_two_tools, time_unit
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import Summary, add, find

_HEAD = re.compile(r'"?ID"?,"?Process ID"?,"?Process Name"?,')
_ROW, _BARE_ROW = re.compile(r'"\d*",'), re.compile(r"\d*,")
"""How a row begins; a table that was saved again has no quotes where none are needed."""
_WORDS = re.compile(r"==(?:PROF|ERROR|WARNING)== ")
_TIMES = {"Duration", "gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max", "gpu__time_duration.min",
          "gpu__time_active.sum"}  # fmt: skip
"""Metrics that are the time of the launch; its other times (cycles, stalls) are not."""
_FACTS = {
    "Device": "device",
    "CC": "compute_capability",
    "Grid Size": "grid_size",
    "Block Size": "block_size",
}


def recognises(source: Source) -> bool:
    return any(_HEAD.match(line) or _WORDS.match(line) for line in source.head.splitlines())


def generation(source: Source) -> str | None:
    return None


class Value(NamedTuple):
    """A metric of a launch as it stands there."""

    metric: str
    section: str
    unit: str
    text: str | None
    """None: the row ends before it."""


class _Table:
    """The lines of a file: what ncu said, and its rows."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.columns: dict[str, int] = {}
        self.width = 0
        self.units: list[str] = []
        self.errors: list[tuple[int, str]] = []
        self.warnings: list[tuple[int, str]] = []

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """(line, cells) below the head."""
        self.errors, self.warnings = [], []
        for line, cells in rows(self.source, self._lines()):
            if _HEAD.match(",".join(cells[:4])):
                self.columns = {name.strip(): index for index, name in reversed(list(enumerate(cells)))}
                self.width, self.units = len(cells), []
            elif self.is_raw and not cells[0].strip():
                self.units = cells
            elif self.columns:
                yield line, cells

    @property
    def is_raw(self) -> bool:
        """Whether it is the page of raw metrics: a launch a row, a metric a column, their units in a row of their own."""
        return "Metric Value" not in self.columns and any("__" in name for name in self.columns)

    def values(self, cells: list[str]) -> Iterator[Value]:
        """The metrics of a row; one without a name is a rule's text."""
        if not self.is_raw:
            name, text = self.cell(cells, "Metric Name"), self.cell(cells, "Metric Value")
            yield Value(
                name or "",
                self.cell(cells, "Section Name") or "",
                self.cell(cells, "Metric Unit") or "",
                text,
            )
            return
        for name, index in self.columns.items():
            if "__" in name and not name.startswith("device__attribute_"):
                unit = self.units[index] if index < len(self.units) else ""
                yield Value(name, "", unit, cells[index] if index < len(cells) else None)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """What may be a row. The program that was profiled prints into the same stream, before the table and among it."""
        row = _ROW
        for line, text in self.source.lines():
            if text.startswith("=="):
                kept = {"==ERROR==": self.errors, "==WARNING==": self.warnings}.get(text.split(" ", 1)[0])
                if kept is not None and len(kept) < 100:
                    kept.append((line, text.split("== ", 1)[-1].strip()[:300]))
            elif _HEAD.match(text):
                row = _ROW if text.startswith('"') else _BARE_ROW
                yield line, text
            elif row.match(text):
                yield line, text

    def cell(self, cells: list[str], name: str) -> str | None:
        """A cell by its column's name; None where the row is too short, or the version has no such column."""
        index = self.columns.get(name)
        return cells[index] if index is not None and index < len(cells) else None


def read(source: Source) -> Iterator[Observation]:
    """Its launches, one record each. Raises CannotImport."""
    refuse_two_tools(source)
    table, seen, count = _Table(source), Convention(), 0
    for _, cells in table.rows():
        count += 1
        for value in table.values(cells):
            seen.see(value.text or "")
    _refuse_where_nothing_is(table, count)
    found: Observation | None = None
    launch: tuple[str | None, ...] = ()
    taken = Names()
    for line, cells in table.rows():
        which = tuple(table.cell(cells, name) for name in ("ID", "Process ID", "Kernel Name"))
        if found is None or which != launch:
            if found is not None:
                yield _ended(found)
            found, launch = _begun(table, cells, line, taken), which
        if len(cells) != table.width and (table.is_raw or len(cells) > table.width):
            message = f"expected {table.width} cells, got {len(cells)}: which is which is unknown"
            find(found, "short-row" if len(cells) < table.width else "long-row", message, line)
            continue
        for value in table.values(cells):
            _add(found, value, f"expected {table.width} cells, got {len(cells)}", line, seen.mark)
    assert found is not None
    if is_cut(source):
        find(found, "cut-short", CUT, found.line)
    for line, text in table.errors:
        find(found, "tool-error", f"ncu says: {text}", line)
    yield _ended(found)


def _refuse_where_nothing_is(table: _Table, count: int) -> None:
    source = table.source
    if count and "Metric Value" not in table.columns and not table.is_raw:
        raise source.refuse(
            "it has neither a column Metric Value nor one of a metric",
            "run ncu with --csv --page details",
        )
    if count:
        return
    line, text = next(iter(table.errors or table.warnings), (0, ""))
    if text:
        raise source.refuse(f"ncu profiled nothing and says: {text}", "mend that and profile again", line, 3)
    refuse_beside(source)
    raise source.refuse("it has no metric of a kernel: ncu profiled nothing", "profile again", code=3)


def _begun(table: _Table, cells: list[str], line: int, taken: Names) -> Observation:
    found = record_of(table.cell(cells, "Kernel Name") or "", line, "ncu")
    found.name = taken.distinct(found.name)
    for column, key in _FACTS.items():
        if value := table.cell(cells, column):
            found.subject[key] = value.strip()
    if (launch := table.cell(cells, "ID")) and launch.isdecimal() and len(launch) < 19:
        found.subject["launch"] = int(launch)
    return found


def _ended(found: Observation) -> Observation:
    if not found.metrics:
        find(found, "nothing-measured", "no number of this launch can be used", found.line)
    return found


def _add(found: Observation, told: Value, short: str, line: int, mark: str | None) -> None:
    """One metric of a launch."""
    metric, section, unit, text = told.metric, told.section, told.unit.strip(), told.text
    if text is None:
        find(found, "short-row", f"{short}: its value is missing", line)
        return
    if not metric or not text.strip():
        return
    value = number(text, mark)
    if value is None:
        found.foreign.setdefault(metric[:200], text.strip()[:200])  # a setting, such as a policy of caches
        return
    if isinstance(value, Ambiguous):
        message = (
            f"{metric} is {value.text}, which is two numbers, and no other number of the file says which"
        )
        find(found, "ambiguous-number", message, line)
        return
    name = metric if metric in _TIMES or not section else f"{section}: {metric}"
    if before := next((each for each in found.metrics if each.name == name), None):
        if before.value != value:
            find(found, "repeated-metric", f"{name} is {before.value:g} at first and {value:g} here", line)
        return
    if metric in _TIMES and (time := time_unit(unit)) is not None:
        add(found, Summary(name, "kernel-time", time, {"value": value}, 1, line))
    elif metric in _TIMES:
        find(found, "unknown-unit", f"{metric} is given in {unit!r}, expected s, ms, us or ns", line)
    else:
        found.metrics.append(Measured(name, UNKNOWN, "value", value, unit or "1", 1))


NCU = Importer(
    "ncu-details",
    "ncu, details or raw metrics of launches as CSV",
    recognises,
    read,
    generation,
    (
        *NO_BENCHMARK,
        "how long a launch takes among others: each was run alone, several times, with fixed clocks and flushed caches",
        "how its counters are computed in that version: they are compared with nothing",
        "which launches of the program were not profiled",
    ),
)
