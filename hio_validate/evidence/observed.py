"""What a foreign tool measured, record by record, as importers give it and as `records.jsonl` keeps it.

Invariants: a number stands as the source has it, in the source's unit, integers exact; what the source does not say is
absent and never zero; a number that cannot be so is no measurement but a finding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from hio_validate.evidence.definitions import DEFINITIONS, STATISTICS, UNITS
from hio_validate.evidence.outcome import Tier

Fact = str | bool | int | float
"""One thing that the source says, as it says it."""


class Finding(NamedTuple):
    """Something that cannot be so, or must not be used as it stands."""

    id: str
    """Kebab-case: impossible-value, zero-completed, rate-contradicts-counts, few-samples ..."""
    message: str
    line: int = 0
    """In the source, from 1; 0: the record or the file as a whole."""


_CANNOT_BE = frozenset({"impossible-value", "statistics-out-of-order", "first-token-after-end"})


def cannot_be(finding: str) -> bool:
    """Whether an id says that a file contradicts itself; the other findings are told and judge nothing."""
    if (
        finding == "std-contradicts-samples"
    ):  # llama-bench computes it in integers that wrap: no fault of the file
        return False
    return finding in _CANNOT_BE or any(
        word in ("contradicts", "contradict", "exceeds", "exceed") for word in finding.split("-")
    )


class Measured(NamedTuple):
    """One number of a record."""

    name: str
    """What the source calls it, e.g. mean_itl_ms; unique within the record together with its statistic."""
    definition: str
    """How it was counted: a name of DEFINITIONS."""
    statistic: str
    """One of STATISTICS."""
    value: int | float
    unit: str
    """As the schema of that format says, never guessed from the size of the number."""
    n: int | None = None
    """Observations behind it; None: unknown."""
    samples: tuple[int | float, ...] = ()
    """They themselves, where the source keeps them."""
    derived: bool = False
    """Whether the importer computed the value from other numbers of the source; otherwise it stands there."""
    samples_derived: bool = False
    """Whether it computed the samples: from other lists of the source, or into the value's unit."""

    @property
    def better(self) -> str | None:
        return DEFINITIONS[self.definition].better


class Requests(NamedTuple):
    """How many requests there were; None: the source does not say."""

    asked: int | None = None
    completed: int | None = None
    failed: int | None = None
    cancelled: int | None = None


_NONE_TOLD = Requests()


@dataclass
class Observation:
    """One benchmark of one configuration under one load."""

    name: str
    """Unique within its file, from what distinguishes it: tg128, concurrency-4, gsm8k."""
    line: int = 0
    at: str | None = None
    """When, as the source writes it."""
    subject: dict[str, Fact] = field(default_factory=dict)
    """What was measured, as the source says it: engine, build, model, device, and settings."""
    workload: dict[str, Fact] = field(default_factory=dict)
    """What was asked of it: prompt_tokens, generated_tokens, concurrency, request_rate, dataset ..."""
    requests: Requests = _NONE_TOLD
    metrics: list[Measured] = field(default_factory=list)
    foreign: dict[str, Fact] = field(default_factory=dict)
    """Keys that hio does not know, by their path, with their values as text; long ones are cut."""
    findings: list[Finding] = field(default_factory=list)
    unknown: tuple[str, ...] = ()
    """What this record cannot tell, beyond what its format never tells."""

    @property
    def tier(self) -> Tier:
        """What it deserves (contract 7.1, 7.6): it was measured outside hio, so that DRAFT is the most."""
        has_shape = {
            "prompt_tokens", "generated_tokens", "samples_per_query", "task", "operator",
        } & self.workload.keys()  # fmt: skip
        return Tier.DRAFT if self.metrics and has_shape else Tier.NEEDS_CONTEXT

    @property
    def why(self) -> str:
        """Why it deserves no higher tier, in a few words."""
        if not self.metrics:
            return "it measured nothing"
        if self.tier is Tier.NEEDS_CONTEXT:
            return "the file does not say how long prompt and answer were"
        return "measured outside hio"


_TOO_LARGE = 10**300
"""No float holds it, so that nothing can be computed with it."""


def faults_of(measured: Measured) -> Iterator[str]:
    """What cannot be so about one number, in sentences."""
    if measured.definition not in DEFINITIONS:
        yield f"{measured.name}: no definition is called {measured.definition}"
        return
    if measured.statistic not in STATISTICS:
        yield f"{measured.name}: no statistic is called {measured.statistic}"
    units = UNITS.get(DEFINITIONS[measured.definition].dimension)
    if units is not None and measured.unit not in units:
        yield f"{measured.name}: {measured.unit} is no unit of {DEFINITIONS[measured.definition].dimension}"
    if measured.n == 0:
        yield f"{measured.name} ({measured.statistic}) is of 0 observations: of none there is no number"
    for value in (measured.value, *measured.samples):
        if isinstance(value, int) and abs(value) >= _TOO_LARGE:
            yield f"{measured.name} is {str(value)[:20]}...: more than any number can be reckoned with"
        elif not math.isfinite(value):
            yield f"{measured.name} is {value}: not a finite number"
        elif units is not None and value < 0:
            yield f"{measured.name} is {value:g} {measured.unit}: less than nothing"


