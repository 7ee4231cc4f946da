"""What SGLang's bench_serving appends to its JSON lines, one object a run.

Source of keys and formulas: python/sglang/bench_serving.py (`calculate_metrics`, `benchmark`, async_request_*) of
sgl-project/sglang, v0.3 to v0.5.6; server_info of a disaggregated server: sgl-router. Statistics are milliseconds, the lists of --output-details seconds; `concurrency` is the
sum of the latencies over the duration. Two ways to count ITL hide behind one name: a gap between two pieces, or, since
p95_itl_ms, each gap divided among the tokens it brought.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Fact, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.objects import records, says
from hio_validate.importing.results.record_numbers import (
    Readings,
    agrees,
    fact,
    facts,
    is_measurable,
    per_request,
    rest,
    statistic_of,
)
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.vllm_lists import hold_against_lists
from hio_validate.importing.results.whole_run import at_once, judge_drafting, judge_duration, judge_requests

_SUBJECT = {"backend": "backend", "tag": "tag"}
_SERVER = {
    "version": "version", "model_path": "model", "tokenizer_path": "tokenizer", "served_model_name": "served_as",
    "tp_size": "tp", "dp_size": "dp", "ep_size": "ep", "pp_size": "pp", "quantization": "quantization",
    "dtype": "dtype", "kv_cache_dtype": "kv_cache_dtype", "attention_backend": "attention_backend",
    "speculative_algorithm": "speculative_algorithm", "chunked_prefill_size": "chunked_prefill_size",
    "max_running_requests": "max_running_requests", "mem_fraction_static": "mem_fraction_static",
    "disable_radix_cache": "disable_radix_cache", "disable_cuda_graph": "disable_cuda_graph",
}  # fmt: skip
"""What is kept of server_info: it holds every argument of the server, keys and passwords too."""
_ROLES = ("prefill", "decode")
_WORKLOAD = {"dataset_name": "dataset", "request_rate": "request_rate", "max_concurrency": "concurrency"}
_LISTS = {"input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "server_info"}
_RANDOM = {"random_range_ratio", "random_input_len", "random_output_len", "sharegpt_output_len"}
_FAMILY = re.compile(r"(mean|median|std|max|p[0-9.]+)_(ttft|tpot|itl|e2e_latency)_ms")


def _recognises(source: Source) -> bool:
    asked = says(source, "backend", "request_rate", "random_range_ratio")
    return asked and (says(source, "total_input_tokens") or says(source, "server_info"))


def _generation(source: Source) -> str | None:
    """By the keys that each change of the writer brought, where the arguments of the servers before them are not too long.

    Only server_info may name a version.
    """
    if not says(source, "duration"):
        return None
    for key, words in (
        ("max_concurrent_requests", "bench_serving with peaks"),
        ("p95_itl_ms", "bench_serving with gaps shared among tokens"),
        ("accept_length", "bench_serving with accept_length"),
        ("max_concurrency", "bench_serving with max_concurrency"),
    ):
        if says(source, key):
            return words
    return "bench_serving of 2024"


def _read(source: Source) -> Iterator[Observation]:
    yield from records(source, _observation)


def _observation(values: dict[str, Any], line: int) -> Observation:
    readings = Readings(values, line)
    requests = _requests(readings)
    duration, completed = readings.number("duration"), requests.completed
    inputs, outputs = readings.count("total_input_tokens"), readings.count("total_output_tokens")
    readings.take("duration", "duration", "value", "s")
    readings.rate("request_throughput", "throughput-requests", "request/s", completed, duration)
    readings.rate("input_throughput", "throughput-input", "token/s", inputs, duration)
    readings.rate("output_throughput", "throughput-output", "token/s", outputs, duration)
    both = None if inputs is None or outputs is None else inputs + outputs
    readings.rate("total_throughput", "throughput-total", "token/s", both, duration)
    _families(readings, completed)
    _streamed(readings)
    _concurrency(readings, completed, duration)
    accepted = readings.number("accept_length")
    if accepted:
        readings.take("accept_length", "draft-length", "value", "1")
        judge_drafting(readings, None, None)
        readings.unknown.append("tokens in a piece: with drafting several may come at once")
    if completed:
        apart = bool(accepted) and str(values.get("backend", "")).startswith("sglang-oai")
        hold_against_lists(readings, completed, _first_token(values), None if apart else _gap(values))
    readings.first_within_whole(("ttft-client", "ttft-answer"), "latency-request")
    _texts(readings, outputs)
    judge_requests(readings, requests)
    judge_duration(readings, duration, completed, at_once(values.get("max_concurrency")))
    readings.completed(completed)
    known = readings.used | _SUBJECT.keys() | _WORKLOAD.keys() | _LISTS | _RANDOM
    return Observation(
        name=_name(values),
        line=line,
        subject=_subject(values),
        workload=_workload(values, completed, inputs, outputs),
        requests=requests,
        metrics=readings.metrics,
        foreign=rest(values, known),
        findings=readings.findings,
        unknown=tuple(readings.unknown),
    )


def _requests(readings: Readings) -> Requests:
    """The file does not say how many were asked for; only its lists cover the failed ones, too."""
    completed, lengths = readings.count("completed"), readings.values.get("output_lens")
    errors = readings.values.get("errors")
    asked = len(lengths) if isinstance(lengths, list) and lengths else None
    failed = sum(bool(each) for each in errors) if isinstance(errors, list) and errors else None
    return Requests(asked, completed, failed)


def _subject(values: Mapping[str, Any]) -> dict[str, Fact]:
    server = values.get("server_info")
    found = _of_servers(server) if isinstance(server, dict) else {}
    if "version" in found:
        found["engine"] = "sglang"
    return {**facts(values, _SUBJECT), **found}


def _of_servers(server: Mapping[str, Any]) -> dict[str, Fact]:
    """What server_info says; of a router before servers of prefill and decode, what all of these have alike."""
    found = facts(server, _SERVER)
    roles = {role: [each for each in _list(server, role) if isinstance(each, dict)] for role in _ROLES}
    told = [facts(each, _SERVER) for servers in roles.values() for each in servers]
    if told:
        alike = set(told[0].items())
        for each in told[1:]:
            alike &= each.items()
        found = dict(alike) | found
        found["disaggregation"] = ", ".join(f"{len(roles[role])} {role}" for role in _ROLES)
    return found


def _list(values: Mapping[str, Any], key: str) -> list[Any]:
    found = values.get(key)
    return found if isinstance(found, list) else []


def _workload(
    values: Mapping[str, Any], completed: int | None, inputs: int | None, outputs: int | None
) -> dict[str, Fact]:
    workload = facts(values, _WORKLOAD)
    if str(values.get("dataset_name", "")).startswith("random") and is_measurable(
        values.get("random_range_ratio")
    ):
        workload["range_ratio"] = values["random_range_ratio"]
    for name, total in (("prompt_tokens", inputs), ("generated_tokens", outputs)):
        if each := per_request(total, completed):
            workload[name] = each
    return workload


def _name(values: Mapping[str, Any]) -> str:
    words = []
    if values.get("max_concurrency"):
        words.append(f"concurrency-{fact(values['max_concurrency'])}")
    rate = fact(values.get("request_rate"))
    if rate not in (None, "inf"):
        words.append(f"rate-{rate:g}" if isinstance(rate, float) else f"rate-{rate}")
    return "-".join(words) or "all-at-once"


def _first_token(values: Mapping[str, Any]) -> str:
    """Of a chat only `delta.content` counts, which is no reasoning."""
    return "ttft-answer" if str(values.get("backend", "")).endswith("-chat") else "ttft-client"


def _gap(values: Mapping[str, Any]) -> str:
    """How ITL is counted: shared among the tokens of a piece by the native client since p95_itl_ms, and with drafting
    by the completions client of the newest generation; in between nobody can tell."""
    backend, shared = str(values.get("backend", "")), "p95_itl_ms" in values
    if backend in ("sglang", "sglang-native"):
        return "itl-per-gap-shared" if shared else "itl-per-gap"
    if values.get("accept_length") and backend in ("sglang-oai", "sglang-oai-chat"):
        return "itl-per-gap-shared" if "max_concurrent_requests" in values else UNKNOWN
    return "itl-per-gap"


def _families(readings: Readings, completed: int | None) -> None:
    found: dict[str, dict[str, str]] = {}
    for key in readings.values:
        match = _FAMILY.fullmatch(key)
        if match and (statistic := statistic_of(match[1])):
            found.setdefault(match[2], {})[key] = statistic
    definitions = {
        "ttft": _first_token(readings.values),
        "tpot": "itl-request-mean",
        "e2e_latency": "latency-request",
    }
    for quantity, keys in found.items():
        every = completed if quantity in ("ttft", "e2e_latency") else None
        readings.family(keys, definitions.get(quantity) or _gap(readings.values), "ms", every, quantity)
    peak = {"max_output_tokens_per_s": "max"}
    readings.family(peak, "throughput-pieces-second", "token/s", what="max_output_tokens_per_s")
    readings.family({"max_concurrent_requests": "max"}, "concurrency", "1", what="max_concurrent_requests")


def _streamed(readings: Readings) -> None:
    """With --disable-stream the client takes the whole request as the wait for the first token, to the last digit."""
    whole = {each.statistic: each.value for each in readings.metrics if each.definition == "latency-request"}
    first = {each.statistic: each for each in readings.metrics if each.name.endswith("_ttft_ms")}
    both = first.keys() & whole.keys()
    if len(both) < 2 or any(first[word].value != whole[word] for word in both):
        return
    gone = {each.name for each in first.values()}
    gone |= {each.name for each in readings.metrics if each.name.endswith("_tpot_ms")}
    text = "TTFT is the latency in every statistic: the answers were not streamed, so that no first token was seen"
    readings.drop(gone, "not-streamed", text)


def _texts(readings: Readings, outputs: int | None) -> None:
    """Tells texts that hold far fewer tokens than were counted: where the server counts none, the asked ones are taken."""
    said = readings.values.get("total_output_tokens_retokenized")
    if outputs and is_measurable(said) and said < outputs / 2:
        text = f"{outputs} generated tokens are counted, but the texts of the answers hold {said:g}"
        readings.finding("few-tokens-in-texts", text)


def _concurrency(readings: Readings, completed: int | None, duration: float | None) -> None:
    readings.family({"concurrency": "mean"}, "concurrency", "1", what="concurrency")
    said = {each.name: each.value for each in readings.metrics}
    achieved, latency = said.get("concurrency"), said.get("mean_e2e_latency_ms")
    if achieved is None or latency is None or not completed or not duration:
        return
    computed = latency / 1000 * completed / duration
    if not agrees(achieved, computed, computed * 0.01):
        text = f"concurrency is {achieved:g}, but {completed} requests of {latency:g} ms in {duration:g} s are {computed:g}"
        readings.drop(["concurrency"], "rate-contradicts-counts", text)


SGLANG_BENCH = Importer(
    format="sglang-bench",
    about="SGLang's bench_serving",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "how many requests were asked for and how many failed, without --output-details",
        "build, settings and device of the server, where server_info is absent",
        "whether the answers were streamed: without it the first token is the whole request",
        "whether generated tokens were counted by the server or taken as asked",
        "whether a cache answered a part of the prompts",
        "when it was measured, and trials: one line is one run of one server process",
    ),
    content=True,
)
