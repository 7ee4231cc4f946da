"""The CSV of AIPerf and genai-perf: a table of metrics with statistics, then one of metrics with one value.

Sources: src/aiperf/exporters/metrics_csv_exporter.py; genai-perf/genai_perf/export_data/csv_exporter.py, which groups the
digits of large numbers by commas. Both print two decimals, so that a number may be off by 0.005. What a GPU's telemetry adds
below has columns of its own and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Observation
from hio_validate.importing.results.delimited import rows
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import find

ROUNDING = 0.005
STATISTICS = {"avg": "mean", "p50": "median", "std": "std", "min": "min", "max": "max", "Value": "value"} | {
    name: name for name in ("p1", "p5", "p10", "p25", "p75", "p80", "p90", "p95", "p99")
}
"""Column -> statistic."""
_NAME = re.compile(r"(.*?)(?:\s*\(([^()]*)\))?\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?(?:[eE][-+]?\d+)?")


class Row(NamedTuple):
    line: int
    name: str
    """As printed, without its unit."""
    unit: str | None
    values: dict[str, Any]
    """Column -> number; a text that is none stays, so that it is told; blank is left out."""


def is_one(head: str) -> bool:
    return any(line.startswith(("Metric,avg,", "Metric,Value")) for line in head.splitlines()[:40])


def is_of_genai_perf(head: str) -> bool:
    """Whether genai-perf printed the names: it begins every word of them with a capital, and says no unit of a rate."""
    return any(name in head for name in ("Time To First Token", "(per sec)", "Num Output Token"))


def table(source: Source, found: Observation) -> Iterator[Row]:
    """Its rows. A line that is none is refused; where skipping was asked for it is counted, and told in the record in the
    end. Raises CannotImport."""
    columns: list[str] = []
    passed_over = False
    first, count = 0, 0
    for line, cells in rows(source):
        if cells[0] in ("Metric", "Endpoint"):
            passed_over = "GPU" in cells or cells[0] == "Endpoint"
            columns = cells
        elif columns and len(cells) == len(columns):
            if not passed_over:
                yield _row(line, columns, cells)
        elif source.skip_log_lines:
            first, count = first or line, count + 1
        else:
            wanted = (
                f"{len(columns)} cells, got {len(cells)}" if columns else "a table that begins with Metric"
            )
            raise source.refuse(
                f"expected {wanted}",
                "import the file as the tool wrote it, or skip lines of a log with --skip-log-lines",
                line,
            )
    if count:
        message = (
            f"{count} line{'s are' if count > 1 else ' is'} no row and skipped, the first is line {first}"
        )
        find(found, "skipped-lines", message, first)


def _row(line: int, columns: list[str], cells: list[str]) -> Row:
    named = _NAME.fullmatch(cells[0])
    name, unit = (named[1], named[2]) if named is not None else (cells[0], None)
    values = {column: _number(cell) for column, cell in zip(columns[1:], cells[1:], strict=True)}
    return Row(line, name, unit, {column: value for column, value in values.items() if value is not None})


def _number(cell: str) -> Any:
    text = cell.strip()
    if text in ("", "N/A", "None"):
        return None
    if not _NUMBER.fullmatch(text):
        return text
    text = text.replace(",", "")
    return int(text) if text.isdecimal() and len(text) < 19 else float(text)
