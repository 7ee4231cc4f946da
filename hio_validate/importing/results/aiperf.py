"""AIPerf's summaries: profile_export_aiperf.json in each generation, and its CSV.

Sources: src/aiperf/exporters/json_exporter.py (first generation: `records`, each metric with tag and header),
src/aiperf/common/models/export_models.py (flat since then, `schema_version` since 1.0) and metrics_csv_exporter.py.
A number's unit stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results import metric_table
from hio_validate.importing.results.aiperf_config import subject, workload
from hio_validate.importing.results.aiperf_native import is_native, of_native
from hio_validate.importing.results.client_metrics import METRICS, add_lengths, tag_of, unit_of
from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.importer import Importer, foreign, is_number
from hio_validate.importing.results.objects import records
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import (
    Summary,
    add,
    find,
    judge_counts,
    judge_latencies,
    judge_rate,
    whole,
)

UNKNOWN = (
    "which engine and build served, and with which settings",
    "the device, and what else ran on it",
    "whether the server's cache answered",
    "whether the client was the limit: its processor is not watched",
)
_FACTS = {
    "request_count", "error_request_count", "total_isl", "total_osl", "total_output_tokens", "total_reasoning_tokens",
    "good_request_count", "input_config", "was_cancelled", "run_info",
    "error_summary", "start_time", "end_time", "aiperf_version", "schema_version", "benchmark_id", "telemetry_data",
    "is_complete", "completed_request_count",
}  # fmt: skip
"""Keys that are read elsewhere or repeat others."""
_EXACT = 1 << 53
_SLACK = 0.01
_OTHER_LENGTH = 0.1
"""Share by which answers may be longer or shorter on average than was asked for."""
_BEGINS = re.compile(r"^\{\s*$|\A\{", re.MULTILINE)
"""The object itself, at the beginning or, where a log stands before it, on a line of its own."""
_VERSION = re.compile(r'"aiperf_version"\s*:\s*"([\w.+-]+)"')
_SPAN = re.compile(r'"benchmark_duration"\s*:\s*\{\s*"(?:unit|avg|tag)"')
_STRANGE = ("aggregation_type", "timeslices", "per_combination_metrics")
"""Keys of exports that sum up several runs, or parts of one."""


def recognises(source: Source) -> bool:
    head = source.head.lstrip()
    if _BEGINS.search(head):
        first = '"records"' in head and '"tag"' in head and '"header"' in head
        flat = '"avg"' in head and any(mark in head for mark in ('"was_cancelled"', '"error_summary"'))
        return (
            first
            or flat
            or '"aiperf_version"' in head
            or "aiperf profile" in head
            or bool(_SPAN.search(head))
        )
    return metric_table.is_one(head) and not metric_table.is_of_genai_perf(head)


def generation(source: Source) -> str | None:
    if version := _VERSION.search(source.head):
        return version[1]
    if '"records"' in source.head and '"tag"' in source.head:
        return "records"
    return None


def read(source: Source) -> Iterator[Observation]:
    """Its one record. Raises CannotImport."""
    if not _BEGINS.search(source.head.lstrip()):
        yield _of_table(source)
        return
    yield from records(source, lambda export, line: _of_one(source, export, line))


def _of_one(source: Source, export: dict[str, Any], line: int) -> Observation:
    """The record of an export that begins on a line. Raises CannotImport for what is no export of one run."""
    if strange := next(
        (key for key in _STRANGE if key in export or key in (export.get("metadata") or ())), None
    ):
        raise source.refuse(
            f"it sums up several runs or parts of one ({strange})",
            "import profile_export_aiperf.json of each run",
        )
    if is_native(export):
        export = of_native(export)
    if {"summary", "metrics"} <= export.keys():
        raise source.refuse(
            "it holds what the server said of itself, not what the client measured",
            "import profile_export_aiperf.json beside it",
        )
    metrics = export.get("records")
    return _of_export(export, metrics if isinstance(metrics, dict) else export, line)


def _of_export(export: Mapping[str, Any], metrics: Mapping[str, Any], line: int) -> Observation:
    config = export.get("input_config")
    config = config if isinstance(config, dict) else {}
    found = Observation("profile", line)
    found.at = export["start_time"] if isinstance(export.get("start_time"), str) else None
    found.subject = subject(export, config)
    found.workload = workload(config)
    sums = {tag_of(tag): said for tag, said in metrics.items() if isinstance(said, dict)}
    found.requests = _requests(found, sums, export.get("error_summary"), found.workload.get("requests"))
    _as_asked(found, _one(sums, "output_sequence_length"))
    for tag, said in sums.items():
        if tag in METRICS:
            _add(found, tag, said.get("unit"), _statistics(said), whole(said.get("count")))
    add_lengths(found)
    if export.get("was_cancelled") is True or export.get("is_complete") is False:
        find(found, "cut-short", "the benchmark was cancelled before its end")
    _judge(found, {tag: value for tag in ("total_osl", "total_isl") if is_number(value := _one(sums, tag))})
    for tag in ("min_request_timestamp", "max_response_timestamp"):
        value = _one(sums, tag)
        if isinstance(value, float) and value > _EXACT:
            message = f"{tag} is written as a float: nanoseconds of that size are only so in steps of 256"
            find(found, "inexact-number", message)
    known = METRICS.keys() | _FACTS | {"records"}
    found.foreign = foreign({tag_of(tag): said for tag, said in metrics.items()}, known)
    judge_counts(found, may_stop=True)
    return found


def _add(
    found: Observation,
    tag: str,
    said: object,
    values: Mapping[str, Any],
    n: int | None,
    line: int = 0,
    rounding: float = 0.0,
) -> None:
    """One metric of an export, if its unit is one that it can have."""
    definition, whole_run = METRICS[tag]
    if not any(value is not None for value in values.values()):
        return
    unit = unit_of(said, definition)
    if unit is None:
        find(found, "unknown-unit", f"{tag} is given in {said!r}, which is no unit of {definition}", line)
        return
    completed = found.requests.completed
    if whole_run:
        value = values.get("value")
        values = {"value": values.get("mean") if value is None else value}
    elif n is not None and completed is not None and n > completed and definition != "itl-per-gap":
        find(found, "counts-contradict", f"{tag} counts {n} requests, {completed} completed", line)
    add(found, Summary(tag, definition, unit, values, n, line, rounding))


def _statistics(said: Mapping[str, Any]) -> dict[str, Any]:
    return {statistic: said.get(key) for key, statistic in metric_table.STATISTICS.items()}


def _one(sums: Mapping[str, Any], tag: str) -> Any:
    said = sums.get(tag)
    return said.get("avg") if isinstance(said, dict) else None


def _requests(found: Observation, sums: Mapping[str, Any], errors: Any, asked: Any) -> Requests:
    completed = whole(_one(sums, "request_count"))
    failed = whole(_one(sums, "error_request_count"))
    ended = whole(_one(sums, "completed_request_count"))  # with those that failed, since 0.13
    if failed is None and ended is not None and completed is not None and ended >= completed:
        failed = ended - completed
    if not isinstance(errors, list):
        return Requests(whole(asked), completed, failed)
    counts = [
        (each.get("error_details") or {}, whole(each.get("count")) or 0)
        for each in errors
        if isinstance(each, dict)
    ]
    cancelled = sum(count for details, count in counts if is_cancelled(details))
    told = sum(count for _, count in counts)
    if failed is None:
        failed = told if counts else None
    elif counts and told != failed:
        find(found, "counts-contradict", f"{failed} requests failed, and the summary of errors has {told}")
    if completed is None and failed:
        completed = 0  # AIPerf leaves the count out where no request was valid
    return Requests(
        whole(asked), completed, None if failed is None else max(failed - cancelled, 0), cancelled
    )


def _as_asked(found: Observation, made: Any) -> None:
    """Tells answers of another length than was asked for, and a run, or the warm-up of one, of fewer requests."""
    wanted = found.workload.get("generated_tokens")
    if is_number(wanted) and is_number(made) and wanted > 0 and abs(made - wanted) > _OTHER_LENGTH * wanted:
        message = f"output_sequence_length is {made:g} tokens on average, {wanted:g} were asked for"
        find(found, "length-not-as-asked", message, found.line)
    asked, completed, failed, cancelled = found.requests
    if asked is not None and completed is not None and completed + (failed or 0) + (cancelled or 0) < asked:
        message = f"{completed} requests were completed, {asked} asked for: the run ended early, or it is its warm-up"
        find(found, "fewer-than-asked", message, found.line)


def is_cancelled(error: Any) -> bool:
    """Whether an error says that the client itself gave the request up."""
    return isinstance(error, dict) and (
        error.get("type") == "RequestCancellationError" or error.get("code") == 499
    )


def _judge(found: Observation, totals: Mapping[str, float], rounding: float = 0.0) -> None:
    duration = [each for each in found.metrics if each.name == "benchmark_duration"]
    seconds = (
        duration[0].value * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[duration[0].unit]
        if duration
        else None
    )
    judge_rate(found, "request_throughput", found.requests.completed, seconds, _SLACK, rounding)
    judge_rate(found, "output_token_throughput", totals.get("total_osl"), seconds, _SLACK, rounding)
    judge_latencies(found, seconds, _SLACK)


def _of_table(source: Source) -> Observation:
    found = Observation("profile")
    found.subject = {"tool": "aiperf"}
    rows = list(metric_table.table(source, found))
    if not rows:
        raise source.refuse("the table has no row", "import the file as AIPerf wrote it", code=3)
    values = {tag_of(row.name): row.values.get("Value") for row in rows}
    failed, completed = (whole(values.get(tag)) for tag in ("error_request_count", "request_count"))
    ended = whole(values.get("completed_requests"))
    if failed is None and ended is not None and completed is not None and ended >= completed:
        failed = ended - completed
    found.requests = Requests(None, completed, failed)
    if failed is not None and found.requests.completed is None:
        found.requests = Requests(None, 0, failed)
    for row in rows:
        tag = tag_of(row.name)
        if tag in METRICS:
            told = {
                metric_table.STATISTICS[key]: value
                for key, value in row.values.items()
                if key in metric_table.STATISTICS
            }
            _add(found, tag, row.unit or "count", told, None, row.line, metric_table.ROUNDING)
        elif tag not in _FACTS:
            found.foreign |= foreign({tag: row.values}, set())
    add_lengths(found)
    totals = {
        tag: value
        for tag, said in (("total_osl", "total_output_sequence_length"),)
        if is_number(value := values.get(said))
    }
    _judge(found, totals, metric_table.ROUNDING)
    if is_cut(source):
        find(found, "cut-short", CUT)
    find(found, "rounded", "the CSV has two decimals: a number may be off by 0.005; the JSON export is exact")
    judge_counts(found)
    return found


AIPERF = Importer("aiperf", "aiperf profile, summary in JSON or CSV", recognises, read, generation, UNKNOWN)
