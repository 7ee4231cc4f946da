"""AIPerf's report of schema 2.0, in which each metric has a type and series, put as its flat exports of schema 1.x are.

Source: src/aiperf/orchestrator/native_report.py (`project_native_summary`): a distribution has avg, min, max, std, count and
percentiles, a counter its total, a scalar its value; of several series the one without labels is the run's, and where there
is none the metric has no number of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FLAT = ("avg", "min", "max", "std", "count")


def is_native(export: Mapping[str, Any]) -> bool:
    """Whether an export is of that schema, and of a run: a server's own metrics have no run."""
    metrics = export.get("metrics")
    return (
        isinstance(metrics, dict)
        and "run" in export
        and str(export.get("schema_version", "")).startswith("2.")
        and any(isinstance(each, dict) and isinstance(each.get("series"), list) for each in metrics.values())
    )


def of_native(export: Mapping[str, Any]) -> dict[str, Any]:
    """The same as schema 1.x says it: tag -> unit and statistics, beside what is said of the run."""
    run, summary = export.get("run"), export.get("summary")
    found: dict[str, Any] = {
        key: export[key] for key in ("schema_version", "aiperf_version") if key in export
    }
    if isinstance(run, dict) and isinstance(run.get("model"), str):
        found["input_config"] = {"models": [run["model"]]}
    if isinstance(summary, dict):
        found |= {key: summary[key] for key in ("was_cancelled", "is_complete") if key in summary}
    if isinstance(export.get("errors"), list):
        found["error_summary"] = export["errors"]
    for tag, metric in export["metrics"].items():
        stats = _stats(metric)
        if stats is not None:
            found[str(tag)] = {"unit": metric.get("unit"), **stats}
    return found


def _stats(metric: Any) -> dict[str, Any] | None:
    """The statistics of the one series that is the run's."""
    series = metric.get("series") if isinstance(metric, dict) else None
    told = [each for each in series if isinstance(each, dict)] if isinstance(series, list) else []
    whole = [each for each in told if not each.get("labels")]
    if len(whole) != 1 or not isinstance(stats := whole[0].get("stats"), dict):
        return None
    percentiles = stats.get("percentiles")
    flat = {key: stats[key] for key in _FLAT if key in stats}
    for key in ("value", "total"):
        if key in stats:
            flat.setdefault("avg", stats[key])
    return flat | (percentiles if isinstance(percentiles, dict) else {})
