"""What a report of GuideLLM says about the run that it sums up, wherever its version keeps it: model, load, data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.evidence.observed import Fact
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.summarised import whole, without_secrets
from hio_validate.source.strict_json import strict_json


def subject(benchmark: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Fact]:
    """What was measured, as far as the report says."""
    backend = ("config", "backend"), ("benchmarker", "backend")
    model = first(benchmark, *(((*way, "model")) for way in backend), ("worker", "backend_model"))
    target = first(benchmark, *(((*way, "target")) for way in backend), ("worker", "backend_target"))
    model = model or first(report, ("args", "model"), ("config", "spec", "backend", "model"))
    target = target or first(report, ("args", "target"), ("config", "spec", "backend", "target"))
    found: dict[str, Fact] = {"tool": "guidellm"}
    version = first(report, ("metadata", "guidellm_version"))
    for key, value in (("tool_version", version), ("model", model)):
        if isinstance(value, str) and value:
            found[key] = value
    if isinstance(target, str) and target:
        found["endpoint"] = without_secrets(target)
    return found


def workload(
    benchmark: Mapping[str, Any], report: Mapping[str, Any], strategy: Any, metrics: Mapping[str, Any]
) -> dict[str, Fact]:
    """What was asked of it; the lengths that were measured where the report does not say which were asked for."""
    found: dict[str, Fact] = {}
    strategy = strategy if isinstance(strategy, dict) else {}
    if isinstance(kind := strategy.get("type_"), str):
        found["load"] = kind
    if kind == "synchronous":
        found["concurrency"] = 1
    for key, name in (("streams", "concurrency"), ("rate", "request_rate"), ("max_concurrency", "max_concurrency")):  # fmt: skip
        if is_number(strategy.get(key)):
            found[name] = strategy[key]
    data = first(benchmark, ("request_loader", "data"), ("benchmarker", "requests", "attributes", "data"))
    data = data or first(report, ("args", "data"), ("config", "spec", "data"))
    asked = asked_of(data)
    for key, name, metric in (
        ("prompt_tokens", "prompt_tokens", "prompt_token_count"),
        ("output_tokens", "generated_tokens", "output_token_count"),
    ):
        said = successful(metrics, metric)
        measured = (said.get("mean") or None) if whole(said.get("count")) != 0 else None
        if is_number(value := asked.get(key, measured)):
            found[name] = value
    if isinstance(dataset := asked.get("dataset"), str):
        found["dataset"] = dataset
    for key in ("warmup_duration", "cooldown_duration"):
        if is_number(benchmark.get(key)) and benchmark[key]:
            found[f"{key}_s"] = benchmark[key]
    return found


def name_of(strategy: Any) -> str:
    """A record's name: its load and how much of it."""
    strategy = strategy if isinstance(strategy, dict) else {}
    kind = str(strategy.get("type_") or "benchmark")
    level = strategy.get("streams", strategy.get("rate"))
    return f"{kind}-{level:g}" if is_number(level) else kind


def successful(metrics: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What a metric says about the completed requests; empty where it says nothing."""
    said = metrics.get(name)
    said = said.get("successful") if isinstance(said, dict) else None
    return said if isinstance(said, dict) else {}


def first(data: Mapping[str, Any], *ways: tuple[str, ...]) -> Any:
    """What stands under the first of some ways of keys; None where nothing does."""
    for way in ways:
        found: Any = data
        for key in way:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


def asked_of(data: Any) -> dict[str, Any]:
    """What a report says about the data: prompt_tokens, output_tokens and dataset, as far as it does.

    data: `prompt_tokens=256,output_tokens=128`, the same as JSON, a dataset's name, or a list with one of these.
    """
    if isinstance(data, list):
        data = data[0] if len(data) == 1 else None
    if isinstance(data, str):
        text = data.strip()
        data = _pairs(text)
        if not data:
            return {"dataset": text[:200]} if text and not text.startswith(("{", "[")) else {}
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
        try:
            found = strict_json(text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    pairs = [pair.partition("=") for pair in text.split(",")]
    return {
        key.strip(): int(value) for key, _, value in pairs if value.strip().isdecimal() and len(value) < 19
    }
