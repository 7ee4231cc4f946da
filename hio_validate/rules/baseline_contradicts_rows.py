"""A number of a baseline that the pinned rows do not give.

Every later run is held against a baseline, for months, by people who were not there. Its numbers are computed from the
raw rows of the run, or taken from the records of the observation, that it pins (contract 7.3, 10.2); a number that was
typed, rounded or taken from another arm moves every verdict after it. hio computes each dimension again: value, number of
observations, unit, definition and direction.

How to fix: record it with `hio baseline record`, which computes what it writes. In a committed entry leave the number,
record the baseline under a new name and append a `correction` of this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Baseline, Dimension
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    if not isinstance(item.model, Baseline) or not item.model.dimensions or item.model.conditions is None:
        return
    # Imported here: few baselines have numbers, and observations load dataclasses.
    from hio_validate.evidence.baseline import evidence_of
    from hio_validate.evidence.kept import Unkept

    try:
        base = evidence_of(item, view)
    except Unkept as error:
        yield Problem(at_key(item, "pins"), str(error), "restore the bytes that were pinned")
        return
    if base is None:
        if item.model.pins.run or item.model.pins.observation:
            yield Problem(
                at_key(item, "conditions"),
                "what it pins has no such arm or record, or cannot be read: nothing proves its dimensions",
                "name the arm of the run, or the record of the observation, that was measured",
            )
        return
    numbers = {(each.name, each.statistic): each for each in base.numbers}
    for index, dimension in enumerate(item.model.dimensions):
        number = numbers.get((dimension.metric, dimension.statistic))
        if number is None:
            known = listed(sorted({each.name for each in base.numbers}))
            yield Problem(
                at(item, "dimensions", index, "metric"),
                f"the rows give no {dimension.statistic} of {dimension.metric}",
                f"they give {known}",
            )
            continue
        for key, said, given in _different(dimension, number._asdict()):
            yield Problem(
                at(item, "dimensions", index, key),
                f"{key} of {dimension.metric} is {said} here; the rows give {given}",
                "hio baseline record computes what it writes",
            )


def _different(dimension: Dimension, given: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    """(key, what is said, what the rows give) of all that is not the same."""
    if abs(dimension.value - given["value"]) > 1e-9 * abs(given["value"]):
        yield "value", dimension.value, f"{given['value']:.12g}"
    for key in ("unit", "definition", "better"):
        if getattr(dimension, key) != given[key]:
            yield key, getattr(dimension, key), given[key] or "no direction"
    if dimension.n is not None and dimension.n != given["n"]:
        yield "n", dimension.n, "an unknown number" if given["n"] is None else given["n"]


RULE = Rule(
    "baseline-contradicts-rows", Scope.DOCUMENT, Severity.ERROR, "a baseline's number is not what the rows give", check,
    kinds=("entry/v1",), contract=("7.3", "10.2"), since=5, suppressible=False, spares_corrected=True,
)  # fmt: skip
