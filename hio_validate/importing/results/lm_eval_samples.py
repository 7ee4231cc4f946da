"""What the language model evaluation harness logs of every item: samples_<task>_*.jsonl, from v0.4 on.

Source of keys: lm_eval/evaluator.py (`example`, with its metrics as keys of their own) and `save_results_samples` of
lm_eval/loggers/evaluation_tracker.py. An item is known by its `doc_hash`, else by its `doc_id`; a filter has rows of its
own. Prompts and answers are never kept here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Finding, Measured, Observation
from hio_validate.importing.results.importer import Importer, is_number
from hio_validate.importing.results.lm_eval import HARNESS, NO_FILTER
from hio_validate.importing.results.objects import Skipped, objects, says
from hio_validate.importing.results.source import Source

_NO_METRICS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash", "task_name",
}  # fmt: skip


class Scored(NamedTuple):
    """One item with its numbers."""

    item: str
    filter: str
    scores: Mapping[str, float]
    line: int


def scored(source: Source, skipped: Skipped) -> Iterator[Scored]:
    """Every item, filter by filter. Raises CannotImport."""
    for line, values in objects(source, skipped):
        if "doc_id" not in values:
            raise source.refuse(
                "the object is no sample: expected a doc_id", "import the file as it was written", line
            )
        item = str(values.get("doc_hash") or f"doc-{values['doc_id']}")
        named = values.get("metrics") if isinstance(values.get("metrics"), list) else None
        scores = {
            key: float(value)
            for key, value in values.items()
            if key not in _NO_METRICS and (named is None or key in named) and _is_score(value)
        }
        yield Scored(item, str(values.get("filter") or NO_FILTER), scores, line)


def _is_score(value: Any) -> bool:
    return isinstance(value, bool) or (is_number(value) and math.isfinite(value))


def _recognises(source: Source) -> bool:
    return says(source, "doc_id", "filtered_resps")


def _read(source: Source) -> Iterator[Observation]:
    skipped = Skipped(source)
    sums: dict[str, dict[str, float]] = {}
    counts: dict[str, dict[str, int]] = {}
    for each in scored(source, skipped):
        mine, of = sums.setdefault(each.filter, {}), counts.setdefault(each.filter, {})
        for metric, score in each.scores.items():
            mine[metric] = mine.get(metric, 0.0) + score
            of[metric] = of.get(metric, 0) + 1
    if not sums:
        raise source.refuse("it has no sample", "run the harness again with --log_samples", code=3)
    for filter_, totals in sums.items():
        record = Observation(
            name=f"items {filter_}",
            subject={"harness": HARNESS},
            workload={"task": "unknown", "filter": filter_},
            metrics=[
                Measured(
                    metric,
                    "unknown",
                    "mean",
                    total / counts[filter_][metric],
                    "1",
                    counts[filter_][metric],
                    derived=True,
                )
                for metric, total in totals.items()
            ],
            findings=[skipped.finding()] if skipped.count else [],
        )
        if not totals:
            record.findings.append(Finding("no-score", f"no item of {filter_} has a number", 0))
        yield record


LM_EVAL_SAMPLES = Importer(
    format="lm-eval-samples",
    about="lm-evaluation-harness: every item of a task with its scores",
    recognises=_recognises,
    read=_read,
    generation=lambda _: "v0.4 or later",
    unknown=(
        "which task, model and version of the harness it is: the results*.json beside it says so",
        "how the numbers of the items make the number of the task: here it is their mean",
    ),
    content=True,
)
"""The importer."""
