"""Reports of GuideLLM: several benchmarks in one file, each with a load of its own.

How it counts (src/guidellm/schemas/request_stats.py and benchmark/schemas/metrics.py, 0.3 ... 0.8; before that
src/guidellm/benchmark/benchmark.py, 0.2): request_latency is in seconds, what ends in _ms in milliseconds. The inter-token
latency is a mean per request, weighted by its tokens; so is time_per_output_token_ms, which counts from the request's start
since 0.3 and from the first token in 0.2. Where all answers are equally long, a weight changes nothing. A percentile of a rate is one over the moments between two events, not over
requests, so that only the means of rates are read. The texts of requests are never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results import guidellm_first, guidellm_tables, guidellm_yaml
from hio_validate.importing.results.guidellm_config import first, name_of, subject, successful, workload
from hio_validate.importing.results.importer import Importer, foreign, is_number
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import (
    Summary,
    add,
    find,
    judge_counts,
    judge_rate,
    whole,
)

STATISTICS = {"mean": "mean", "median": "median", "std_dev": "std", "min": "min", "max": "max"}
PERCENTILES = {"p001": "p0.1", "p01": "p1", "p05": "p5", "p10": "p10", "p25": "p25", "p75": "p75", "p90": "p90",
               "p95": "p95", "p99": "p99", "p999": "p99.9"}  # fmt: skip


class Counted(NamedTuple):
    """How a metric of a report is counted."""

    definition: str
    unit: str
    weighted: bool = False
    """Whether its `count` counts tokens, not requests."""


METRICS = {
    "request_latency": Counted("latency-request", "s"),
    "time_to_first_token_ms": Counted("ttft-client", "ms"),
    "time_to_first_output_token_ms": Counted("ttft-answer", "ms"),
    "time_per_output_token_ms": Counted("tpot-whole", "ms", True),
    "inter_token_latency_ms": Counted("itl-request-mean", "ms", True),
    "prompt_token_count": Counted("prompt-length", "1"),
    "output_token_count": Counted("generated-length", "1"),
}
RATES = {
    "requests_per_second": Counted("throughput-requests", "request/s"),
    "prompt_tokens_per_second": Counted("throughput-input", "token/s"),
    "output_tokens_per_second": Counted("throughput-output", "token/s"),
    "tokens_per_second": Counted("throughput-total", "token/s"),
    "request_concurrency": Counted("concurrency", "1"),
}
WEIGHTED = {
    "itl-request-mean": "itl-request-weighted",
    "tpot-whole": "tpot-whole-weighted",
    "tpot-decode-n": "tpot-decode-n-weighted",
}
"""Definition of a time per token -> the one where each request weighs as many times as it has tokens."""
_PASSED_OVER = {"request_totals", "total_token_count", "text", "image", "video", "audio", "tool_call"}
"""Metrics that repeat others, or are about no text."""
_SLACK = 0.05
"""Share by which a rate may be above its count over the duration: GuideLLM counts from the first event of that metric."""
_GENERATED = re.compile(r'"type_"\s*:\s*"generative_benchmark"')
_VERSION = re.compile(r"""["']?guidellm_version["']?\s*:\s*["']?([\w.+-]+)""")


def recognises(source: Source) -> bool:
    head = source.head.lstrip()
    if head.startswith("{"):
        return bool('"guidellm_version"' in head or _GENERATED.search(head) or guidellm_first.is_one(head))
    return guidellm_tables.is_one(head) or guidellm_yaml.is_one(head)


def generation(source: Source) -> str | None:
    head = source.head.lstrip()
    if version := _VERSION.search(head.replace('""', '"')):
        return version[1]
    if head.startswith("{") and guidellm_first.is_one(head):
        return "0.1"
    if '"request_loader"' in head or '"strategy_index"' in head:
        return "0.2"
    return None


def read(source: Source) -> Iterator[Observation]:
    """Its benchmarks, one record each. Raises CannotImport."""
    head = source.head.lstrip()
    if head.startswith("{"):
        report = source.json()
    elif guidellm_tables.is_one(head):
        report = guidellm_tables.report(source)
    else:
        report = guidellm_yaml.report(source)
    benchmarks = report.get("benchmarks") if isinstance(report, dict) else None
    if not isinstance(benchmarks, list):
        raise source.refuse(
            "expected a GuideLLM report with a list of benchmarks", "import the file as guidellm wrote it"
        )
    if not benchmarks:
        raise source.refuse("the report holds no benchmark", "run guidellm until one has ended", code=3)
    taken = Names()
    for number, benchmark in enumerate(benchmarks, 1):
        if not isinstance(benchmark, dict):
            raise source.refuse(f"benchmark {number} is no object", "import the file as guidellm wrote it")
        if "metrics" not in benchmark and "results" in benchmark:
            yield guidellm_first.record(benchmark, report, taken)
        else:
            yield record(benchmark, report, taken)


def record(benchmark: Mapping[str, Any], report: Mapping[str, Any], taken: Names) -> Observation:
    """One benchmark."""
    strategy = first(benchmark, ("config", "strategy"), ("scheduler", "strategy"), ("args", "strategy"))
    found = Observation(taken.distinct(name_of(strategy)), line=benchmark.get("line", 0))
    started = benchmark.get("start_time")
    found.at = str(started) if is_number(started) or isinstance(started, str) else None
    found.subject = subject(benchmark, report)
    found.requests = _requests(benchmark)
    metrics = benchmark.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    _add_metrics(found, metrics, old="worker" in benchmark)
    found.workload = workload(benchmark, report, strategy, metrics)
    _add_duration(found, benchmark.get("duration"), metrics)
    _judge_rows(found, benchmark.get("requests"))
    found.foreign = foreign(metrics, METRICS.keys() | RATES.keys() | _PASSED_OVER, "metrics.")
    judge_counts(found)
    return found


def _add_metrics(found: Observation, metrics: Mapping[str, Any], old: bool) -> None:
    lengths = successful(metrics, "output_token_count")
    several = is_number(least := lengths.get("min")) and least >= 2
    weighs = not is_number(least) or least != lengths.get("max")
    for name, counted in METRICS.items():
        said = successful(metrics, name)
        count = whole(said.get("count"))
        if not said or count == 0:
            continue
        if _holds_absent(found, name, said):
            continue
        if counted.weighted:
            count = whole(lengths.get("count")) if several else None
        definition = "tpot-decode-n" if old and name == "time_per_output_token_ms" else counted.definition
        if counted.weighted and weighs:
            definition = WEIGHTED[definition]
        add(found, Summary(name, definition, counted.unit, _statistics(said), count, found.line))
        completed = found.requests.completed
        if count is not None and completed is not None and count > completed:
            find(
                found,
                "counts-contradict",
                f"{name} counts {count} requests, {completed} completed",
                found.line,
            )
    for name, counted in RATES.items():
        said = successful(metrics, name)
        wanted = ("mean", "max") if name == "request_concurrency" else ("mean",)
        if whole(said.get("count")) != 0:
            values = {key: said.get(key) for key in wanted}
            add(found, Summary(name, counted.definition, counted.unit, values, None, found.line))


def _holds_absent(found: Observation, name: str, said: Mapping[str, Any]) -> bool:
    """Whether a quantity that every request has is 0 for some: GuideLLM writes that for one of which it knows none.

    Source: `or 0.0` in GenerativeMetrics.compile, as for the first token of an answer that was not streamed.
    """
    if name == "output_token_count" and said.get("max") != 0:
        return False
    if said.get("min") != 0 or not is_number(said.get("max")):
        return False
    if said["max"] == 0:
        message = f"{name} is 0 throughout: nothing was measured, and absent is not zero"
        find(found, "zero-throughout", message, found.line)
    else:
        message = f"the least {name} is 0: GuideLLM counts a request of which it knows none as 0, so that mean and percentiles are too low"
        find(found, "absent-as-zero", message, found.line)
    return True


def _statistics(said: Mapping[str, Any]) -> dict[str, Any]:
    percentiles = said.get("percentiles")
    percentiles = percentiles if isinstance(percentiles, dict) else {}
    values = {statistic: said.get(key) for key, statistic in STATISTICS.items()}
    values |= {statistic: percentiles.get(key) for key, statistic in PERCENTILES.items()}
    if values["median"] is None:
        values["median"] = percentiles.get("p50")
    return values


def _requests(benchmark: Mapping[str, Any]) -> Requests:
    totals = first(benchmark, ("metrics", "request_totals"), ("request_totals",), ("run_stats", "requests_made"),
                   ("scheduler_metrics", "requests_made"))  # fmt: skip
    if not isinstance(totals, dict):
        return Requests()
    return Requests(*(whole(totals.get(key)) for key in ("total", "successful", "errored", "incomplete")))


def _add_duration(found: Observation, seconds: Any, metrics: Mapping[str, Any]) -> None:
    add(found, Summary("duration", "duration", "s", {"value": seconds}, 1, found.line))
    if not is_number(seconds) or seconds <= 0:
        return
    prompt = _total(metrics, "prompt_token_count")
    generated = _total(metrics, "output_token_count")
    both = prompt + generated if prompt is not None and generated is not None else None
    for name, counted in (
        ("requests_per_second", found.requests.completed),
        ("prompt_tokens_per_second", prompt),
        ("output_tokens_per_second", generated),
        ("tokens_per_second", both),
    ):
        judge_rate(found, name, counted, seconds, _SLACK)
        _judge_events(found, name, counted, seconds)


def _judge_events(found: Observation, name: str, counted: float | None, seconds: float) -> None:
    """Takes the definition off a rate that is less than its count over the duration: it counts fewer events, since those
    that come within a tenth of a millisecond are one (rate_distribution_from_timings)."""
    for index, each in enumerate(found.metrics):
        if each.name == name and counted and each.value < counted / seconds * (1 - _SLACK):
            found.metrics[index] = each._replace(definition=UNKNOWN)
            why = f"{name}: of which events it is, since {counted:g} over {seconds:g} s are {counted / seconds:g}"
            found.unknown = (*found.unknown, why)


def _total(metrics: Mapping[str, Any], name: str) -> float | None:
    total = successful(metrics, name).get("total_sum")
    return total if is_number(total) else None


def _judge_rows(found: Observation, requests: Any) -> None:
    """Drops a mean that the rows of all its requests contradict."""
    rows = requests.get("successful") if isinstance(requests, dict) else None
    if not isinstance(rows, list) or not rows or len(rows) != found.requests.completed:
        return
    for name in ("request_latency", "time_to_first_token_ms"):
        told = [row.get(name) for row in rows if isinstance(row, dict)]
        values = [value for value in told if is_number(value)]
        for measured in found.metrics:
            if measured.name == name and measured.statistic == "mean" and len(values) == measured.n:
                mean = sum(values) / len(values)
                if abs(mean - measured.value) > 1e-6 * max(abs(mean), 1e-9):
                    message = (
                        f"{name}: the mean is {measured.value:g} {measured.unit}, that of its rows {mean:g}"
                    )
                    find(found, "summary-contradicts-rows", message, found.line)
                    found.metrics[:] = [each for each in found.metrics if each.name != name]
                break


GUIDELLM = Importer(
    "guidellm",
    "guidellm benchmark, report in JSON, YAML or CSV",
    recognises,
    read,
    generation,
    (
        "which engine and build served, and with which settings",
        "the device, and what else ran on it",
        "whether the server's cache answered",
        "medians of a few requests: an even number has the lower one of two as its median",
        "percentiles of rates: those are over moments, not requests",
        "which requests were dropped as warm-up and cool-down",
    ),
    content=True,
)
