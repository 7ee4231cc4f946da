"""Logs of MLPerf's load generator: mlperf_log_summary.txt and mlperf_log_detail.txt.

Source: loadgen/results.cc (LogSummary, LogDetail), loadgen/logging.cc of mlcommons/inference, v0.5 to v5.1. Latencies are
nanoseconds; quantiles are samples of the sorted list, not interpolated; offline, samples per second are the samples over the
greatest latency. VALID says that durations, counts and latency bounds were met, and nothing of the answers. In the detail
log `result_token_throughput` divides by nanoseconds, and of a server `result_token_throughput_with_loadgen_overhead` by the
time until the last query was issued, not answered: they are no throughput, and stay foreign. Where a query has several
samples (MultiStream), only what is called a query's is counted by queries; first tokens and times per token are by samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.mlperf_lines import BY_SAMPLE, Said, details, summaries
from hio_validate.importing.results.record_numbers import Readings, fact, is_measurable, statistic_of
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import whole

_TITLE = "MLPerf Results Summary"
_FAMILIES = (
    (r"([0-9.]+)(?:th)? percentile latency \(ns\)|(Min|Max|Mean) latency \(ns\)", "latency-sample"),
    (rf"{BY_SAMPLE}([0-9.]+) percentile latency \(ns\)|{BY_SAMPLE}(Min|Max|Mean) latency \(ns\)", "latency-sample"),
    (r"([0-9.]+)th first token percentile latency \(ns\)", "ttft-harness"),
    (r"([0-9.]+) percentile first token latency \(ns\)|(Min|Max|Mean) First Token latency \(ns\)", "ttft-harness"),
    (r"([0-9.]+) percentile time to output token \(ns\)|(Min|Max|Mean) Time (?:to|per) Output Token \(ns\)", "itl-request-harness"),
    (r"result_([0-9.]+)_percentile_latency_ns|result_(min|max|mean)_latency_ns", "latency-sample"),
    (r"result_([0-9.]+)_percentile_per_query_latency_ns|result_(min|max|mean)_query_latency_ns", "latency-query"),
    (r"result_first_token_([0-9.]+)_percentile_latency_ns|result_first_token_(min|max|mean)_latency_ns", "ttft-harness"),
    (r"result_time_per_output_token_([0-9.]+)_percentile_ns|result_time_to_output_token_(min|max|mean)", "itl-request-harness"),
)  # fmt: skip
_RATES = {
    "Samples per second": ("throughput-samples", "sample/s"),
    "Completed samples per second": ("throughput-samples", "sample/s"),
    "QPS w/ loadgen overhead": ("throughput-samples", "sample/s"),
    "Tokens per second": ("throughput-output", "token/s"),
    "Completed tokens per second": ("throughput-output", "token/s"),
    "TPS w/ loadgen overhead": ("throughput-output", "token/s"),
    "result_samples_per_second": ("throughput-samples", "sample/s"),
    "result_completed_samples_per_sec": ("throughput-samples", "sample/s"),
    "result_qps_with_loadgen_overhead": ("throughput-samples", "sample/s"),
    "result_tokens_per_second": ("throughput-output", "token/s"),
    "result_completed_tokens_per_second": ("throughput-output", "token/s"),
    "result_token_throughput_with_loadgen_overhead": ("throughput-output", "token/s"),
}
_ISSUED = "result_token_throughput_with_loadgen_overhead"
"""Tokens over the time until the last query was issued."""
_WORKLOAD = {
    "Scenario": "scenario", "effective_scenario": "scenario", "Mode": "mode", "effective_test_mode": "mode",
    "samples_per_query": "samples_per_query", "effective_samples_per_query": "samples_per_query",
    "target_qps": "target_rate", "effective_target_qps": "target_rate", "performance_sample_count": "samples_loaded",
    "Scheduled samples per second": "scheduled_rate", "result_scheduled_samples_per_sec": "scheduled_rate",
}  # fmt: skip
_SUBJECT = {"SUT name": "system", "loadgen_version": "loadgen", "benchmark": "benchmark"}


def _read(source: Source, said: Iterator[Said]) -> Iterator[Observation]:
    names: dict[str, int] = {}
    for each in said:
        record = _observation(each)
        names[record.name] = names.get(record.name, 0) + 1
        if names[record.name] > 1:
            record.name += f"-{names[record.name]}"
        yield record
    if not names:
        raise source.refuse("it has no result", "run the benchmark again", code=3)


def _observation(said: Said) -> Observation:
    values = said.values
    readings = Readings(values, said.line)
    n = _samples(values)
    for pattern, definition in _FAMILIES:
        _family(readings, pattern, definition, n)
    for key, (definition, unit) in _RATES.items():
        if key in values and not (key == _ISSUED and _is_no_throughput(readings)):
            readings.take(key, definition, "value", unit)
    readings.first_within_whole(("ttft-harness",), "latency-sample")
    _rate_of_offline(readings)
    readings.completed(n)
    validity = str(values.get("Result is", values.get("result_validity", "")))
    if validity == "INVALID":
        readings.finding("result-invalid", "the load generator itself says INVALID")
    elif validity not in ("VALID", ""):
        readings.finding("result-invalid", f"expected VALID or INVALID, the load generator says {validity}")
    readings.findings += said.findings
    workload = {
        name: value for key, name in _WORKLOAD.items() if (value := fact(values.get(key))) is not None
    }
    foreign = _foreign(values, readings.used | _WORKLOAD.keys() | _SUBJECT.keys())
    return Observation(
        name=str(workload.get("scenario", "run")).replace(" ", "").lower(),
        line=said.line,
        subject={
            name: value for key, name in _SUBJECT.items() if (value := fact(values.get(key))) is not None
        },
        workload=workload,
        requests=Requests(completed=n),
        metrics=readings.metrics,
        foreign=foreign,
        findings=readings.findings,
        unknown=(
            *readings.unknown,
            *(() if validity else ("whether the load generator held the run valid",)),
        ),
    )


def _family(readings: Readings, pattern: str, definition: str, n: int | None) -> None:
    keys: dict[str, str] = {}
    for key in readings.values:
        match = re.fullmatch(pattern, key)
        if match:
            word = next(group for group in match.groups() if group)
            statistic = statistic_of(f"p{float(word):g}" if word[0].isdigit() else word.lower())
            if statistic is not None:
                keys[key] = statistic
    if not keys:
        return
    of_several = _scenario(readings.values).startswith("Multi")
    if (
        of_several
        and definition == "latency-sample"
        and "Scenario" in readings.values
        and BY_SAMPLE not in pattern
    ):
        definition = "latency-query"
    if of_several and definition != "latency-query":
        n = _of_queries(readings.values, n)
    readings.family(keys, definition, "ns", n)


def _scenario(values: Mapping[str, Any]) -> str:
    return str(values.get("Scenario", values.get("effective_scenario", "")))


def _of_queries(values: Mapping[str, Any], queries: int | None) -> int | None:
    """How many samples so many queries have."""
    each = values.get("samples_per_query", values.get("effective_samples_per_query"))
    count = whole(each)
    return queries * count if queries is not None and count else None


def _is_no_throughput(readings: Readings) -> bool:
    """Whether the rate until the last query was issued is none of the run: another one is, or the queries did not wait."""
    if _scenario(readings.values) == "Server":
        readings.unknown.append(
            f"{_ISSUED}: until the last query was issued, not answered, so that it is no throughput"
        )
        return True
    return "result_completed_tokens_per_second" in readings.values


def _samples(values: Mapping[str, Any]) -> int | None:
    """How many samples there were, from what says so or from what follows: a rate over the greatest latency."""
    offline = "Offline" in (values.get("Scenario"), values.get("effective_scenario"))
    for key in () if offline else ("result_query_count", "processed"):  # offline, all samples are one query
        if (count := whole(values.get(key))) is not None:
            return count
    if (computed := _offline(values)) is not None:
        return computed if isinstance(computed, int) else None
    least, limit = values.get("min_query_count"), values.get("max_query_count")
    return whole(least) or None if least == limit else None


def _offline(values: Mapping[str, Any]) -> int | float | None:
    """Samples of an offline run, its rate over the greatest latency; a float where that is no whole number.

    None where the rate, written with 6 digits, is too coarse to tell one sample from the next.
    """
    rate = values.get("Samples per second", values.get("result_samples_per_second"))
    most = values.get("Max latency (ns)", values.get("result_max_latency_ns"))
    if not is_measurable(rate) or not is_measurable(most) or not rate or not most:
        return None
    computed = rate * most / 1e9
    error = computed * 0.5 * 10 ** (math.floor(math.log10(rate)) - 5) / rate + computed * 1e-9
    if not math.isfinite(computed) or error >= 0.4:
        return None
    return round(computed) if abs(computed - round(computed)) <= error else computed


def _rate_of_offline(readings: Readings) -> None:
    """Offline, the rate times the greatest latency is a whole number of samples."""
    computed = _offline(readings.values)
    if isinstance(computed, float):
        text = f"the rate over the greatest latency is {computed:.3f} samples, which is no whole number"
        readings.drop(["Samples per second", "result_samples_per_second"], "rate-contradicts-counts", text)


def _foreign(values: Mapping[str, Any], known: set[str]) -> dict[str, Fact]:
    left = {key: value for key, value in values.items() if key not in known}
    return {key: found for key, value in list(left.items())[:200] if (found := fact(value)) is not None}


_UNKNOWN = (
    "model, precision and settings: the logs name the load generator's alone",
    "lengths of prompts and answers",
    "whether the answers were right: VALID speaks of durations, counts and bounds",
    "how the system under test reports a first token",
    "trials: one log is one run",
)
MLPERF_SUMMARY = Importer(
    format="mlperf-summary",
    about="mlperf_log_summary.txt of MLPerf's load generator",
    recognises=lambda source: _TITLE in source.head and "SUT name" in source.head,
    read=lambda source: _read(source, summaries(source)),
    generation=lambda source: "with token latencies" if "First Token" in source.head else None,
    unknown=(*_UNKNOWN, "when it was measured, and with which load generator"),
)
MLPERF_DETAIL = Importer(
    format="mlperf-detail",
    about="mlperf_log_detail.txt of MLPerf's load generator, or lines of MLPerf's older logger",
    recognises=lambda source: ":::MLL" in source.head or ":::MLPv" in source.head,
    read=lambda source: _read(source, details(source)),
    generation=lambda source: "MLLOG" if ":::MLLOG" in source.head else "MLPv0.5.0",
    unknown=_UNKNOWN,
)
