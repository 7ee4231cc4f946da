"""A record of the evaluation harness as a quality receipt (models/definitions/receipt.py), metric by metric.

Invariant: what the source does not say is `unknown` in the receipt; nothing is guessed from a task's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Measured, Observation
from hio_validate.importing.results.lm_eval import HARNESS, UNKNOWN
from hio_validate.importing.results.lm_eval_samples import Scored

_CONDITIONS = ("chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn", "gen_kwargs")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")


class About(NamedTuple):
    """What whoever records it says: whose service it is, which stack was measured (a pin), the source kept beside it."""

    service: str
    stack: str | None
    source: Mapping[str, str]
    """file, sha256 and format."""


def receipts_of(record: Observation, about: About, only: str | None = None) -> Iterator[dict[str, Any]]:
    """A receipt for each metric of a record, or for one of them; keys in the order of the document."""
    errors = {each.name: each.value for each in record.metrics if each.definition == "standard-error"}
    for measured in record.metrics:
        if measured.definition != "standard-error" and only in (None, measured.name):
            yield _receipt(record, measured, errors.get(f"{measured.name}_stderr"), about)


def _receipt(record: Observation, measured: Measured, error: float | None, about: About) -> dict[str, Any]:
    told = record.workload
    said = {
        "hio": "receipt/v1",
        "kind": "quality",
        "name": name_of(str(told["task"]), str(told["filter"]), measured.name),
        "service": about.service,
        "at": record.at if record.at and _TIME.fullmatch(record.at) else None,
        "stack": about.stack,
        "source": dict(about.source),
        "harness": {"name": HARNESS, "version": str(record.subject.get("harness_version", UNKNOWN))},
        "task": str(told["task"]),
        "task_version": str(told.get("task_version", UNKNOWN)),
        "filter": str(told["filter"]),
        "metric": measured.name,
        "better": told.get(f"better.{measured.name}") or measured.better or UNKNOWN,
        "value": measured.value,
        "stderr": error,
        "n": told.get("items", UNKNOWN),
        "whole": told.get("whole", UNKNOWN),
        "group": told.get("group"),
        "limit": told.get("limit", UNKNOWN),
        "few_shot": told.get("few_shot", UNKNOWN),
        "seed": str(told.get("seed", UNKNOWN)),
        "dataset": {"name": str(told.get("dataset", UNKNOWN)), "sha256": _digest(told.get("dataset_sha256"))},
        "model": record.subject.get("model") or record.subject.get("model_args"),
        "conditions": {key: told[key] for key in _CONDITIONS if key in told},
        "unknown": list(record.unknown),
    }
    return {key: value for key, value in said.items() if value not in (None, [], {})}


def _digest(value: Any) -> str:
    return value if isinstance(value, str) and _SHA256.fullmatch(value) else UNKNOWN


def name_of(*parts: str) -> str:
    """A document's name out of words of the source: gsm8k-strict-match-exact_match."""
    words = [re.sub(r"[^A-Za-z0-9._+-]+", "-", part).strip("-._+") for part in parts if part != "none"]
    return "-".join(word for word in words if word)[:100].strip("-._+") or "receipt"


def rows_of(items: Sequence[Scored], filter_: str, metric: str) -> list[dict[str, Any]]:
    """The items of one filter with their score in one metric; without texts."""
    return [
        {"item": each.item, "score": each.scores[metric]}
        for each in items
        if each.filter == filter_ and metric in each.scores
    ]
