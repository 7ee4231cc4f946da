"""A baseline on its way into the ledger: what was measured, what it was measured with, and what is still missing of it.

Invariants: a value is computed from the raw rows and never typed; what the record says is not said otherwise; a name is
given once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hio_validate.evidence.case import Case
from hio_validate.evidence.compared import same, words
from hio_validate.evidence.observed import Fact
from hio_validate.evidence.sides import Number, Side
from hio_validate.known_good.agreement import is_placeholder
from hio_validate.ledger import Ledger
from hio_validate.measurements import Found
from hio_validate.models.entry import Baseline
from hio_validate.repo import Item, Repo, name_of
from hio_validate.rules.base import View, listed

CONDITIONS = ("concurrency", "cache", "graph_mode", "devices", "source", "delivery", "method")
"""What a baseline says beside its shapes and trials, in the order of the document."""


class CannotRecord(Exception):
    """The measurement gives no baseline; says what is missing."""


class AlreadyRecorded(CannotRecord):
    """The ledger has a baseline of that name."""


class Asked(NamedTuple):
    """What whoever records it says."""

    conditions: Mapping[str, Fact]
    shapes: Mapping[str, Fact]
    metrics: Sequence[str]
    tolerances: Mapping[str, float]
    """Metric -> percent; "" for all others."""
    floors: Mapping[str, float]
    """Metric -> difference in its unit."""
    stack: str | None = None
    capture: str | None = None


def conditions_of(found: Found, view: View, said: Mapping[str, Fact]) -> dict[str, Fact]:
    """What is known of how something was measured: what its record says, else what was said. Raises CannotRecord."""
    recorded = dict(_recorded(found, view))
    for key, fact in said.items():
        if isinstance(fact, str) and is_placeholder(fact):
            raise CannotRecord(f"{words(key)} {fact!r} only holds a place; say what it was")
        if key in recorded and not same(recorded[key], fact):
            raise CannotRecord(f"{words(key)} was {recorded[key]} by {found.side.label} itself, not {fact}")
    return {**said, **recorded}


def _recorded(found: Found, view: View) -> Iterator[tuple[str, Fact]]:
    for key in ("concurrency", "cache"):
        if key in found.side.workload:
            yield key, found.side.workload[key]
    item = found.item
    if found.format is not None:
        yield "method", found.format
    if item is not None and item.kind == "observation/v1":
        yield "method", str(item.model.source.format)
    if item is not None and item.kind == "run/v1":
        yield from _of_run(Case(item, view), found.part, view.repo)


def _of_run(case: Case, arm: str, repo: Repo) -> Iterator[tuple[str, Fact]]:
    if case.plan is not None and not case.model.imported:
        yield "method", str(case.plan.method)
    captures = [capture for _, capture in case.captures(arm) if capture is not None]
    names = {process.build for capture in captures for process in capture.processes.values() if process.build}
    builds = [repo.find("engine/v1", name) for name in sorted(names)]
    if len(builds) == 1 and builds[0] is not None and builds[0].model is not None:
        engine = builds[0].model
        if engine.identity and engine.identity.image:
            yield "source", str(engine.identity.image)
        elif engine.source and engine.source.revision:
            yield "source", str(engine.source.revision)
        if engine.identity:
            yield "delivery", str(engine.identity.kind)


def completed(found: Found, conditions: Mapping[str, Fact], shapes: Mapping[str, Fact]) -> Side:
    """The side with what its record does not say and whoever compares does. Raises CannotRecord."""
    told = {key: conditions[key] for key in ("concurrency", "cache") if key in conditions}
    return found.side._replace(workload={**_shapes(found.side, shapes), **told})


def draft(
    name: str, found: Found, view: View, ledger: Ledger, asked: Asked
) -> tuple[dict[str, Any], dict[str, str]]:
    """Fields and names to pin of a baseline entry. Raises CannotRecord."""
    if found.item is None:
        raise CannotRecord(
            f"{found.side.label} is a file, which nobody pins; hio import --write makes it an observation"
        )
    conditions = conditions_of(found, view, asked.conditions)
    shapes = _shapes(found.side, asked.shapes)
    _refuse_what_is_missing(conditions, shapes, found, asked)
    key, kind = ("arm", "run") if found.item.kind == "run/v1" else ("record", "observation")
    said = {key: found.part, "shapes": shapes, **{each: conditions[each] for each in CONDITIONS}}
    dimensions = [_dimension(number, asked) for number in _chosen(found.side, asked)]
    trials = max((each.get("n", 1) for each in dimensions), default=1) if kind == "run" else 1
    fields = {"conditions": {**said, "trials": trials}, "dimensions": dimensions}
    pins = {"stack": _stack(found, ledger, asked), kind: found.item.name}
    capture = asked.capture or _capture(found)
    if capture:
        pins["capture"] = capture
    _refuse_the_same_name(name, fields, ledger)
    return fields, pins


def _shapes(side: Side, said: Mapping[str, Fact]) -> dict[str, Fact]:
    recorded = {key: fact for key, fact in side.workload.items() if key not in ("concurrency", "cache")}
    for key, fact in said.items():
        if isinstance(fact, str) and is_placeholder(fact):
            raise CannotRecord(f"{words(key)} {fact!r} only holds a place; say what it was")
        if key in recorded and not same(recorded[key], fact):
            raise CannotRecord(f"{words(key)} was {recorded[key]} by {side.label} itself, not {fact}")
    return {**said, **recorded}


def _refuse_what_is_missing(
    conditions: Mapping[str, Fact], shapes: Mapping[str, Fact], found: Found, asked: Asked
) -> None:
    """Raises CannotRecord for all that is missing at once, as it is typed."""
    missing = [
        f"--{each.replace('_', '-')} {_TYPED.get(each, 'VALUE')}"
        for each in CONDITIONS
        if each not in conditions
    ]
    missing += [f"--shape {each}=N" for each in ("prompt_tokens", "generated_tokens") if each not in shapes]
    if not asked.tolerances:
        missing.append("--tolerance PERCENT")
    is_observation = found.item is not None and found.item.kind == "observation/v1"
    if is_observation and asked.stack is None and found.item is not None and found.item.model.stack is None:
        missing.append("--stack STACK")
    if missing:
        raise CannotRecord(f"the record does not say all that a baseline says; give {', '.join(missing)}")


_TYPED = {
    "cache": "cold|warm", "concurrency": "N", "graph_mode": "off|on", "devices": "N", "source": "REVISION|IMAGE-DIGEST",
    "delivery": "native|image",
}  # fmt: skip
"""What an option of a condition takes, in a word; hio baseline record --help says more."""


def _chosen(side: Side, asked: Asked) -> list[Number]:
    """The metrics to record: the named ones, else all that have a direction."""
    have = [each for each in side.numbers if each.better is not None]
    names = {each.name for each in have}
    if not have:
        raise CannotRecord(f"{side.label} measured nothing that has a direction")
    for name in (*asked.metrics, *asked.tolerances, *asked.floors):
        if name and name not in names:
            raise CannotRecord(f"{side.label} has no metric {name}; it has {listed(sorted(names), 12)}")
    return [each for each in have if not asked.metrics or each.name in asked.metrics]


def _dimension(number: Number, asked: Asked) -> dict[str, Any]:
    tolerance = asked.tolerances.get(number.name, asked.tolerances.get(""))
    if tolerance is None:
        raise CannotRecord(
            f"say how much {number.name} may change: --tolerance PERCENT, or --tolerance {number.name}=PERCENT"
        )
    said: dict[str, Any] = {
        "metric": number.name, "definition": number.definition, "statistic": number.statistic,
        "better": number.better, "value": number.value, "unit": number.unit,
    }  # fmt: skip
    if number.n is not None:
        said["n"] = number.n
    said["tolerance_percent"] = tolerance
    return {**said, "floor": asked.floors[number.name]} if number.name in asked.floors else said


def _stack(found: Found, ledger: Ledger, asked: Asked) -> str:
    """The stack that was measured, which is or becomes the parent."""
    item = found.item
    assert item is not None  # a file was refused before
    if item.kind == "run/v1":
        arm = item.model.arms[found.part]
        measured = name_of(arm.stack)
        if arm.set:
            raise CannotRecord(
                f"{found.side.label} is {measured} with {listed(arm.set)} changed; a baseline is a stack as it stands"
            )
        if asked.stack and asked.stack != measured:
            raise CannotRecord(f"{found.side.label} measured {measured}, not {asked.stack}")
        stack: str | None = measured
    else:
        stack = asked.stack or (name_of(item.model.stack) if item.model.stack else None)
    if stack is None:
        raise CannotRecord("say which stack was measured: --stack")
    if ledger.parent is not None and stack != ledger.parent:
        raise CannotRecord(
            f"{stack} is not the parent of {ledger.service}, {ledger.parent} is; accept it first, or measure the parent"
        )
    return stack


def _capture(found: Found) -> str | None:
    item = found.item
    if item is None or item.kind != "run/v1":
        return None
    pins = [leg.capture for leg in item.model.legs if leg.arm == found.part and leg.capture]
    pins += item.model.arms[found.part].captures
    return name_of(pins[0]) if pins else None


def _refuse_the_same_name(name: str, fields: Mapping[str, Any], ledger: Ledger) -> None:
    item = ledger.entries.get(name)
    if item is None:
        return
    changed = list(_changed(item, fields))
    said = f"changed: {'; '.join(changed)}; a new name is needed" if changed else "and says the same"
    raise AlreadyRecorded(f"{name} is recorded already and stays as it is, {said}")


def _changed(item: Item, fields: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(item.model, Baseline) or item.model.conditions is None:
        yield f"{name_of(item.name)} is no measured baseline"
        return
    before, now = item.model.conditions, fields["conditions"]
    for key in (*dict.fromkeys((*before.shapes, *now["shapes"])),):
        one, two = before.shapes.get(key, "unknown"), now["shapes"].get(key, "unknown")
        if not same(one, two):
            yield f"{words(key)} {one} -> {two}"
    for key in CONDITIONS:
        if not same(getattr(before, key), now[key]):
            yield f"{words(key)} {getattr(before, key)} -> {now[key]}"
    values = {(each.metric, each.statistic): each.value for each in item.model.dimensions}
    for each in fields["dimensions"]:
        value = values.get((each["metric"], each["statistic"]))
        if value != each["value"]:
            yield f"{each['metric']} {'unknown' if value is None else value} -> {each['value']}"
