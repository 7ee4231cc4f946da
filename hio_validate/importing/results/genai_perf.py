"""genai-perf's summaries: profile_export_genai_perf.json and its CSV.

Sources: genai-perf/genai_perf/export_data/json_exporter.py, csv_exporter.py and metrics/statistics.py of perf_analyzer. Times
are in the unit beside them (ms; the first CSV, in ns, says so in its names). A count of requests stands there since 0.0.9
only. request_throughput counts answers without a token too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Observation, Requests
from hio_validate.importing.results import aiperf, metric_table
from hio_validate.importing.results.client_metrics import METRICS, OTHER_TAGS, add_lengths, tag_of, unit_of
from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.importer import Importer, foreign, is_number
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import Summary, add, find, judge_counts, whole, without_secrets

_METRIC = re.compile(
    r'"(?:request_throughput|request_latency|time_to_first_token|inter_token_latency)"\s*:\s*\{'
)
_UNITS = {"time_to_first_token": "ms", "time_to_second_token": "ms", "inter_token_latency": "ms", "request_latency": "ms",
          "request_throughput": "requests/sec", "request_goodput": "requests/sec"}  # fmt: skip
"""What statistics.py gives a metric by its name, for versions that wrote no unit."""
_SETTINGS = {"input_config", "request_count"}


def recognises(source: Source) -> bool:
    head = source.head.lstrip()
    if head.startswith("{"):
        return '"avg"' in head and bool(_METRIC.search(head)) and not aiperf.recognises(source)
    return metric_table.is_one(head) and metric_table.is_of_genai_perf(head)


def generation(source: Source) -> str | None:
    head = source.head
    return "chunked" if any(name in head for name in ("Num Output Token", '"num_output_token"')) else None


def read(source: Source) -> Iterator[Observation]:
    """Its one record. Raises CannotImport."""
    found = Observation("profile", subject={"tool": "genai-perf"})
    if source.head.lstrip().startswith("{"):
        export = source.json()
        if not isinstance(export, dict):
            raise source.refuse("expected one JSON object", "import the file as genai-perf wrote it")
        config = export.get("input_config")
        _configured(found, config if isinstance(config, dict) else {})
        count = export.get("request_count")
        _count(found, count.get("avg") if isinstance(count, dict) else None)
        for tag, said in export.items():
            if tag_of(tag) in METRICS and isinstance(said, dict):
                told = {statistic: said.get(key) for key, statistic in metric_table.STATISTICS.items()}
                _add(found, tag, said.get("unit"), told)
        known = METRICS.keys() | OTHER_TAGS.keys() | _SETTINGS
        found.foreign = foreign(export, known)
    else:
        _of_table(found, source)
    add_lengths(found)
    judge_counts(found)
    yield found


def _of_table(found: Observation, source: Source) -> None:
    rows = list(metric_table.table(source, found))
    if not rows:
        raise source.refuse("the table has no row", "import the file as genai-perf wrote it", code=3)
    for row in rows:
        if tag_of(row.name) == "request_count":
            _count(found, row.values.get("Value"))
    chunked = any(row.name.startswith("Num Output Token") for row in rows)
    for row in rows:
        if tag_of(row.name) in METRICS:
            columns = metric_table.STATISTICS
            told = {columns[key]: value for key, value in row.values.items() if key in columns}
            unit = row.unit or "tokens"
            _add(
                found, row.name, unit, told, chunked, row.line, 0.5 if unit == "ns" else metric_table.ROUNDING
            )
        elif tag_of(row.name) != "request_count":
            found.foreign |= foreign({row.name: row.values}, set())
    if is_cut(source):
        find(found, "cut-short", CUT)
    find(found, "rounded", "the CSV has two decimals: a number may be off by 0.005; the JSON export is exact")


def _add(
    found: Observation, name: str, said: object, told: Mapping[str, Any], chunked: bool = False, line: int = 0,
    rounding: float = 0.0,
) -> None:  # fmt: skip
    tag = tag_of(name)
    definition, whole_run = METRICS[tag]
    if tag == "inter_token_latency" and (chunked or name == "num_output_token"):
        definition = "itl-gap-per-token"
    if said is None:
        said = _UNITS.get(tag, "tokens/sec" if "throughput" in tag else "tokens")
    unit = unit_of(said, definition)
    if unit is None:
        find(found, "unknown-unit", f"{tag} is given in {said!r}, which is no unit of {definition}", line)
        return
    if whole_run:
        value = told.get("value")
        told = {"value": told.get("mean") if value is None else value}
    add(found, Summary(tag, definition, unit, told, None, line, rounding))


def _count(found: Observation, count: Any) -> None:
    found.requests = Requests(None, whole(count))


def _configured(found: Observation, config: Mapping[str, Any]) -> None:
    """What was asked, in both layouts of the configuration: flat arguments, and groups of them since 0.0.11."""
    models = config.get("formatted_model_name") or config.get("model_names") or config.get("model")
    models = models if isinstance(models, list) else [models]
    if models and all(isinstance(model, str) and model for model in models):
        found.subject["model"] = ", ".join(models)
    endpoint = config.get("endpoint")
    endpoint = endpoint if isinstance(endpoint, dict) else {}
    if isinstance(url := endpoint.get("url") or config.get("u"), str):
        found.subject["endpoint"] = without_secrets(url)
    for key in ("backend", "service_kind", "endpoint_type", "streaming"):
        value: Fact | None = config.get(key, endpoint.get(key.removeprefix("endpoint_")))
        if isinstance(value, str | bool):
            found.subject[key] = value
    stimulus = config.get("perf_analyzer")
    stimulus = stimulus.get("stimulus") if isinstance(stimulus, dict) else None
    asked = {**config, **(stimulus if isinstance(stimulus, dict) else {})}
    data = config.get("input")
    data = data if isinstance(data, dict) else {}
    tokens = {"prompt_tokens": (config.get("synthetic_input_tokens_mean"), data.get("synthetic_tokens")),
              "generated_tokens": (config.get("output_tokens_mean"), data.get("output_tokens"))}  # fmt: skip
    for key in ("concurrency", "request_rate", "request_count", "warmup_request_count"):
        if is_number(asked.get(key)):
            found.workload[
                {"request_count": "requests", "warmup_request_count": "warmup_requests"}.get(key, key)
            ] = asked[key]
    for name, (flat, group) in tokens.items():
        value = group.get("mean") if isinstance(group, dict) else flat
        if is_number(value) and value > 0:  # -1: none asked
            found.workload[name] = value


GENAI_PERF = Importer(
    "genai-perf",
    "genai-perf profile, summary in JSON or CSV",
    recognises,
    read,
    generation,
    (
        "which engine and build served, and with which settings",
        "the device, and what else ran on it",
        "which version of genai-perf, and when",
        "how many requests failed: only answered ones are counted",
        "how many requests each statistic has",
        "whether the server's cache answered",
    ),
)
