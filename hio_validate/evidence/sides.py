"""One side of a comparison: its numbers, what was asked of it and what it did, whoever measured it.

Invariant: what a record does not say is absent here, and never the value of the other side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hio_validate.evidence.averages import mean, median
from hio_validate.evidence.case import Case
from hio_validate.evidence.definitions import DEFINITIONS, NO_GAIN, UNKNOWN
from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.observed import Fact, Measured, Observation
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.work_done import COUNTS
from hio_validate.repo import name_of

DONE = {
    "prompt-length": "evaluated",
    "generated-length": "generated",
    "cached-length": "cached",
    "drafted-tokens": "drafted",
    "accepted-tokens": "accepted",
    "target-batches": "target_batches",
    "draft-acceptance": "acceptance",
    "draft-length": "draft_length",
}
"""Definition of a count of work -> the quantity, named as the columns of a run name it."""

IN_WORDS = {
    **{column: f"{word} tokens" for column, word in COUNTS.items()},
    "evaluated": "prompt tokens",
    "cached": "cached tokens",
    "target_batches": "target batches",
    "acceptance": "draft acceptance",
    "draft_length": "tokens accepted a step",
}
"""Quantity of work -> what it is called in a sentence."""

_COUNTED = {
    "evaluated_tokens": "evaluated",
    "cached_tokens": "cached",
    "drafted_tokens": "drafted",
    "accepted_tokens": "accepted",
    "target_batches": "target_batches",
}
"""Fact that a source keeps beside its workload -> the quantity of work that it counts."""

_LARGEST = 10**100
"""Numbers above are no measurement, and no ratio of them can be computed."""

_TELLING = ("value", "median", "mean", "total")
"""Statistics that tell how much work was done, the more telling first."""


class Number(NamedTuple):
    """One metric of a side."""

    name: str
    definition: str
    statistic: str
    value: int | float
    unit: str
    better: str | None
    n: int | None = None
    samples: tuple[int | float, ...] = ()
    column: str = ""
    """The run and its column, where one record holds both sides: one column is counted in one way, known or not."""


class Side(NamedTuple):
    """What is compared."""

    label: str
    numbers: tuple[Number, ...]
    workload: Mapping[str, Fact]
    done: Mapping[str, tuple[float, ...]]
    """Quantity of work -> every value that it had, ascending."""
    tier: Tier
    notes: tuple[str, ...] = ()
    """What is to be known about this side: failed requests, findings."""
    record: str = ""
    """The run that an arm is of; arms of one run were asked the same."""
    subject: Mapping[str, Fact] = {}
    """What was measured: model, engine, device, settings; it may differ, and is told where it does."""
    prompts: frozenset[str] = frozenset()
    """SHA-256 of every prompt that was asked, where the rows say it."""


def of_observation(observation: Observation, label: str) -> Side:
    """A record of a result file."""
    numbers = tuple(
        Number(
            each.name, each.definition if each.definition in DEFINITIONS else UNKNOWN, each.statistic, each.value, each.unit,
            _better(each), each.n, each.samples,
        )
        for each in observation.metrics
        if abs(each.value) <= _LARGEST
    )  # fmt: skip
    known = {key: value for key, value in observation.workload.items() if not is_unknown(value)}
    counted = {
        _COUNTED[key]: (float(value),)
        for key, value in known.items()
        if key in _COUNTED and isinstance(value, int | float) and abs(value) <= _LARGEST
    }
    asked = {key: value for key, value in known.items() if key not in _COUNTED}
    if "concurrency" in asked and is_infinite(asked.get("request_rate")):
        del asked["request_rate"]  # nothing but the concurrency says then when a request is sent
    done = {**dict(_done(numbers)), **counted}
    notes = tuple(_notes(observation))
    return Side(label, numbers, asked, done, observation.tier, notes, subject=dict(observation.subject))


def _better(measured: Measured) -> str | None:
    """Which direction is a gain; of a spread none is, nor of what a newer hio counted in a way that is not known."""
    known = measured.definition in DEFINITIONS and measured.statistic not in NO_GAIN
    return measured.better if known else None


def is_infinite(fact: Fact | None) -> bool:
    """Whether a rate is none: requests are sent as fast as they may."""
    return str(fact).strip().lower() in ("inf", "infinity")


def is_unknown(fact: Fact) -> bool:
    """Whether a fact says that nobody knows."""
    return isinstance(fact, str) and fact.strip().lower() in ("", "unknown")


def _done(numbers: tuple[Number, ...]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for definition, quantity in DONE.items():
        told = {each.statistic: each for each in reversed(numbers) if each.definition == definition}
        found = next((told[statistic] for statistic in _TELLING if statistic in told), None)
        if found is not None:
            yield quantity, (found.value,)


def _notes(observation: Observation) -> Iterator[str]:
    requests = observation.requests
    if requests.failed:
        of = f" of {requests.asked}" if requests.asked is not None else ""
        yield f"{requests.failed}{of} requests failed"
    if requests.cancelled:
        yield f"{requests.cancelled} requests were cancelled"
    yield from (each.message for each in observation.findings)
    too_large = [each.name for each in observation.metrics if abs(each.value) > _LARGEST]
    if too_large:
        yield f"{', '.join(too_large)}: more than any measured quantity, hence not used"


def of_arm(case: Case, arm: str, label: str, tier: Tier, statistic: str = "median") -> Side:
    """An arm of a run, computed from its raw rows. Raises KeyError for an arm that the run does not have."""
    case.arm(arm)
    counted = case.counted(arm)
    numbers = []
    for metric in case.metrics:
        values = case.values(arm, metric.name)
        if values:
            value = median(values) if statistic == "median" else mean(values)
            definition = _definition(case, metric.name, metric.unit)
            column = f"{case.run.file}#{metric.name}"
            numbers.append(
                Number(metric.name, definition, statistic, value, metric.unit,
                       metric.better, len(values), tuple(values), column)
            )  # fmt: skip
    done = {
        column: tuple(sorted(found))
        for column in (*COUNTS, "cached")
        if column in case.model.columns
        and (
            found := {value for trial in counted for row in trial.rows for value in _count(row.cells[column])}
        )
    }
    lost = sum(not trial.counted for trial in case.trials if trial.arm == arm)
    notes = (f"{lost} of its trials do not count",) if lost else ()
    prompts = {
        row.cells["prompt_sha256"]
        for trial in counted
        for row in trial.rows
        if row.cells.get("prompt_sha256")
    }
    asked = _asked(case, done)
    subject: dict[str, Fact] = {"stack": name_of(case.arm(arm).stack), **case.arm(arm).set}
    return Side(label, tuple(numbers), asked, done, tier, notes, case.run.file, subject, frozenset(prompts))


def _definition(case: Case, metric: str, unit: str) -> str:
    """How hio counts a metric; of a run that others measured nobody knows it."""
    known = METRICS.get(metric)
    return known.definition if known and known.unit == unit and not case.model.imported else UNKNOWN


def _count(cell: str) -> Iterator[float]:
    try:
        value = float(cell)
    except ValueError:
        return
    if math.isfinite(value):
        yield value


def _asked(case: Case, done: Mapping[str, tuple[float, ...]]) -> dict[str, Fact]:
    """The workload of a run in the words of an observation's."""
    found: dict[str, Fact] = {}
    if case.fixture and not (case.plan is not None and case.plan.bench):
        found["dataset"] = case.fixture
    if case.regime:
        found["cache"] = case.regime
    if case.plan is not None and case.plan.bench:
        found |= {
            "prompt_tokens": case.plan.bench.prompt_tokens,
            "generated_tokens": case.plan.bench.generated_tokens,
        }
    if case.plan is not None and not case.model.imported:
        found["concurrency"] = 1  # hio asks one request after the other
    asked = {"prompt_tokens": () if any(done.get("cached", ())) else done.get("evaluated", ()),
             "generated_tokens": done.get("generated", ())}  # fmt: skip
    for key, values in asked.items():
        if key not in found and len(values) == 1:
            found[key] = int(values[0]) if values[0].is_integer() else values[0]
    return found
