"""What `vllm bench serve` and its forerunner benchmark_serving.py save, every generation since December 2023.

Source of keys and formulas: benchmarks/benchmark_serving.py (to v0.10) and vllm/benchmarks/serve.py (`calculate_metrics`,
`benchmark`, `main`) of vllm-project/vllm; sweeps: vllm/benchmarks/sweep/serve.py. Statistics are milliseconds, the lists of
--save-detailed seconds. TPOT is (latency - TTFT) / (generated tokens - 1), one observation a request; in the first
generation, known by its `request_inthroughput`, it was latency / generated tokens. ITL is each gap
between two pieces. InferenceX's bench_serving and SGLang's are forks; SGLang's has an importer of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.objects import Skipped, objects, records, says
from hio_validate.importing.results.record_numbers import (
    Readings,
    agrees,
    fact,
    facts,
    per_request,
    rest,
    statistic_of,
)
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.tables import table
from hio_validate.importing.results.vllm_lists import hold_against_lists
from hio_validate.importing.results.whole_run import at_once, judge_drafting, judge_duration, judge_requests

_SUBJECT = {
    "backend": "backend", "endpoint_type": "backend", "version": "version", "model_id": "model",
    "tokenizer_id": "tokenizer", "label": "label", "tensor_parallel_size": "tp",
}  # fmt: skip
_WORKLOAD = {
    "num_prompts": "prompts", "request_rate": "request_rate", "burstiness": "burstiness",
    "max_concurrency": "concurrency", "best_of": "best_of", "use_beam_search": "beam_search",
    "ramp_up_strategy": "ramp_up", "ramp_up_start_rps": "ramp_up_from", "ramp_up_end_rps": "ramp_up_to",
    "run_number": "run", "probe_completed": "probe_requests",
}  # fmt: skip
_LISTS = {
    "input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times",
    "generated_texts", "errors", "rps_change_events", "spec_decode_per_position_acceptance_rates",
}  # fmt: skip
_FAMILY = re.compile(
    r"(mean|median|std|p[0-9.]+)_(ttft|tpot|itl|e2el|client_queue_time|e2el_including_client_queue)_ms"
)
_OLD_LATENCY = re.compile(r"(median|p[0-9]+)_request_latency")
_DEFINITIONS = {
    "tpot": "itl-request-mean", "itl": "itl-per-gap", "e2el": "latency-request",
    "client_queue_time": "client-queue", "e2el_including_client_queue": "latency-queued",
}  # fmt: skip


def _recognises(source: Source) -> bool:
    if says(source, "error_type", "serve_overrides"):
        return True
    if source.head.lstrip("\n, ").startswith(("date,", "unnamed")) or source.head.startswith(",date,"):
        return "model_id" in source.head and "request_throughput" in source.head
    counts = says(source, "completed", "total_input_tokens") and not says(
        source, "total_output_tokens_retokenized"
    )
    return counts and (says(source, "request_throughput") or says(source, "request_inthroughput"))


def _generation(source: Source) -> str | None:
    """By the keys that each change of the writer brought; the file itself names no version."""
    for key, words in (
        ("total_input_sequences", "vllm bench serve, pooling"),
        ("queue_times", "vllm bench serve with client queue times"),
        ("endpoint_type", "vllm bench serve"),
        ("request_goodput:", "benchmark_serving with goodput"),
        ("request_inthroughput", "benchmark_serving of 2023"),
        ("tokenizer_id", "benchmark_serving"),
    ):
        if f'"{key}"' in source.head or f",{key}," in source.head:
            return words
    return None


def _read(source: Source) -> Iterator[Observation]:
    if says(source, "error_type", "serve_overrides") and not says(source, "completed"):
        _, failure = next(objects(source, Skipped(source)), (0, {}))
        why = f"this point of the sweep failed ({str(failure.get('error_type'))[:60]}): nothing was measured"
        raise source.refuse(why, "mend what failed and run the sweep again, with --resume", code=3)
    is_table = source.head.lstrip()[:1] not in ("{", "[") and ",model_id," in source.head
    yield from records(source, _observation, table if is_table else objects)


def _observation(values: dict[str, Any], line: int) -> Observation:
    readings = Readings(values, line)
    requests = _requests(readings)
    duration, completed = readings.number("duration"), requests.completed
    inputs, outputs = readings.count("total_input_tokens"), readings.count("total_output_tokens")
    _throughputs(readings, duration, completed, inputs, outputs)
    _families(readings, completed)
    _drafting(readings)
    if completed:
        hold_against_lists(readings, completed, _first_token(values), "itl-per-gap")
    readings.first_within_whole(("ttft-client", "ttft-event", "unknown"), "latency-request")
    judge_requests(readings, requests)
    judge_duration(readings, duration, completed, at_once(values.get("max_concurrency")))
    readings.completed(completed)
    if values.get("run_number") == -1:
        readings.drop(
            [each.name for each in readings.metrics],
            "warm-up",
            "it is the warm-up of a sweep, which counts nowhere",
        )
    workload = facts(values, _WORKLOAD)
    for name, total in (("prompt_tokens", inputs), ("generated_tokens", outputs)):
        if each := per_request(total, completed):
            workload[name] = each
    known = readings.used | _SUBJECT.keys() | _WORKLOAD.keys() | _LISTS | {"date"}
    known |= {"rtfx"} if values.get("rtfx") == 0 else set()  # seconds of audio in a second: there was none
    return Observation(
        name=_name(values),
        line=line,
        at=str(values["date"]) if values.get("date") else None,
        subject=facts(values, _SUBJECT),
        workload=workload,
        requests=requests,
        metrics=readings.metrics,
        foreign=rest(values, known),
        findings=readings.findings,
        unknown=tuple(readings.unknown),
    )


def _name(values: Mapping[str, Any]) -> str:
    """concurrency-4, rate-10 or all-at-once: what tells the records of a sweep apart."""
    words = []
    if values.get("max_concurrency") not in (None, ""):
        words.append(f"concurrency-{fact(values['max_concurrency'])}")
    rate = fact(values.get("request_rate"))
    if rate not in (None, "inf"):
        words.append(f"rate-{rate:g}" if isinstance(rate, float) else f"rate-{rate}")
    return "-".join(words) or "all-at-once"


def _requests(readings: Readings) -> Requests:
    errors = readings.values.get("errors")
    failed = readings.count("failed")
    if failed is None and isinstance(errors, list):
        failed = sum(bool(each) for each in errors)
    return Requests(readings.count("num_prompts"), readings.count("completed"), failed)


def _throughputs(
    readings: Readings, duration: float | None, completed: int | None, inputs: int | None, outputs: int | None
) -> None:
    readings.take("duration", "duration", "value", "s")
    for key in ("request_throughput", "request_inthroughput"):
        readings.rate(key, "throughput-requests", "request/s", completed, duration)
    for key in ("request_goodput", "request_goodput:"):
        _goodput(readings, key, completed, duration)
    readings.rate("input_throughput", "throughput-input", "token/s", inputs, duration)
    readings.rate("output_throughput", "throughput-output", "token/s", outputs, duration)
    pooling = "total_input_sequences" in readings.values or "total_output_tokens" not in readings.values
    total = inputs if pooling else None if inputs is None or outputs is None else inputs + outputs
    definition = "throughput-input" if pooling else "throughput-total"
    readings.rate("total_token_throughput", definition, "token/s", total, duration)
    peak = {"max_output_tokens_per_s": "max"}
    readings.family(peak, "throughput-pieces-second", "token/s", what="max_output_tokens_per_s")
    readings.family({"max_concurrent_requests": "max"}, "concurrency", "1", what="max_concurrent_requests")


def _goodput(readings: Readings, key: str, completed: int | None, duration: float | None) -> None:
    good = readings.number(key)
    if good is None:
        return
    if completed is not None and duration and good > completed / duration * (1 + 1e-6):
        readings.finding("rate-contradicts-counts", f"{key} is {good:g} request/s, more than were completed")
        return
    readings.take(key, "goodput-requests", "value", "request/s")


def _first_token(values: Mapping[str, Any]) -> str:
    """How TTFT is counted: of a chat, newer clients count the first event even where it holds the role alone."""
    backend = str(values.get("endpoint_type") or values.get("backend") or "")
    if "chat" not in backend:
        return "ttft-client"
    return "ttft-event" if "endpoint_type" in values else "unknown"


def _families(readings: Readings, completed: int | None) -> None:
    found: dict[str, dict[str, str]] = {}
    for key in readings.values:
        match = _FAMILY.fullmatch(key)
        if match and (statistic := statistic_of(match[1])):
            found.setdefault(match[2], {})[key] = statistic
    first = _first_token(readings.values)
    for quantity, keys in found.items():
        definition = first if quantity == "ttft" else _DEFINITIONS[quantity]
        if quantity == "tpot" and "request_inthroughput" in readings.values:
            definition = "tpot-whole"
        every = completed if quantity not in ("tpot", "itl") else None
        readings.family(keys, definition, "ms", every, quantity)
    old = {
        key: word
        for key in readings.values
        if (at := _OLD_LATENCY.fullmatch(key)) and (word := statistic_of(at[1]))
    }
    readings.family(old, "latency-request", "ms", completed, "request latency")
    if first == "unknown" and "ttft" in found:
        readings.unknown.append("whether the first event of a chat counted where it held the role alone")


def _drafting(readings: Readings) -> None:
    """Acceptance is percent, the length counts the target's own token; both are held against their counts.

    The steps of a diffusion model are counted by the server as drafts, which they are none of.
    """
    if any(key.startswith("diffusion_") for key in readings.values):
        readings.unknown.append(
            "tokens in a piece: a diffusion model commits several at once, so that a gap is not a token"
        )
        readings.used |= {key for key in readings.values if key.startswith("spec_decode_")}
        return
    drafted = readings.count("spec_decode_draft_tokens")
    accepted, drafts = readings.count("spec_decode_accepted_tokens"), readings.count("spec_decode_num_drafts")
    if drafted is None and readings.number("spec_decode_acceptance_rate") is None:
        return
    readings.take("spec_decode_acceptance_rate", "draft-acceptance", "value", "%")
    readings.take("spec_decode_acceptance_length", "draft-length", "value", "1")
    judge_drafting(readings, drafted, accepted)
    said = {each.name: each.value for each in readings.metrics}
    share, length = said.get("spec_decode_acceptance_rate"), said.get("spec_decode_acceptance_length")
    if share is not None and share > 100:
        text = f"acceptance is {share:g} %: more was accepted than was drafted"
        readings.drop(["spec_decode_acceptance_rate"], "impossible-value", text)
    elif (
        accepted is not None and drafted and share is not None and not agrees(share, accepted / drafted * 100)
    ):
        text = f"acceptance is {share:g} %, but {accepted} of {drafted} drafted tokens were accepted"
        readings.drop(["spec_decode_acceptance_rate"], "rate-contradicts-counts", text)
    if accepted is not None and drafts and length is not None and not agrees(length, 1 + accepted / drafts):
        text = f"acceptance length is {length:g}, but {accepted} tokens were accepted of {drafts} drafts"
        readings.drop(["spec_decode_acceptance_length"], "rate-contradicts-counts", text)
    readings.unknown.append(
        "tokens in a piece: with drafting several may come at once, so that a gap is not a token"
    )


VLLM_BENCH = Importer(
    format="vllm-bench",
    about="vllm bench serve, benchmark_serving.py, vllm bench sweep",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "build, settings and device of the server: the file names the client's arguments alone",
        "dataset, seed and sampling of the requests",
        "whether a cache answered a part of the prompts",
        "warm-up before the first counted request",
        "whether several tokens came in one piece, without --save-detailed",
        "trials: one file is one run of one server process",
    ),
    content=True,
)
