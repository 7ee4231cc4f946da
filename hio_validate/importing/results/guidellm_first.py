"""Reports of GuideLLM 0.1, which have rows and few sums.

Source: src/guidellm/core/result.py, 0.1. request_latency is in seconds, the other times are in milliseconds; the inter-token
latency of a row is (last token - first token) / (tokens - 1). Every statistic is computed from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.columns import Columns
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.summarised import (
    judge_counts,
    without_secrets,
)

_MODE = re.compile(r'"mode"\s*:\s*"(?:asynchronous|synchronous|throughput)"')


def is_one(head: str) -> bool:
    return bool('"benchmarks"' in head and _MODE.search(head) and '"results"' in head)


def record(benchmark: Mapping[str, Any], report: Mapping[str, Any], taken: Names) -> Observation:
    """One benchmark of a report, its statistics from its rows."""
    rate, mode = benchmark.get("rate"), str(benchmark.get("mode") or "benchmark")
    found = Observation(taken.distinct(f"{mode}-{rate:g}" if is_number(rate) else mode))
    found.subject = {"tool": "guidellm"}
    args = report.get("args")
    args = args if isinstance(args, dict) else {}
    if isinstance(model := args.get("model"), str):
        found.subject["model"] = model
    if isinstance(target := args.get("target"), str):
        found.subject["endpoint"] = without_secrets(target)
    found.workload = {"load": mode}
    if is_number(rate):
        found.workload["request_rate"] = rate
    if mode == "synchronous":
        found.workload["concurrency"] = 1
    results, errors = benchmark.get("results"), benchmark.get("errors")
    rows = [row for row in results if isinstance(row, dict)] if isinstance(results, list) else []
    failed = len(errors) if isinstance(errors, list) else None
    asked = len(rows) + failed if failed is not None else None
    found.requests = Requests(asked, len(rows), failed)
    with Columns(derived=True) as columns:
        for row in rows:
            _add_row(columns, row)
        columns.tell(found)
        for key, name in (
            ("prompt_token_count", "prompt_tokens"),
            ("output_token_count", "generated_tokens"),
        ):
            if (mean := columns.of(key, "mean")) is not None:
                found.workload[name] = mean
    judge_counts(found)
    return found


def _add_row(columns: Columns, row: dict[str, Any]) -> None:
    start, token, last, end = (
        row.get(key) for key in ("start_time", "first_token_time", "last_token_time", "end_time")
    )
    if is_number(start) and is_number(end):
        columns.add("request_latency", "latency-request", "s", end - start, 0)
    if is_number(start) and is_number(token):
        columns.add("time_to_first_token", "ttft-client", "ms", 1000 * (token - start), 0)
    count = row.get("output_token_count")
    if is_number(token) and is_number(last) and is_number(count) and count > 1:
        columns.add("inter_token_latency", "itl-request-mean", "ms", 1000 * (last - token) / (count - 1), 0)
    for key, definition in (
        ("prompt_token_count", "prompt-length"),
        ("output_token_count", "generated-length"),
    ):
        if row.get(key) is not None:
            columns.add(key, definition, "1", row[key], 0)
