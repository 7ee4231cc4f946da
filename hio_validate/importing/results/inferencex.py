"""Aggregates of InferenceX (once InferenceMAX): a vLLM-like serving result, divided by devices and turned into seconds.

Source: utils/process_result.py of SemiAnalysisAI/InferenceX, all generations. It divides every `*_ms` by 1000 and drops the
suffix, so that times are SECONDS; `intvty` is 1000 / TPOT in ms, key by key. One over a mean is no mean of the rates and one
over a deviation is nothing at all; one over a quantile is the opposite quantile: p90_intvty is the 10th percentile of the
rates. With separate prefill and decode devices each rate is divided by its own devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.definitions import UNKNOWN
from hio_validate.evidence.observed import Fact, Measured, Observation
from hio_validate.importing.results.importer import Importer, is_number
from hio_validate.importing.results.objects import records, says
from hio_validate.importing.results.record_numbers import Readings, agrees, facts, rank_of, rest, statistic_of
from hio_validate.importing.results.source import Source

_SUBJECT = {
    "framework": "engine", "image": "image", "model": "model", "hw": "device", "hardware": "device", "device": "device",
    "precision": "precision", "spec_decoding": "speculation", "mtp": "speculation", "spec_method": "speculation",
    "tp": "tp", "pp": "pp", "ep": "ep", "dp_attention": "dp_attention", "dcp_size": "dcp", "pcp_size": "pcp",
    "disagg": "disaggregated", "is_multinode": "multinode", "prefill_hw": "prefill_device", "decode_hw": "decode_device",
    "num_prefill_gpu": "prefill_devices", "num_decode_gpu": "decode_devices", "kv_p2p_transfer": "kv_transfer",
    "router": "router", "infmax_model_prefix": "model_prefix",
    **{f"{role}_{key}": f"{role}_{key}" for role in ("prefill", "decode")
       for key in ("tp", "pp", "ep", "dp_attention", "num_workers", "dcp_size", "pcp_size")},
}  # fmt: skip
_WORKLOAD = {"isl": "prompt_tokens", "osl": "generated_tokens", "conc": "concurrency"}
_FAMILY = re.compile(r"(mean|median|std|p[0-9.]+)_(ttft|tpot|itl|e2el|intvty)")
_DEFINITIONS = {
    "ttft": "ttft-client", "tpot": "itl-request-mean", "itl": "itl-per-gap", "e2el": "latency-request",
    "intvty": "decode-rate-request",
}  # fmt: skip
_OTHER_CLIENT = ("median_ttlt", "median_full_response_itl", "request_metrics", "total_tput_tps")
"""Keys of replays of agents: another client measured them, and counts otherwise."""


def _recognises(source: Source) -> bool:
    return says(source, "tput_per_gpu") and (says(source, "conc") or says(source, "input_tput_per_gpu"))


def _generation(source: Source) -> str | None:
    for key in ("pcp_size", "infmax_model_prefix", "spec_decoding", "mtp"):
        if says(source, key):
            return f"process_result with {key}"
    return None


def _read(source: Source) -> Iterator[Observation]:
    yield from records(source, _observation)


def _observation(values: dict[str, Any], line: int) -> Observation:
    inner = values.get("metrics")
    if isinstance(inner, dict):  # a row of the dashboard
        values = {**values, **inner}
        del values["metrics"]
    readings = Readings(values, line)
    _throughputs(readings)
    _families(readings)
    _interactivity(readings)
    readings.first_within_whole(("ttft-client",), "latency-request")
    if values.get("tput_per_gpu") == 0:
        readings.nothing_completed()
    subject = {name: _true_or_false(value) for name, value in facts(values, _SUBJECT).items()}
    if subject.get("speculation", "none") not in ("none", "off", "", False):
        readings.unknown.append(
            "tokens in a piece: with drafting several may come at once, so that a gap is not a token"
        )
    workload = {name: value for name, value in facts(values, _WORKLOAD).items() if value != 0}
    return Observation(
        name=f"concurrency-{values['conc']}" if is_number(values.get("conc")) else "aggregate",
        line=line,
        at=str(values["date"]) if values.get("date") else None,
        subject=subject,
        workload=workload,
        metrics=readings.metrics,
        foreign=rest(values, readings.used | _SUBJECT.keys() | _WORKLOAD.keys() | {"date"}),
        findings=readings.findings,
        unknown=tuple(readings.unknown),
    )


def _true_or_false(value: Fact) -> Fact:
    """`"false"` is a word of a shell variable, and no truth."""
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _throughputs(readings: Readings) -> None:
    decoding = readings.values.get("num_decode_gpu")
    apart = (
        _true_or_false(readings.values.get("is_multinode") or False) is True
        and isinstance(decoding, int)
        and decoding > 0
    )
    unit = "token/s/device"
    readings.take("tput_per_gpu", "throughput-total-per-device", "value", unit)
    made = "throughput-output-per-decode-device" if apart else "throughput-output-per-device"
    read = "throughput-input-per-prefill-device" if apart else "throughput-input-per-device"
    readings.take("output_tput_per_gpu", made, "value", unit)
    readings.take("input_tput_per_gpu", read, "value", unit)
    said = {each.name: each.value for each in readings.metrics}
    both, one, other = (said.get(f"{key}tput_per_gpu") for key in ("", "output_", "input_"))
    if both is None or one is None or other is None or apart:
        return
    if not agrees(both, one + other, (one + other) * 1e-3):
        text = f"tput_per_gpu is {both:g} {unit}, but output and input are {one:g} and {other:g}"
        readings.drop(said, "rate-contradicts-counts", text)


def _families(readings: Readings) -> None:
    found: dict[str, dict[str, str]] = {}
    for key in readings.values:
        match = _FAMILY.fullmatch(key)
        if match and match[2] != "intvty" and (statistic := statistic_of(match[1])):
            found.setdefault(match[2], {})[key] = statistic
    other = any(key in readings.values for key in _OTHER_CLIENT)
    for quantity, keys in found.items():
        readings.family(keys, UNKNOWN if other else _DEFINITIONS[quantity], "s", None, quantity)
    if other:
        readings.unknown.append("how times were counted: a replay of agents, measured by another client")


def _interactivity(readings: Readings) -> None:
    """One over a quantile of TPOT is the opposite quantile of the rates; of mean and deviation nothing follows."""
    tpots = {each.name: each.value for each in readings.metrics if each.definition == "itl-request-mean"}
    for key in [key for key in readings.values if (at := _FAMILY.fullmatch(key)) and at[2] == "intvty"]:
        word, value = key.partition("_")[0], readings.number(key)
        if value is None:
            continue
        rank = rank_of(statistic_of(word) or "value")
        if rank is None:
            why = {"std": "a deviation", "mean": "a mean"}.get(word, "this statistic")
            kind = "std-through-reciprocal" if word == "std" else f"{word}-through-reciprocal"
            readings.finding(
                kind, f"{key} is one over {why} of the TPOT, which is no {word} of the rates: not used"
            )
            continue
        tpot = tpots.get(f"{word}_tpot")
        if tpot and not agrees(value, 1 / tpot, 1e-3 / tpot):
            text = f"{key} is {value:g} token/s, but one over {word}_tpot is {1 / tpot:g}"
            readings.finding("rate-contradicts-counts", text)
            continue
        opposite = statistic_of("median" if rank == 50 else f"p{round(100 - rank, 6):g}")
        if opposite is not None and UNKNOWN not in (each.definition for each in readings.metrics):
            readings.metrics.append(Measured(key, "decode-rate-request", opposite, value, "token/s"))


INFERENCEX = Importer(
    format="inferencex",
    about="aggregates of InferenceX (InferenceMAX)",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "how many requests were asked for, completed and failed",
        "duration, and so whether a rate follows from its counts",
        "how far the lengths of prompts and answers vary: those of the file are the nominal ones",
        "arguments of the server, and its build beyond the name of the image",
        "whether a cache answered a part of the prompts",
        "whether completions or a chat were asked for",
        "trials: one aggregate is one run",
    ),
)
