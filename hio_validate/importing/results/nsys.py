"""`nsys stats --report cuda_gpu_kern_sum` (before 2022.4 gpukernsum, or in 2021 without a median), as CSV or as the table that
it prints: a record a kernel.

Sources: the report scripts of Nsight Systems, target-linux-x64/reports/cuda_gpu_kern_sum.py and gpukernsum.py; columns carry
their unit, `Total Time (ns)`, which --timeunit changes. `Time (%)` is of the time of all kernels of that report, not of the
wall clock. Lines of nsys around the table (Generating ..., Processing ..., NOTICE: ...) and tables of other reports are passed
over; a file that has those alone is refused with the command that writes this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.evidence.observed import Observation
from hio_validate.importing.results.delimited import CUT, is_cut, rows
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.nsys_text import CUT_NAME, HEAD, text_rows
from hio_validate.importing.results.numerals import Ambiguous, Convention, number
from hio_validate.importing.results.profiles import NO_BENCHMARK, record_of, refuse_two_tools, time_unit
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import Summary, add, find

_HEAD = re.compile(r'^"?Time ?\(%\)"?,"?Total Time', re.MULTILINE)
_OTHER = re.compile(
    r'"?(?:Total \([kMGT]?i?B\)"?,"?Count\b|Start \([a-z]+\)"?,"?Duration \([a-z]+\)|PID"?,"?TID"?,"?DevId\b)'
)
"""Heads of other reports of nsys: memory by size, traces, launches."""
_WRITE = "nsys stats --report cuda_gpu_kern_sum --format csv FILE.nsys-rep > kernels.csv writes it"
_COLUMN = re.compile(r"(Time|Total Time|Instances|Avg|Average|Med|Median|Min|Minimum|Max|Maximum|StdDev|GridXYZ|BlockXYZ|Name)"
                     r"(?: ?\(([^)]*)\))?")  # fmt: skip
_STATISTICS = {"Avg": "mean", "Average": "mean", "Med": "median", "Median": "median", "Min": "min", "Minimum": "min",
               "Max": "max", "Maximum": "max", "StdDev": "std"}  # fmt: skip
_SLACK = 0.01
_ROUNDING = {"ns": 0.06, "us": 0.0006, "ms": 0.0006, "s": 0.0006}
"""Most that a printed time may be off: nsys prints one decimal of nanoseconds, three of others."""


class _Table:
    """The columns of one table and the kernels of it that were read."""

    def __init__(self, cells: list[str]) -> None:
        self.columns: dict[str, tuple[int, str]] = {}
        for index, cell in enumerate(cells):
            if column := _COLUMN.fullmatch(cell.strip()):
                self.columns[column[1]] = index, column[2] or ""
        self.width = len(cells)

    @property
    def is_of_kernels(self) -> bool:
        return {"Time", "Total Time", "Instances", "Name"} <= self.columns.keys()


def recognises(source: Source) -> bool:
    return any(_is_table(line) for line in source.head.splitlines())


def _is_table(line: str) -> bool:
    return bool(_HEAD.match(line) or HEAD.match(line) or _OTHER.match(line))


def _is_head(line: str) -> bool:
    is_one = _HEAD.match(line) or HEAD.match(line)
    return bool(is_one) and "Instances" in line and "Name" in line and "Operation" not in line


def generation(source: Source) -> str | None:
    head = next((line for line in source.head.splitlines() if _is_head(line)), None)
    if head is None:
        return None
    return "gpukernsum 2021" if "Average" in head else "cuda_gpu_kern_sum"


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines of tables; prose of nsys around them has no unit of CSV and may hold quotes."""
    inside = False
    for line, text in source.lines():
        if text.lstrip('"').startswith(("Time (%)", "Time(%)")):
            inside = True
        elif not re.match(r'\s*"?[\d.,]', text):
            inside = False
        if inside:
            yield line, text


def _kernels(source: Source) -> Iterator[tuple[int, _Table, list[str]]]:
    table: _Table | None = None
    is_csv = any(_HEAD.match(line) for line in source.head.splitlines())
    for line, cells in rows(source, _lines(source)) if is_csv else text_rows(source):
        if cells[0].startswith("Time"):
            table = _Table(cells)
        elif table is not None and table.is_of_kernels:
            yield line, table, cells


