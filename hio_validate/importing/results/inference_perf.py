"""Reports of inference-perf (kubernetes-sigs): lifecycle metrics of a run, a stage or an adapter; of each request; of Prometheus.

Source: inference_perf/reportgen/base.py (`summarize_requests`, `summarize_prometheus_metrics`, generate_reports), three
generations. All times are seconds, rates are per second, percentages percent. NTPOT is the whole request over its generated
tokens. Until `output_tokens` was reported, TPOT divided by the pieces, not the tokens; since then every token of a piece
has the time of the piece, so that gaps within one are 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.inference_perf_requests import of_requests
from hio_validate.importing.results.objects import Skipped, objects, records, says
from hio_validate.importing.results.record_numbers import Readings, is_measurable, rest, statistic_of
from hio_validate.importing.results.source import Source
from hio_validate.quantity import counted

_LATENCIES = {
    "request_latency": "latency-request", "time_to_first_token": "ttft-client",
    "normalized_time_per_output_token": "tpot-whole",
}  # fmt: skip
_RATES = {
    "requests_per_sec": ("throughput-requests", "request/s"),
    "input_tokens_per_sec": ("throughput-input", "token/s"),
    "output_tokens_per_sec": ("throughput-output", "token/s"),
    "total_tokens_per_sec": ("throughput-total", "token/s"),
}
_OF_SERVER = {
    "time_to_first_token": "ttft-server", "request_latency": "latency-server",
    "time_per_output_token": "unknown", "inter_token_latency": "unknown",
}  # fmt: skip
_LENGTHS = {"prompt_len": "prompt-length", "output_len": "generated-length"}
_SINCE_07 = {"prompt_len": "prompt_tokens", "output_len": "output_tokens"}
"""Where a length stands in reports that no longer say it under its old name."""
_LOAD = {
    "count": "prompts", "requested_rate": "request_rate", "concurrency": "concurrency",
    "achieved_rate": "achieved_rate",
}  # fmt: skip
_KNOWN = {
    "latency",
    "throughput",
    "count",
    "by_label",
    "prompt_tokens",
    "output_tokens",
    "request_size_bytes",
}
_A_REQUEST = re.compile(r'\A\s*\[\s*\{\s*"start_time"\s*:\s*[\d.eE+-]+\s*,\s*"end_time"\s*:')
"""How the report of requests begins, whichever of their fields were asked for."""


def _recognises(source: Source) -> bool:
    summary = says(source, "load_summary", "successes", "failures")
    each = source.head.lstrip().startswith("[") and says(source, "start_time", "end_time", "request")
    return summary or ((each or bool(_A_REQUEST.match(source.head))) and not says(source, "successes"))


def _generation(source: Source) -> str | None:
    if not says(source, "load_summary"):
        return "per request"
    if says(source, "token_count_mismatches") or says(source, "output_tokens"):
        return "with output_tokens of the server"
    return "with benchmark_time_seconds" if says(source, "benchmark_time_seconds") else "of 2025"


def _read(source: Source) -> Iterator[Observation]:
    if says(source, "load_summary"):
        yield from records(source, _observation)
        return
    skipped = Skipped(source)
    yield of_requests(source, (values for _, values in objects(source, skipped)))


def _part(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _observation(values: dict[str, Any], line: int) -> Observation:
    load, done, failed = (_part(values, key) for key in ("load_summary", "successes", "failures"))
    readings = Readings(done, line, "successes.")
    count = readings.count("count")
    wrong = Readings(failed, line, "failures.").count("count")
    total = Readings(load, line, "load_summary.").count("count")
    seconds = Readings(values, line)
    duration = seconds.number("benchmark_time_seconds") or None
    if duration is not None:
        seconds.take("benchmark_time_seconds", "duration", "value", "s")
    of_server = not load and "latency" not in done
    parts = [seconds, readings]
    parts += _of_prometheus(done, line) if of_server else _of_clients(done, line, count, duration)
    everything = readings
    everything.metrics = [each for part in parts for each in part.metrics]
    everything.findings = [each for part in parts for each in part.findings]
    everything.unknown = [each for part in parts for each in part.unknown]
    everything.first_within_whole(("ttft-client",), "latency-request", of_all=False)
    if total is not None and count is not None and count + (wrong or 0) > total:
        text = f"{count} requests succeeded and {wrong or 0} failed of {total}"
        everything.finding("completed-exceeds-asked", text)
    _tell_retries(everything, _part(values, "retries"))
    everything.completed(count)
    return Observation(
        name=_name(load),
        line=line,
        workload=_workload(load, done) if count else _workload(load, {}),
        requests=Requests(total, count, wrong),
        metrics=everything.metrics,
        foreign=_foreign(load, done, failed, of_server),
        findings=everything.findings,
        unknown=tuple(everything.unknown + (["everything that a client sees"] if of_server else [])),
    )


def _tell_retries(readings: Readings, retries: Mapping[str, Any]) -> None:
    """Tells requests that were sent again: the latency of such a request counts every attempt, and the pauses between."""
    if is_measurable(again := retries.get("requests_retried")) and again:
        text = f"{counted(int(again), 'request')} sent again: a latency counts every attempt and the pauses between"
        readings.finding("sent-again", text)


def _name(load: Mapping[str, Any]) -> str:
    if is_measurable(load.get("concurrency")):
        return f"concurrency-{load['concurrency']}"
    return f"rate-{load['requested_rate']:g}" if is_measurable(load.get("requested_rate")) else "run"


def _workload(load: Mapping[str, Any], done: Mapping[str, Any]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for key, name in _LOAD.items():
        if is_measurable(load.get(key)):
            found[name] = load[key]
    for key, name in (("prompt_len", "prompt_tokens"), ("output_len", "generated_tokens")):
        mean = _part(done, _length(done, key)).get("mean")
        if is_measurable(mean) and mean:
            found[name] = int(mean) if mean == int(mean) else mean
    return found


def _length(done: Mapping[str, Any], key: str) -> str:
    """The key under which a report says a length."""
    return key if _part(done, key) else _SINCE_07[key]


def _family(
    values: Mapping[str, Any], key: str, line: int, definition: str, unit: str, n: int | None
) -> Readings:
    """The statistics of one quantity: an object of `mean`, `min`, `p90`, `median` ..."""
    part = Readings(_part(values, key), line, f"{key}.")
    words = {word: found for word in part.values if (found := statistic_of(word))}
    part.family(words, definition, unit, n, key)
    return part


def _of_clients(
    done: Mapping[str, Any], line: int, count: int | None, duration: float | None
) -> Iterator[Readings]:
    latency, throughput = _part(done, "latency"), _part(done, "throughput")
    of_tokens = "output_tokens" in done or "token_count_mismatches" in done
    definitions = {
        **_LATENCIES,
        "time_per_output_token": "itl-request-mean" if of_tokens else "gap-request-mean",
        "inter_token_latency": "itl-per-token" if of_tokens else "itl-per-gap",
    }
    for key, definition in definitions.items():
        n = count if key in ("request_latency", "normalized_time_per_output_token") else None
        yield _family(latency, key, line, definition, "s", n)
    for key, definition in _LENGTHS.items():
        yield _family(done, _length(done, key), line, definition, "1", count)
    rates = Readings(throughput, line, "throughput.")
    tokens = {
        "input_tokens_per_sec": _total(done, "prompt_len", count),
        "output_tokens_per_sec": None if of_tokens else _total(done, "output_len", count),
    }
    for key, (definition, unit) in _RATES.items():
        amount = count if key == "requests_per_sec" else tokens.get(key)
        rates.rate(key, definition, unit, amount, duration)
    _hold_sum(rates)
    yield rates
    good = Readings(_part(done, "goodput_metrics"), line, "goodput.")
    good.take("request_goodput", "goodput-requests", "value", "request/s")
    yield good


def _total(done: Mapping[str, Any], key: str, count: int | None) -> float | None:
    mean = _part(done, _length(done, key)).get("mean")
    return mean * count if is_measurable(mean) and count else None


def _hold_sum(rates: Readings) -> None:
    said = {each.definition: each.value for each in rates.metrics}
    one, other, both = (said.get(f"throughput-{key}") for key in ("input", "output", "total"))
    if one is not None and other is not None and both is not None and abs(one + other - both) > 1e-3 * both:
        text = f"total_tokens_per_sec is {both:g}, but input and output are {one:g} and {other:g}"
        names = [each.name for each in rates.metrics if each.definition != "throughput-requests"]
        rates.drop(names, "rate-contradicts-counts", text)


def _of_prometheus(done: Mapping[str, Any], line: int) -> Iterator[Readings]:
    """Statistics of the server's histograms, whose quantiles are interpolated within a bucket."""
    for key, definition in _OF_SERVER.items():
        yield _family(done, key, line, definition, "s", None)
    for key, definition in _LENGTHS.items():
        yield _family(done, key, line, definition, "1", None)


