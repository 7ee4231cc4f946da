"""Reports of GuideLLM 0.1, which have rows and few sums, and how its versions say which data was asked for.

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
from hio_validate.importing.results.summarised import (
    distinct,
    judge_counts,
    without_secrets,
)

_MODE = re.compile(r'"mode"\s*:\s*"(?:asynchronous|synchronous|throughput)"')


def is_one(head: str) -> bool:
    return bool('"benchmarks"' in head and _MODE.search(head) and '"results"' in head)


def record(benchmark: Mapping[str, Any], report: Mapping[str, Any], taken: set[str]) -> Observation:
    """One benchmark of a report, its statistics from its rows."""
    rate, mode = benchmark.get("rate"), str(benchmark.get("mode") or "benchmark")
    found = Observation(distinct(f"{mode}-{rate:g}" if is_number(rate) else mode, taken))
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


def asked(data: Any) -> dict[str, Any]:
    """What a report says about the data: prompt_tokens, output_tokens and dataset, as far as it does.

    data: `prompt_tokens=256,output_tokens=128`, the same as JSON, a dataset's name, or a list with one of these.
    """
    if isinstance(data, list):
        data = data[0] if len(data) == 1 else None
    if isinstance(data, str):
        text = data.strip()
        data = _pairs(text)
        if not data:
            return {"dataset": text} if text and not text.startswith(("{", "[")) else {}
    if not isinstance(data, dict):
        return {}
    found = {key: data[key] for key in ("prompt_tokens", "output_tokens") if is_number(data.get(key))}
    kind = data.get("kind")
    name = (
        data.get("source")
        or data.get("path")
        or data.get("dataset")
        or (kind if kind != "synthetic_text" else None)
    )
    return {**found, "dataset": name if isinstance(name, str) else "synthetic"} if found or name else {}


def _pairs(text: str) -> dict[str, Any]:
    if text.startswith("{"):
        import json  # only for data that is JSON

        try:
            found = json.loads(text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
    pairs = [pair.partition("=") for pair in text.split(",")]
    return {key.strip(): int(value) for key, _, value in pairs if value.strip().isdecimal()}
