"""AIPerf's profile_export.jsonl: one request a line, read as a stream into one record of statistics.

Source: src/aiperf/common/models/record_models.py (MetricRecordInfo: metadata, metrics of value and unit, error) and
src/aiperf/post_processors/record_export_jsonl_writer.py. Statistics are computed here: percentiles interpolated and std
divided by n, as AIPerf does. The duration is from the first valid request's start to the last one's end, in exact
nanoseconds; rates are counts over it. Warm-up requests count nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.aiperf import UNKNOWN, is_cancelled
from hio_validate.importing.results.client_metrics import LENGTHS, METRICS, tag_of, unit_of
from hio_validate.importing.results.columns import Columns
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.span import Span, add_rates
from hio_validate.importing.results.summarised import find, judge_counts

_MARKS = re.compile(r'"(?:request_start_ns|session_num|benchmark_phase|x_request_id|record_processor_id)"')
_PER_RUN = {tag for tag, counted in METRICS.items() if counted.whole_run}
_KNOWN = {"request_count", "error_request_count", "min_request_timestamp", "max_response_timestamp"}


def recognises(source: Source) -> bool:
    return any(
        line.startswith("{") and '"metadata"' in line and _MARKS.search(line)
        for line in source.head.splitlines()[:40]
    )


class _Run:
    """What the rows have said so far."""

    def __init__(self) -> None:
        self.completed = self.failed = self.cancelled = self.warmup = 0
        self.span = Span()
        self.foreign: dict[str, str] = {}
        self.errors: dict[str, int] = {}

    def add(self, row: dict[str, Any], columns: Columns, line: int) -> None:
        metadata, metrics, error = row["metadata"], row.get("metrics"), row.get("error")
        if metadata.get("benchmark_phase", metadata.get("credit_phase", "profiling")) == "warmup":
            self.warmup += 1
            return
        if metadata.get("was_cancelled") is True or is_cancelled(error):
            self.cancelled += 1
            return
        if error is not None:
            self.failed += 1
            kind = (
                str(error.get("type") or error.get("error_type") or error.get("code"))
                if isinstance(error, dict)
                else "error"
            )
            if kind in self.errors or len(self.errors) < 20:
                self.errors[kind[:60]] = self.errors.get(kind[:60], 0) + 1
            return
        self.completed += 1
        self._span(metadata, columns, line)
        for name, said in (metrics or {}).items():
            self._metric(name, said, columns, line)

    def _span(self, metadata: dict[str, Any], columns: Columns, line: int) -> None:
        start, end = metadata.get("request_start_ns"), metadata.get("request_end_ns")
        if start is None or end is None:
            return
        if type(start) is not int or type(end) is not int:
            columns.fault(
                "inexact-number",
                "ns",
                "a moment in nanoseconds is no integer: such a float goes in steps",
                line,
            )
        elif end < start:
            columns.fault(
                "impossible-value", "ns", f"the request ends {start - end} ns before it starts", line
            )
        else:
            self.span.add(start, end)

    def _metric(self, name: str, said: Any, columns: Columns, line: int) -> None:
        tag = tag_of(name)
        if tag not in METRICS or tag in _PER_RUN:
            if tag not in _KNOWN and (tag in self.foreign or len(self.foreign) < 200):
                self.foreign.setdefault(f"metrics.{tag}", f"{said!r:.80}")
            return
        unit_said, value = (said.get("unit"), said.get("value")) if isinstance(said, dict) else (None, said)
        if value is None:
            return
        definition = METRICS[tag].definition
        unit = unit_of(unit_said, definition)
        if unit is None:
            columns.fault(
                "unknown-unit",
                tag,
                f"{tag} is given in {unit_said!r}, which is no unit of {definition}",
                line,
            )
            return
        columns.add(tag, definition, unit, value, line)


def _requests(source: Source, found: Observation) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, request). A line that is none is refused; where skipping was asked for it is counted and told in the end."""
    first, count = 0, 0
    for line, text in source.lines():
        try:
            row = source.value_of(text, line) if text.lstrip().startswith("{") else None
        except CannotImport:
            if not source.skip_log_lines:
                raise
            row = None
        if (
            isinstance(row, dict)
            and isinstance(row.get("metadata"), dict)
            and isinstance(row.get("metrics") or {}, dict)
        ):
            yield line, row
        elif source.skip_log_lines:
            first, count = first or line, count + 1
        else:
            raise source.refuse(
                f"expected a request with its metadata and metrics, got {text.strip()[:40]!r}",
                "take out what AIPerf did not write, or skip such lines with --skip-log-lines",
                line,
            )
    if count:
        message = (
            f"{count} line{'s are' if count > 1 else ' is'} no request and skipped, the first is line {first}"
        )
        find(found, "skipped-lines", message, first)


def read(source: Source) -> Iterator[Observation]:
    """Its one record. Raises CannotImport for a line that is no request."""
    run, found = _Run(), Observation("profile")
    with Columns() as columns:
        for line, row in _requests(source, found):
            run.add(row, columns, line)
        found.subject = {"tool": "aiperf"}
        found.requests = Requests(None, run.completed, run.failed, run.cancelled)
        columns.tell(found)
        for tag, name in LENGTHS.items():
            if (mean := columns.of(tag, "mean")) is not None:
                found.workload[name] = mean
        every = columns.count("output_sequence_length") == run.completed
        tokens = columns.of("output_sequence_length", "total") if every else None
    if (elapsed := run.span.elapsed) is not None:
        add_rates(found, elapsed, run.completed, tokens)
    else:
        find(found, "no-duration", "no request says when it started and ended: no rate can be computed")
    if run.warmup:
        found.workload["warmup_requests"] = run.warmup
    found.foreign = {**run.foreign, **{f"errors.{kind}": count for kind, count in run.errors.items()}}
    judge_counts(found)
    yield found


AIPERF_ROWS = Importer(
    "aiperf-records",
    "aiperf profile, one request a line (profile_export.jsonl)",
    recognises,
    read,
    lambda source: None,
    (
        *UNKNOWN,
        "model, endpoint and version of AIPerf: they stand in profile_export_aiperf.json beside it",
        "which load was asked for, and how many requests",
        "whether it is whole: requests that were not written down leave no line",
    ),
    content=True,
)
