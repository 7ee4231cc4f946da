"""A metric that a tool has summed up (mean, percentiles, std ...) made into measurements, and what speaks against it.

Invariants: what cannot be so is a finding and no metric; statistics that contradict each other are all dropped, since none
of them says which one is wrong; a record without one completed request measured nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from hio_validate.evidence.definitions import DEFINITIONS, UNITS, UNKNOWN
from hio_validate.evidence.observed import Finding, Measured, Observation, faults_of
from hio_validate.importing.results.importer import is_number

ORDER = (
    "min",
    "p0.1",
    "p1",
    "p5",
    "p10",
    "p25",
    "median",
    "p75",
    "p80",
    "p90",
    "p95",
    "p97",
    "p99",
    "p99.9",
    "max",
)
"""Statistics that grow, or stay, from left to right."""
_FEW = 20
"""Completed requests below which not even a p95 lies between two of them."""
_LEAST, _MOST = 0, 1 << 63
"""A count, and a number that is measured, lies between; an integer of thousands of digits is none."""


class Summary(NamedTuple):
    """What a source says about one metric."""

    name: str
    definition: str
    unit: str
    values: Mapping[str, Any]
    """Statistic (one of STATISTICS) -> number; None: absent."""
    n: int | None = None
    line: int = 0
    rounding: float = 0.0
    """Most that a printed number may be off, in its unit: 0.005 for two decimals."""
    derived: bool = False
    """Whether the values were computed from rows of the source."""


def add(observation: Observation, summary: Summary) -> None:
    """Adds the metrics of a summary to a record, and findings for what cannot be so."""
    if any(each.name == summary.name for each in observation.metrics):
        message = f"{summary.name} stands twice: the first one is taken"
        find(observation, "repeated-metric", message, summary.line)
        return
    kept: dict[str, int | float] = {}
    for statistic, value in summary.values.items():
        if value is None:
            continue
        if not is_number(value) or (isinstance(value, int) and abs(value) > _MOST):
            shown = str(value)[:40]
            find(
                observation,
                "no-number",
                f"{summary.name} ({statistic}) is {shown!r}, expected a number",
                summary.line,
            )
            continue
        faults = list(faults_of(_measured(summary, statistic, value)))
        for fault in faults:
            find(observation, "impossible-value", f"{fault} ({statistic})", summary.line)
        if not faults:
            kept[statistic] = value
    if not kept or _never_measured(observation, summary, kept) or _contradicts(observation, summary, kept):
        return
    _too_wide(observation, summary, kept)
    observation.metrics.extend(_measured(summary, statistic, value) for statistic, value in kept.items())


def find(observation: Observation, id: str, message: str, line: int = 0) -> None:
    """Adds a finding to a record."""
    observation.findings.append(Finding(id, message, line))


def _measured(summary: Summary, statistic: str, value: int | float) -> Measured:
    return Measured(
        summary.name, summary.definition, statistic, value, summary.unit, summary.n, derived=summary.derived
    )


def _never_measured(observation: Observation, summary: Summary, kept: Mapping[str, int | float]) -> bool:
    """Whether a time or a rate is zero in all it says: tools write that where they had nothing to measure."""
    dimension = DEFINITIONS[summary.definition].dimension
    if summary.definition == UNKNOWN or dimension in ("count", "share") or any(kept.values()):
        return False
    message = f"{summary.name} is 0 {summary.unit} throughout: nothing was measured, and absent is not zero"
    find(observation, "zero-throughout", message, summary.line)
    return True


def _contradicts(observation: Observation, summary: Summary, kept: Mapping[str, int | float]) -> bool:
    """Whether statistics stand in no possible order, or the mean outside of all values."""
    told = [(name, kept[name]) for name in ORDER if name in kept]
    if "mean" in kept:
        lowest, highest = kept.get("min", -math.inf), kept.get("max", math.inf)
        slack = max(abs(kept["mean"]) * 1e-9, 2 * summary.rounding)
        if not lowest - slack <= kept["mean"] <= highest + slack:
            bound = "min" if kept["mean"] < lowest else "max"
            message = f"{summary.name}: the mean {kept['mean']:g} {summary.unit} is beyond the {bound} {kept[bound]:g}"
            find(observation, "impossible-value", message, summary.line)
            return True
    for (low, one), (high, other) in pairwise(told):
        if one > other + max(abs(other) * 1e-9, 2 * summary.rounding):
            message = f"{summary.name}: {low} {one:g} {summary.unit} is above {high} {other:g} {summary.unit}"
            find(observation, "impossible-value", message, summary.line)
            return True
    return False


def _too_wide(observation: Observation, summary: Summary, kept: dict[str, int | float]) -> None:
    """Drops a std that no values between min and max can have; sample std of two values is the widest that there is."""
    if not {"std", "min", "max"} <= kept.keys():
        return
    widest = (kept["max"] - kept["min"]) / math.sqrt(2)
    if kept["std"] > widest * (1 + 1e-6) + 2 * summary.rounding:
        message = f"{summary.name}: std {kept['std']:g} is more than values from {kept['min']:g} to {kept['max']:g} can have"
        find(observation, "impossible-value", message, summary.line)
        del kept["std"]


def judge_counts(observation: Observation, may_stop: bool = False) -> None:
    """Finds counts that do not add up, and drops every metric of a record without one completed request. `may_stop`: a run may
    end before every request that was asked for was sent."""
    asked, completed, failed, cancelled = observation.requests
    told = [count for count in (completed, failed, cancelled) if count is not None]
    if asked is not None and (sum(told) > asked or (len(told) == 3 and sum(told) != asked and not may_stop)):
        kinds = zip((completed, failed, cancelled), ("completed", "failed", "cancelled"), strict=True)
        ended = ", ".join(f"{count} {kind}" for count, kind in kinds if count is not None)
        message = f"{ended}: these requests are not the {asked} asked for"
        find(observation, "counts-contradict", message, observation.line)
    if completed == 0:
        parts = {"failed": failed, "cancelled": cancelled}
        said = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        message = f"no request completed{f' ({said})' if said else ''}: nothing was measured"
        find(observation, "zero-completed", message, observation.line)
        observation.metrics.clear()
    elif not observation.metrics:
        message = "no number of it can be used: the file is cut short, or its writer had nothing to measure"
        find(observation, "nothing-measured", message, observation.line)
    elif completed is not None and completed < _FEW:
        message = f"{completed} completed requests: percentiles are single requests, and a mean moves with each of them"
        find(observation, "few-samples", message, observation.line)


def judge_rate(
    observation: Observation,
    name: str,
    counted: float | None,
    seconds: float | None,
    slack: float,
    rounding: float = 0.0,
) -> None:
    """Drops a rate (mean or value) above what its own count over its own duration allows; `slack` is a share of it."""
    if counted is None or not seconds:
        return
    allowed = counted / seconds
    for measured in observation.metrics:
        if (
            measured.name == name
            and measured.statistic in ("mean", "value")
            and measured.value > allowed * (1 + slack) + rounding
        ):
            message = f"{name} is {measured.value:g} {measured.unit}, but {counted:g} over {seconds:g} s are {allowed:g}"
            find(observation, "rate-contradicts-counts", message, observation.line)
            observation.metrics[:] = [each for each in observation.metrics if each.name != name]
            return


def judge_latencies(observation: Observation, seconds: float | None, slack: float) -> None:
    """Drops the latencies of a run that is shorter than one of them: their unit, or the run's, is another one."""
    if not seconds:
        return
    units = UNITS["time"]
    for measured in observation.metrics:
        if measured.definition != "latency-request" or measured.statistic == "std":
            continue
        if measured.value * units[measured.unit] > seconds * (1 + slack):
            message = (
                f"{measured.name} ({measured.statistic}) is {measured.value:g} {measured.unit}, "
                f"longer than the whole run, {seconds:g} s"
            )
            find(observation, "latency-exceeds-duration", message, observation.line)
            observation.metrics[:] = [each for each in observation.metrics if each.name != measured.name]
            return


def whole(value: Any) -> int | None:
    """A count that may be written 89.0; None where it is none."""
    if not is_number(value) or not _LEAST <= value <= _MOST or int(value) != value:
        return None
    return int(value)


def without_secrets(url: str) -> str:
    """An address without user, password, query and fragment."""
    scheme, mark, rest = url.partition("://") if "://" in url else ("", "", url)
    rest = rest.partition("#")[0].partition("?")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"
