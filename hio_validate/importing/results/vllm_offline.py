"""What vLLM measures without a server: `vllm bench latency` and `vllm bench throughput`, and their forerunner scripts.

Source: vllm/benchmarks/latency.py, vllm/benchmarks/throughput.py (before v0.9 benchmarks/benchmark_latency.py and
benchmark_throughput.py). Times are seconds. One latency is one batch of prompts, generated as one; tokens per second count
prompt and generated tokens together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.objects import records, says
from hio_validate.importing.results.record_numbers import Readings, is_measurable, rest, statistic_of
from hio_validate.importing.results.source import Source


def _read(source: Source) -> Iterator[Observation]:
    yield from records(source, _observation)


def _observation(values: dict[str, Any], line: int) -> Observation:
    return _latency(values, line) if "avg_latency" in values else _throughput(values, line)


def _latency(values: dict[str, Any], line: int) -> Observation:
    readings = Readings(values, line)
    readings.family({"avg_latency": "mean", "std_latency": "std"}, "latency-batch", "s", what="latency")
    told = values.get("percentiles")
    quantiles = Readings(told if isinstance(told, dict) else {}, line, "percentiles.")
    keys = {key: word for key in quantiles.values if (word := statistic_of(f"p{key}"))}
    quantiles.family(keys, "latency-batch", "s", what="percentiles")
    readings.metrics += quantiles.metrics
    readings.findings += quantiles.findings
    batches = values.get("latencies")
    samples = [each for each in batches if is_measurable(each)] if isinstance(batches, list) else []
    if samples:
        readings.hold_against("latency-batch", samples, keep=True)
    elif isinstance(batches, list):
        readings.nothing_completed()
    return Observation(
        name="latency",
        line=line,
        requests=Requests(completed=len(samples)) if samples else Requests(),
        metrics=readings.metrics,
        foreign=rest(values, readings.used | {"percentiles", "latencies"}),
        findings=readings.findings,
        unknown=("size of the batch, and lengths of prompts and answers",),
    )


def _throughput(values: dict[str, Any], line: int) -> Observation:
    readings = Readings(values, line)
    elapsed, requests = readings.number("elapsed_time"), readings.count("num_requests")
    tokens = readings.count("total_num_tokens")
    readings.take("elapsed_time", "duration", "value", "s")
    readings.rate("requests_per_second", "throughput-requests", "request/s", requests, elapsed)
    readings.rate("tokens_per_second", "throughput-total", "token/s", tokens, elapsed)
    if requests == 0:
        readings.nothing_completed()
    return Observation(
        name="throughput",
        line=line,
        workload={"prompts": requests} if requests else {},
        requests=Requests(asked=requests),
        metrics=readings.metrics,
        foreign=rest(values, readings.used),
        findings=readings.findings,
        unknown=("how many of the tokens were prompts and how many answers", "how many requests failed"),
    )


VLLM_OFFLINE = Importer(
    format="vllm-offline",
    about="vllm bench latency, vllm bench throughput",
    recognises=lambda source: (
        says(source, "avg_latency", "percentiles")
        or says(source, "elapsed_time", "num_requests", "tokens_per_second")
    ),
    read=_read,
    generation=lambda source: "with std_latency" if says(source, "std_latency") else None,
    unknown=(
        "model, engine, build, settings and device",
        "a server: no queue, no network and no stream of pieces took part",
        "time to first token and gaps between tokens",
        "lengths of prompts and answers, and the dataset",
        "when it was measured, and trials: one file is one process",
    ),
)