def _foreign(
    load: Mapping[str, Any], done: Mapping[str, Any], failed: Mapping[str, Any], of_server: bool
) -> dict[str, Fact]:
    mine = _KNOWN | _LENGTHS.keys() | (_OF_SERVER.keys() if of_server else set())
    found = {f"load_summary.{key}": value for key, value in rest(load, set(_LOAD)).items()}
    found |= {f"successes.{key}": value for key, value in rest(done, mine).items()}
    if is_measurable(cached := _part(done, "prompt_tokens").get("cached")):
        found["successes.prompt_tokens.cached"] = cached
    for label, value in _part(failed, "by_label").items():
        if isinstance(value, dict) and is_measurable(value.get("count")):
            found[f"failures.{label[:60]}"] = value["count"]
    return found


INFERENCE_PERF = Importer(
    format="inference-perf",
    about="reports of inference-perf: lifecycle metrics, Prometheus metrics",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "model, engine, build, settings and device: they stand in the configuration beside the report",
        "when it was measured",
        "dataset and seed of the requests",
        "whether a cache answered a part of the prompts",
        "tokens in a piece: whether a gap between two pieces is a token",
        "which generated tokens were counted: those of the server or of a tokenizer of the client",
        "trials: one report is one run",
    ),
    content=True,
)