def as_row(observation: Observation) -> dict[str, Any]:
    """A record as a line of `records.jsonl` holds it: what is absent is left out."""
    row: dict[str, Any] = {"name": observation.name, "line": observation.line, "at": observation.at}
    row |= {"subject": observation.subject, "workload": observation.workload}
    row["requests"] = {
        key: value for key, value in observation.requests._asdict().items() if value is not None
    }
    row["metrics"] = [_without_gaps(measured._asdict()) for measured in observation.metrics]
    for metric in row["metrics"]:
        for key in ("derived", "samples_derived"):
            if not metric[key]:
                del metric[key]
    row |= {"foreign": observation.foreign, "unknown": list(observation.unknown)}
    row["findings"] = [finding._asdict() for finding in observation.findings]
    return _without_gaps(row)


def _without_gaps(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in row.items()
        if value is not None and value != () and value != {} and value != []
    }


def of_row(row: Mapping[str, Any]) -> Observation:
    """The record that a line of `records.jsonl` holds. Raises ValueError, in a sentence, where it is none."""
    _known(row, _KEYS, "it")
    metrics = [_measured(each) for each in _objects(row, "metrics")]
    _once(metrics)
    requests = _object(row.get("requests", {}), "requests")
    return Observation(
        name=_text(_said(row, "name", "it"), "name"),
        line=_count(row.get("line", 0), "line"),
        at=None if row.get("at") is None else _text(row["at"], "at"),
        subject=_facts(row.get("subject", {}), "subject"),
        workload=_facts(row.get("workload", {}), "workload"),
        requests=Requests(
            **{key: _count(each, key) for key, each in _known(requests, Requests._fields, "requests").items()}
        ),
        metrics=metrics,
        foreign=_facts(row.get("foreign", {}), "foreign"),
        findings=[_finding(each) for each in _objects(row, "findings")],
        unknown=tuple(_text(each, "unknown") for each in _list(row.get("unknown", ()), "unknown")),
    )


_KEYS = tuple(each.name for each in fields(Observation))


def _measured(row: Mapping[str, Any]) -> Measured:
    _known(row, Measured._fields, "a metric")
    for key in ("name", "definition", "statistic", "value", "unit"):
        _said(row, key, "a metric")
    measured = Measured(**{**row, "samples": tuple(_list(row.get("samples", ()), "samples"))})
    for key in ("name", "definition", "statistic", "unit"):
        _text(getattr(measured, key), key)
    for value in (measured.value, *measured.samples):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{measured.name} is no number")
    if measured.n is not None:
        _count(measured.n, "n")
    for key in ("derived", "samples_derived"):
        if not isinstance(getattr(measured, key), bool):
            raise ValueError(f"{key} of {measured.name} is neither true nor false")
    return measured


def _once(metrics: list[Measured]) -> None:
    seen = set()
    for each in metrics:
        if (each.name, each.statistic) in seen:
            raise ValueError(f"{each.name} ({each.statistic}) stands twice")
        seen.add((each.name, each.statistic))


def _finding(row: Mapping[str, Any]) -> Finding:
    _known(row, Finding._fields, "a finding")
    id, message = (_text(_said(row, key, "a finding"), key) for key in ("id", "message"))
    return Finding(id, message, _count(row.get("line", 0), "line"))


def _known(row: Mapping[str, Any], keys: Iterable[str], what: str) -> Mapping[str, Any]:
    """The row, where it has no key beyond these."""
    if more := sorted(row.keys() - set(keys)):
        raise ValueError(f"{what} has a key that no record has: {more[0][:40]}")
    return row


def _said(row: Mapping[str, Any], key: str, what: str) -> Any:
    if key not in row:
        raise ValueError(f"{what} has no {key}")
    return row[key]


def _list(value: Any, key: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{key} is no list")
    return value


def _object(value: Any, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{key} is no object")
    return value


def _objects(row: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a list under a key."""
    for each in _list(row.get(key, ()), key):
        yield _object(each, f"one of {key}")


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} is no text")
    return value


def _count(value: Any, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} is no count")
    return value


def _facts(values: Any, key: str) -> dict[str, Fact]:
    if not all(isinstance(value, Fact) for value in _object(values, key).values()):
        raise ValueError(f"{key} holds more than single values")
    return dict(values)
