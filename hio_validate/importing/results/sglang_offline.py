"""What SGLang measures with one batch or without a server: bench_offline_throughput, bench_one_batch, bench_one_batch_server.

Source: python/sglang/bench_offline_throughput.py, bench_one_batch.py, bench_one_batch_server.py of sgl-project/sglang, v0.3
to v0.5.6. JSON lines; times are seconds, some rounded to 4 digits, rates to 2. -1 stands where nothing was measured. The output
throughput of bench_one_batch_server was over the whole latency, later over what follows the last first token, under one
name: which of the two a line means follows from its own arithmetic, or it is no metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.observed import Fact, Measured, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.objects import records, says
from hio_validate.importing.results.record_numbers import Readings, agrees, per_request, rest
from hio_validate.importing.results.source import Source

_ROUNDED = 5e-5
"""Seconds that a time with 4 digits may be off."""


def _recognises(source: Source) -> bool:
    offline = says(source, "successful_requests", "total_latency", "total_output_tokens")
    return offline or says(source, "run_name", "batch_size", "input_len", "output_len")


def _generation(source: Source) -> str | None:
    if says(source, "successful_requests"):
        return "bench_offline_throughput"
    return "bench_one_batch" if says(source, "prefill_latency") else "bench_one_batch_server"


def _read(source: Source) -> Iterator[Observation]:
    yield from records(source, _observation)


def _observation(values: dict[str, Any], line: int) -> Observation:
    readings = Readings({key: None if value == -1 else value for key, value in values.items()}, line)
    if "successful_requests" in values:
        return _offline(readings)
    return _batch(readings)


def _offline(readings: Readings) -> Observation:
    elapsed, done = readings.number("total_latency"), readings.count("successful_requests")
    inputs, outputs = readings.count("total_input_tokens"), readings.count("total_output_tokens")
    readings.take("total_latency", "duration", "value", "s")
    both = None if inputs is None or outputs is None else inputs + outputs
    readings.rate("request_throughput", "throughput-requests", "request/s", done, elapsed)
    readings.rate("input_throughput", "throughput-input", "token/s", inputs, elapsed)
    readings.rate("output_throughput", "throughput-output", "token/s", outputs, elapsed)
    readings.rate("total_throughput", "throughput-total", "token/s", both, elapsed)
    if done == 0:
        readings.nothing_completed()
    workload: dict[str, Fact] = {}
    for name, total in (("prompt_tokens", inputs), ("generated_tokens", outputs)):
        if each := per_request(total, done):
            workload[name] = each
    return _record(readings, "offline", workload, Requests(completed=done))


def _batch(readings: Readings) -> Observation:
    size, prompt, made = (readings.count(key) for key in ("batch_size", "input_len", "output_len"))
    inputs = None if size is None or prompt is None else size * prompt
    outputs = None if size is None or made is None else size * made
    both = None if inputs is None or outputs is None else inputs + outputs
    if "prefill_latency" in readings.values:
        _engine(readings, size, inputs, both)
    else:
        _server(readings, inputs, outputs, both)
    told = {"concurrency": size, "prompt_tokens": prompt, "generated_tokens": made}
    workload: dict[str, Fact] = {key: value for key, value in told.items() if value}
    return _record(readings, f"batch-{size}-{prompt}-{made}", workload, Requests(asked=size))


def _record(readings: Readings, name: str, workload: dict[str, Fact], requests: Requests) -> Observation:
    subject: dict[str, Fact] = {}
    for key in ("backend", "run_name"):
        if isinstance(value := readings.values.get(key), str) and value:
            subject[key] = value
    return Observation(
        name=name,
        line=readings.line,
        subject=subject,
        workload=workload,
        requests=requests,
        metrics=readings.metrics,
        foreign=rest(readings.values, readings.used | {"backend", "run_name"}),
        findings=readings.findings,
        unknown=tuple(readings.unknown),
    )


def _engine(readings: Readings, size: int | None, inputs: int | None, both: int | None) -> None:
    """bench_one_batch: a prefill, then one step for each token; the median step is timed."""
    prefill, step = readings.number("prefill_latency"), readings.number("median_decode_latency")
    whole = readings.number("total_latency")
    readings.take("prefill_latency", "prefill-time-batch", "value", "s")
    readings.rate("prefill_throughput", "prefill-rate-batch", "token/s", inputs, prefill)
    readings.take("median_decode_latency", "decode-time-batch", "median", "s")
    readings.rate("median_decode_throughput", "decode-rate-step", "token/s", size, step)
    readings.take("total_latency", "latency-batch", "value", "s")
    readings.rate("overall_throughput", "throughput-total", "token/s", both, whole)


def _server(readings: Readings, inputs: int | None, outputs: int | None, both: int | None) -> None:
    latency, first = readings.number("latency"), readings.number("last_ttft")
    readings.take("latency", "latency-batch", "value", "s")
    _over(readings, "overall_throughput", both, {"throughput-total": latency})
    after = latency - first if latency is not None and first is not None and latency > first else None
    _over(readings, "output_throughput", outputs, {"throughput-output": latency, "decode-rate-batch": after})
    _over(readings, "input_throughput", inputs, {"prefill-rate-batch": first, "throughput-input": latency})
    if readings.number("acc_length"):
        readings.take("acc_length", "draft-length", "value", "1")
    if readings.number("cache_hit_rate"):
        readings.unknown.append("work: a cache answered a part of the prompts")


def _over(readings: Readings, key: str, amount: int | None, spans: dict[str, float | None]) -> None:
    """A rate under the definition whose time it is over; none where it is over no time that the line tells."""
    value = readings.number(key)
    known = {definition: seconds for definition, seconds in spans.items() if seconds}
    if value is None or value == 0 or amount is None:
        return
    for definition, seconds in known.items():
        computed = amount / seconds
        if agrees(value, computed, computed * _ROUNDED * 2 / seconds):
            readings.metrics.append(Measured(key, definition, "value", value, "token/s"))
            return
    over = " and ".join(f"{amount / seconds:g} over {seconds:g} s" for seconds in known.values())
    if len(known) == len(spans):
        readings.finding(
            "rate-contradicts-counts", f"{key} is {value:g} token/s, but {amount} tokens are {over}"
        )
    else:
        readings.unknown.append(f"{key}: over which time it is")


SGLANG_OFFLINE = Importer(
    format="sglang-offline",
    about="SGLang's bench_offline_throughput, bench_one_batch and bench_one_batch_server",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "model, engine, build, settings and device",
        "gaps between tokens as a client sees them",
        "whether every request was answered: a batch is taken as one",
        "the prompts: their tokens are random, or of a dataset that is not named",
        "when it was measured, and trials: a line is one batch",
    ),
)
