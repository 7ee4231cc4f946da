"""A number of a baseline that the pinned rows do not give.

Every later run is held against a baseline, for months, by people who were not there. Its numbers are computed from the
raw rows of the run, or taken from the records of the observation, that it pins (contract 7.3, 10.2); a number that was
typed, rounded or taken from another arm moves every verdict after it. hio computes each dimension again: value, number of
observations, unit, definition and direction.

How to fix: record it with `hio baseline record`, which computes what it writes. In a committed entry leave the number,
record the baseline under a new name and append a `correction` of this one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.baseline import evidence_of
from hio_validate.evidence.kept import Unkept
from hio_validate.evidence.sides import Number
from hio_validate.models.entry import Baseline, Dimension
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    if not isinstance(item.model, Baseline) or not item.model.dimensions or item.model.conditions is None:
        return
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
        for key, said, given in _different(dimension, number):
            yield Problem(
                at(item, "dimensions", index, key),
                f"{key} of {dimension.metric} is {said} here; the rows give {given}",
                "hio baseline record computes what it writes",
            )


def _different(dimension: Dimension, number: Number) -> Iterator[tuple[str, object, object]]:
    if abs(dimension.value - number.value) > 1e-9 * abs(number.value):
        yield "value", dimension.value, f"{number.value:.12g}"
    for key in ("unit", "definition", "better"):
        said, given = getattr(dimension, key), getattr(number, key)
        if said != given:
            yield key, said, given or "no direction"
    if dimension.n is not None and dimension.n != number.n:
        yield "n", dimension.n, "an unknown number" if number.n is None else number.n


RULE = Rule(
    "baseline-contradicts-rows", Scope.DOCUMENT, Severity.ERROR, "a baseline's number is not what the rows give", check,
    kinds=("entry/v1",), contract=("7.3", "10.2"), since=5, suppressible=False, spares_corrected=True,
)  # fmt: skip