def read(source: Source) -> Iterator[Observation]:
    """Its kernels, one record each. Raises CannotImport."""
    refuse_two_tools(source)
    seen, count = Convention(), 0
    for _, table, cells in _kernels(source):
        count += 1
        for name, (index, _) in table.columns.items():
            if name not in ("Name", "GridXYZ", "BlockXYZ") and index < len(cells):
                seen.see(cells[index])
    if not count and generation(source) is None:
        raise source.refuse("its tables are of nsys, and none is the summary of kernels", _WRITE, code=3)
    if not count:
        raise source.refuse(
            "the table has no kernel: nothing ran on the GPU while nsys watched", "profile again", code=3
        )
    taken = Names()
    last: Observation | None = None
    for line, table, cells in _kernels(source):
        if last is not None:
            yield last
        last = _record(line, table, cells, seen.mark, taken)
    assert last is not None
    if is_cut(source):
        find(last, "cut-short", CUT, last.line)
    yield last


def _record(line: int, table: _Table, cells: list[str], mark: str | None, taken: Names) -> Observation:
    where = table.columns["Name"][0]
    found = record_of(cells[where] if where < len(cells) else "", line, "nsys")
    found.name = taken.distinct(found.name)
    if cells[min(where, len(cells) - 1)].endswith(CUT_NAME):
        message = "nsys prints no more of the name: kernels that differ behind it have the same"
        find(found, "name-cut", message, line)
    if len(cells) != table.width:
        message = f"expected {table.width} cells, got {len(cells)}: a row that is cut says nothing"
        find(found, "short-row", message, line)
        return found
    for column in ("GridXYZ", "BlockXYZ"):
        if column in table.columns:
            found.subject[column.lower()] = cells[table.columns[column][0]].strip()
    read = {
        name: _number(found, name, cells[index], mark)
        for name, (index, _) in table.columns.items()
        if name not in ("Name", "GridXYZ", "BlockXYZ")
    }
    _add(found, table, read)
    return found


def _number(found: Observation, column: str, cell: str, mark: str | None) -> int | float | None:
    value = number(cell, mark)
    if isinstance(value, Ambiguous):
        message = (
            f"{column} is {value.text}, which is two numbers, and no other number of the file says which"
        )
        find(found, "ambiguous-number", message, found.line)
        return None
    if value is None and cell.strip():
        find(found, "no-number", f"{column} is {cell.strip()[:40]!r}, expected a number", found.line)
    return value


def _add(found: Observation, table: _Table, read: dict[str, int | float | None]) -> None:
    launches = read.get("Instances")
    if launches is not None and (launches != int(launches) or launches < 0):
        find(found, "impossible-value", f"{launches:g} launches are no count", found.line)
        launches = None
    if launches == 0:
        find(found, "zero-completed", "the kernel was never launched: nothing was measured", found.line)
        return
    n = int(launches) if launches is not None else None
    add(found, Summary("launches", "kernel-launches", "1", {"value": launches}, 1, found.line))
    share = read.get("Time")
    if share is not None and share > 100:
        find(found, "impossible-value", f"a share of {share:g} % is more than all", found.line)
    else:
        add(found, Summary("share", "kernel-share", "%", {"value": share}, 1, found.line))
    said = table.columns["Total Time"][1]
    unit = time_unit(said)
    if unit is None:
        find(found, "unknown-unit", f"Total Time is given in {said!r}, expected s, ms, us or ns", found.line)
        return
    values = {}
    for column, statistic in _STATISTICS.items():
        if column in read:
            own = table.columns[column][1] or said  # before 2022 only the total names the unit of all
            if time_unit(own) == unit:
                values[statistic] = read[column]
            else:
                find(found, "mixed-units", f"{column} is in {own!r}, Total Time in {said!r}", found.line)
    total, mean = read.get("Total Time"), values.get("mean")
    if (
        total is not None
        and mean is not None
        and n
        and abs(mean * n - total) > _SLACK * total + _ROUNDING[unit] * n
    ):
        message = f"{n} launches of {mean:g} {unit} on average are not {total:g} {unit} in total"
        find(found, "rate-contradicts-counts", message, found.line)
        return
    add(found, Summary("time", "kernel-time", unit, values, n, found.line, _ROUNDING[unit]))
    add(found, Summary("total time", "kernel-time-sum", unit, {"total": total}, n, found.line))


NSYS = Importer(
    "nsys-kernels",
    "nsys stats, summary of GPU kernels as CSV or as it is printed",
    recognises,
    read,
    generation,
    (
        *NO_BENCHMARK,
        "the share of the wall clock: percents are of the time of all kernels",
        "how much kernels overlapped: their sum counts that time twice",
        "the version of nsys, the device and its clocks",
    ),
)
