"""Reports of GuideLLM 0.1, which have rows and few sums, and how its versions say which data was asked for.

Source: src/guidellm/core/result.py, 0.1. request_latency is in seconds, the other times are in milliseconds; the inter-token
latency of a row is (last token - first token) / (tokens - 1). Every statistic is computed from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.distribution import Distribution
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.summarised import (
    Summary,
    add,
    distinct,
    find,
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
    _add_rows(found, rows)
    judge_counts(found)
    return found


def _add_rows(found: Observation, rows: list[dict[str, Any]]) -> None:
    for name, definition, unit, end in (
        ("request_latency", "latency-request", "s", "end_time"),
        ("time_to_first_token", "ttft-client", "ms", "first_token_time"),
    ):
        factor = 1 if unit == "s" else 1000
        times = ((row.get(end), row.get("start_time")) for row in rows)
        values = [factor * (b - a) for b, a in times if is_number(a) and is_number(b)]
        _add_column(found, name, definition, unit, values)
    gaps = []
    for row in rows:
        last, token, count = (
            row.get(key) for key in ("last_token_time", "first_token_time", "output_token_count")
        )
        if is_number(last) and is_number(token) and is_number(count) and count > 1:
            gaps.append(1000 * (last - token) / (count - 1))
    _add_column(found, "inter_token_latency", "itl-request-mean", "ms", gaps)
    for key, name, definition in (
        ("prompt_token_count", "prompt_tokens", "prompt-length"),
        ("output_token_count", "generated_tokens", "generated-length"),
    ):
        counts = [row[key] for row in rows if is_number(row.get(key))]
        _add_column(found, key, definition, "1", counts)
        if counts:
            found.workload[name] = sum(counts) / len(counts)


def _add_column(found: Observation, name: str, definition: str, unit: str, values: list[int | float]) -> None:
    below = [value for value in values if value < 0]
    if below:
        find(found, "impossible-value", f"{name} is {below[0]:g} {unit} in a row: less than nothing")
        return
    with Distribution() as column:
        for value in values:
            column.add(value)
        statistics = {key: value for key, value in column.statistics().items() if key != "total"}
        add(found, Summary(name, definition, unit, statistics, column.count, derived=True))


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
