"""What AIPerf's exports say about the run that they sum up: its configuration, in both layouts.

Sources: src/aiperf/common/config/user_config.py (0.1 ... 0.6: endpoint, input, loadgen) and src/aiperf/config/benchmark.py,
phases.py (since 0.7: models, endpoint, datasets, phases).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.evidence.observed import Fact
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.summarised import without_secrets


def subject(export: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Fact]:
    """What was measured, as far as the configuration says."""
    found: dict[str, Fact] = {"tool": "aiperf"}
    if isinstance(version := export.get("aiperf_version"), str):
        found["tool_version"] = version
    endpoint = config.get("endpoint")
    endpoint = endpoint if isinstance(endpoint, dict) else {}
    models = endpoint.get("model_names") or _named(config.get("models"))
    if isinstance(models, list) and models and all(isinstance(model, str) for model in models):
        found["model"] = ", ".join(models)
    url = endpoint.get("url") or endpoint.get("urls")
    url = url[0] if isinstance(url, list) and url else url
    if isinstance(url, str):
        found["endpoint"] = without_secrets(url)
    for key, name in (("type", "endpoint_type"), ("streaming", "streaming")):
        if isinstance(endpoint.get(key), str | bool):
            found[name] = endpoint[key]
    return found


def _named(models: Any) -> Any:
    """Names of models as newer configurations list them."""
    items = models.get("items") if isinstance(models, dict) else models
    if not isinstance(items, list):
        return None
    return [each.get("name") if isinstance(each, dict) else each for each in items]


def workload(config: Mapping[str, Any]) -> dict[str, Fact]:
    """What was asked of it, as far as the configuration says."""
    found: dict[str, Fact] = {}
    load = config.get("loadgen")
    load = load if isinstance(load, dict) else {}
    for key, name in (("concurrency", "concurrency"), ("request_rate", "request_rate"), ("request_count", "requests"),
                      ("request_cancellation_rate", "request_cancellation_rate"), ("warmup_request_count", "warmup_requests"),
                      ("benchmark_duration", "duration_asked_s"), ("request_rate_mode", "load")):  # fmt: skip
        if is_number(load.get(key)) or isinstance(load.get(key), str):
            found[name] = load[key]
    data = config.get("input")
    prompt = data.get("prompt") if isinstance(data, dict) else None
    prompt = prompt if isinstance(prompt, dict) else {}
    _length(found, "prompt_tokens", prompt.get("input_tokens"))
    _length(found, "generated_tokens", prompt.get("output_tokens"))
    if isinstance(data, dict):
        for key in ("public_dataset", "custom_dataset_type"):
            if isinstance(data.get(key), str):
                found["dataset"] = data[key]
    _of_phases(found, config)
    return found


def _of_phases(found: dict[str, Fact], config: Mapping[str, Any]) -> None:
    """The load of newer configurations: phases, of which one is the measured one, and datasets."""
    phases = config.get("phases")
    phases = [each for each in phases if isinstance(each, dict)] if isinstance(phases, list) else []
    measured = [each for each in phases if "profiling" in (each.get("kind"), each.get("name"))]
    for key, name in (("concurrency", "concurrency"), ("rate", "request_rate"), ("requests", "requests"),
                      ("type", "load")):  # fmt: skip
        value = measured[0].get(key) if len(measured) == 1 else None
        if is_number(value) or isinstance(value, str):
            found[name] = value
    datasets = config.get("datasets")
    only = datasets[0] if isinstance(datasets, list) and len(datasets) == 1 else None
    only = only if isinstance(only, dict) else {}
    prompts = only.get("prompts")
    if isinstance(prompts, dict):
        _length(found, "prompt_tokens", prompts.get("isl"))
        _length(found, "generated_tokens", prompts.get("osl"))
    if isinstance(only.get("type"), str):
        found.setdefault("dataset", only["type"])


def _length(found: dict[str, Fact], name: str, said: Any) -> None:
    value = said.get("mean") if isinstance(said, dict) else said
    if is_number(value):
        found[name] = value
