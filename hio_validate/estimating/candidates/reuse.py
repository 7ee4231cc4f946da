"""Family 5, reuse: prefixes that an earlier request computed, and graphs that are built once.

Invariant: a cache is proposed only with a cold and a warm run of the same workload, both pinned (contract 9.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen, without
from hio_validate.estimating.candidates.switched import BUILT, switched
from hio_validate.estimating.context.recorded import newest_first
from hio_validate.evidence.averages import median
from hio_validate.evidence.case import Case
from hio_validate.evidence.trials import known
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View

_SHORTER = ("ttft_ms", "wall_s")
"""Metrics that a cached prefix can shorten; a rate of evaluated tokens is no other one for tokens that are not evaluated."""


class _Half(NamedTuple):
    """One of the two runs that caching needs."""

    pin: str
    time: Interval
    """Of the target's metric, in its unit: the median of the arm's trials between its smallest and largest."""


def find(seen: Seen, found: Found) -> None:
    """Prefix caching, then graphs and compiled passes."""
    found.mechanisms += _prefix(seen, found)
    found.mechanisms += switched(seen, "graphs")
    found.mechanisms += _larger_graphs(seen)
    found.mechanisms += switched(seen, "compiled")


def _prefix(seen: Seen, found: Found) -> Iterator[Mechanism]:
    inputs = seen.inputs
    switch = next(seen.switches("prefix-cache"), None)
    if (
        not seen.has("prefix-cache")
        or inputs.workload.cache == "warm"
        or inputs.target.metric not in _SHORTER
    ):
        return
    halves = {cache: _latest(inputs.view, seen, cache) for cache in ("cold", "warm")} if inputs.view else {}
    cold, warm = halves.get("cold"), halves.get("warm")
    if cold is None or warm is None or inputs.baseline is None:
        lacks = (
            " and ".join(f"a {cache} run" for cache in ("cold", "warm") if halves.get(cache) is None)
            or "a baseline"
        )
        asked = inputs.fixture.name if inputs.fixture else "the workload"
        found.missing.append(
            f"{lacks} of {asked} on {inputs.stack.name}: without both, reusing prefixes is not proposed (contract 9.5)"
        )
        return
    lever, to = (switch[0], switch[2]) if switch else (None, None)
    yield Mechanism(
        "prefix-cache", 5, "evaluate no prompt token that an earlier request has evaluated",
        lever=lever, to=to,
        change=None if lever else "prefixes that differ -> a stable prefix first",
        measured=(cold.time, warm.time), cold=cold.pin, warm=warm.pin, confidence="medium",
        stop_if="the workload's prompts share too few tokens: rows of cached tokens show less than the warm run had",
        needs=("the share of prompt tokens that real requests have in common",),
    )  # fmt: skip


def _latest(view: View | None, seen: Seen, cache: str) -> _Half | None:
    """The newest completed run of this stack and fixture with that state of the cache."""
    if view is None:
        return None
    runs = [run for run in view.repo.of("run/v1") if run.service == seen.inputs.service]
    for run in newest_first(runs):
        half = _half(view, run, seen, cache) if run.model.outcome in (None, "completed") else None
        if half is not None:
            return half
    return None


def _half(view: View, run: Item, seen: Seen, cache: str) -> _Half | None:
    inputs, case = seen.inputs, Case(run, view)
    if case.plan is None or case.plan.cache != cache or case.rows is None:
        return None
    fixture = inputs.fixture
    if fixture is None or not any(
        name_of(pin) == fixture.name and pin.endswith(fixture.document.digest) for pin in run.model.fixtures
    ):
        return None
    for name, arm in run.model.arms.items():
        values = (
            known(case.trials, name, inputs.target.metric)
            if arm.stack == inputs.stack.pin and not arm.set
            else []
        )
        if values:
            return _Half(run.pin, Interval(median(values), min(values), max(values)))
    return None


def _larger_graphs(seen: Seen) -> Iterator[Mechanism]:
    """Passes with more requests than the largest recorded one launch each kernel."""
    at_once = seen.inputs.workload.concurrency
    if "launches" not in seen.times or seen.inputs.path != "decode-token":
        return
    for lever, way in seen.ways("graph-sizes"):
        if lever.number is not None and 0 < lever.number < at_once:
            yield Mechanism(
                f"graphs-of-{at_once}", 5, f"record passes of up to {at_once} requests: larger ones than {lever.number} launch each kernel",
                term="launches", lever=lever, to=str(at_once), then=without(seen.inputs, "launches"), route="device-timeline",
                stop_if="a timeline shows no gaps between kernels, or the graphs leave too little memory to K/V",
                needs=(*way.needs, BUILT),
            )  # fmt: skip
