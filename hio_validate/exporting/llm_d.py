"""One arm of a run as a benchmark report v0.2 of llm-d-benchmark.

Source: llm-d-benchmark, llmdbenchmark/analysis/benchmark_report/schema_v0_2.py at 32445ce (2026), whose Statistics are
over single requests, and whose report is about one configuration. Numbers of hio that no field of it defines the same
way (rates of one request, median gap of an answer) stand under `results.observability.hio`, which the schema leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from hio_validate.evidence.case import Case
from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.raw import Row, failure, is_measured, is_unknown, number
from hio_validate.evidence.tiers import Verdict
from hio_validate.exporting.cannot import CannotExport
from hio_validate.exporting.distribution import distribution
from hio_validate.exporting.llm_d_scenario import load, stack, tokens
from hio_validate.exporting.told import best_in_words, tier_in_words
from hio_validate.moment import Moment, moment

VERSION = "0.2"
SCHEMA = "llm-d-benchmark-report-v0.2.json"

_FIELDS = {
    "ttft-client": ("time_to_first_token", "ms"),
    "itl-request-mean": ("time_per_output_token", "ms/token"),
    "latency-request": ("request_latency", "s"),
}
"""Definition of hio -> the latency that the schema defines the same way, and its unit there."""
_UNITS = {"token/s": "tokens/s", "ms": "ms", "s": "s", "1": "count"}
"""hio's unit -> theirs."""


def report(judged: Verdict, arm: str) -> dict[str, Any]:
    """The report of one arm. Raises CannotExport where nothing of it counts."""
    case = judged.case
    rows = [row for trial in case.counted(arm) for row in trial.rows]
    if not rows:
        raise CannotExport(
            f"{judged.run.name}: no request of the arm {arm} counts, so there is nothing to export; "
            f"hio report {judged.run.name} --no-strict says why"
        )
    scenario = {"stack": stack(case, arm), "load": load(case, rows)}
    return {
        "version": VERSION,
        "run": _run(judged, arm),
        "scenario": {key: value for key, value in scenario.items() if value},
        "results": {
            "request_performance": {"aggregate": _aggregate(case, arm, rows)},
            "observability": {"hio": _own(judged, arm, rows)},
        },
    }


def _run(judged: Verdict, arm: str) -> dict[str, Any]:
    run, digest = judged.run, judged.run.document.digest
    told = {
        "uid": sha256(f"{digest} {arm}".encode()).hexdigest(),
        "eid": digest.removeprefix("sha256:"),
        "time": _time(judged.case.model.at, judged.case.model.ended),
        "description": f"hio run {run.full_name}, arm {arm}: {tier_in_words(judged)}. {best_in_words(judged)}.",
        "keywords": ["hio", f"tier:{judged.tier}", f"result:{judged.result}", f"arm:{arm}"],
    }
    return {key: value for key, value in told.items() if value}


def _time(start: str | None, end: str | None) -> dict[str, str]:
    known = {"start": start, "end": end}
    told = {key: value for key, value in known.items() if value is not None}
    if start is not None and end is not None:
        lasted = _nanoseconds(moment(end)) - _nanoseconds(moment(start))
        if lasted >= 0:
            whole, rest = divmod(lasted, 10**9)
            told["duration"] = f"PT{whole}" + (f".{rest:09}".rstrip("0") if rest else "") + "S"
    return told


def _nanoseconds(at: Moment) -> int:
    from datetime import UTC, datetime  # only where somebody exports

    whole = datetime.fromisoformat(at.second).replace(tzinfo=UTC)
    return int(whole.timestamp()) * 10**9 + int(at.fraction.ljust(9, "0"))


def _aggregate(case: Case, arm: str, rows: list[Row]) -> dict[str, Any]:
    latency = {}
    for name in _known_metrics(case):
        field, unit = _FIELDS.get(METRICS[name].definition, ("", ""))
        told = _statistics(rows, name, unit)
        if field and told:
            latency[field] = told
    found = {"requests": _requests(case, arm, rows), "latency": latency}
    return {key: value for key, value in found.items() if value}


def _requests(case: Case, arm: str, rows: list[Row]) -> dict[str, Any]:
    """All that were sent, of legs that do not count too; lengths are of those that count."""
    run = case.model
    sent = [row for row in case.rows or () if row.cells[run.raw.arm] == arm and is_measured(row, run)]
    told: dict[str, Any] = {"total": len(sent)}
    if run.raw.status is not None:
        told["failures"] = sum(bool(failure(row, run)) for row in sent)
    for field, columns in (("input_length", ("evaluated", "cached")), ("output_length", ("generated",))):
        lengths = tokens(rows, *columns)
        if lengths is not None:
            told[field] = {"units": "count", **distribution(lengths)}
    return told


def _statistics(rows: list[Row], name: str, unit: str) -> dict[str, Any]:
    """None of it where one request does not know the metric: the others would be chosen ones."""
    if any(is_unknown(row, name) for row in rows):
        return {}
    return {"units": unit, **distribution([number(row, name) for row in rows])}


def _known_metrics(case: Case) -> Iterator[str]:
    """The metrics whose definition is hio's: measured by it, or imported with the same words and unit."""
    for name, column in case.model.columns.items():
        known = METRICS.get(name)
        if known is None or column.unit != known.unit:
            continue
        if not case.model.imported or column.about == known.about:
            yield name


def _own(judged: Verdict, arm: str, rows: list[Row]) -> dict[str, Any]:
    """The verdict, and the metrics that no field of the schema defines as they were counted."""
    case = judged.case
    metrics = {}
    for name in _known_metrics(case):
        definition = METRICS[name].definition
        told = _statistics(rows, name, _UNITS[METRICS[name].unit])
        if definition not in _FIELDS and told:
            metrics[name] = {**told, "definition": definition, "about": DEFINITIONS[definition].about}
    left_out = [each for each in case.trials if each.arm == arm and not each.counted]
    return {
        "tier": str(judged.tier),
        "result": str(judged.result),
        "lacks": [each.reason for each in judged.reasons],
        "arm": arm,
        "reference": case.baseline,
        "legs": len(case.counted(arm)),
        "requests": len(rows),
        "legs_left_out": [{"leg": each.number, "because": list(each.invalid)} for each in left_out],
        "run": {"name": judged.run.full_name, "digest": judged.run.document.digest},
        "rows_sha256": case.model.raw.sha256,
        "metrics": metrics,
    }
