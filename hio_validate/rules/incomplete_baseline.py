"""A measured baseline that leaves out what it was measured with, or on what it stands.

A baseline is recorded once and never moves (contract 10.2). Whoever compares with it in a year needs its evidence: the run
or the observation that it pins, one of both; and its conditions: shapes, concurrency, cache, graphs, devices, source,
delivery, method, trials. A dimension has a statistic and a way of counting that hio knows, in a unit of it, and stands
once. A baseline without dimensions says only which stack others are compared with, and needs none of this.

How to fix: `hio baseline record` writes all of it and says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.definitions import DEFINITIONS, STATISTICS, UNITS
from hio_validate.models.entry import Baseline, Dimension
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed


def check(item: Item, view: View) -> Iterator[Problem]:
    baseline = item.model
    if not isinstance(baseline, Baseline) or not (baseline.dimensions or baseline.conditions):
        return
    if baseline.conditions is None:
        yield Problem(
            at_key(item, "dimensions"),
            "its numbers stand without what they were measured with",
            "add conditions:",
        )
    if not baseline.dimensions:
        yield Problem(
            at_key(item, "conditions"), "it says what it was measured with, and no number", "add dimensions:"
        )
    pinned = [key for key in ("run", "observation") if getattr(baseline.pins, key)]
    if len(pinned) != 1:
        yield Problem(
            at_key(item, "pins"),
            "it pins a run and an observation: which one was measured?"
            if pinned
            else "it pins neither the run nor the observation that was measured",
            'pin one of them: run: "<name>@sha256:<digest>"',
        )
    seen: set[tuple[str, str]] = set()
    for index, dimension in enumerate(baseline.dimensions):
        for key, message, help_ in _faults(dimension):
            yield Problem(at(item, "dimensions", index, key), message, help_)
        if (dimension.metric, dimension.statistic) in seen:
            yield Problem(
                at(item, "dimensions", index, "metric"),
                f"the {dimension.statistic} of {dimension.metric} stands twice",
                "leave one of them",
            )
        seen.add((dimension.metric, dimension.statistic))


def _faults(dimension: Dimension) -> Iterator[tuple[str, str, str]]:
    if dimension.statistic not in STATISTICS:
        yield "statistic", f"no statistic is called {dimension.statistic}", f"one of {', '.join(STATISTICS)}"
    known = DEFINITIONS.get(dimension.definition)
    if known is None:
        yield (
            "definition",
            f"no definition is called {dimension.definition}",
            "unknown, where the source does not say",
        )
        return
    units = UNITS.get(known.dimension)
    if units is not None and dimension.unit not in units:
        yield "unit", f"{dimension.unit} is no unit of {known.dimension}", f"one of {listed(units)}"


RULE = Rule(
    "incomplete-baseline", Scope.DOCUMENT, Severity.ERROR, "a measured baseline lacks evidence or conditions", check,
    kinds=("entry/v1",), contract=("10.2",), since=5, suppressible=False, spares_corrected=True,
)  # fmt: skip
