"""From the terms of a ledger to one lower bound (contract 9.2, 9.3).

What holds of a pass of a correct engine: a resource serves one thing at a time, so terms on the same resource add up;
different resources may work at the same time; and what waits for the pass, or the pass for it, comes on top. With M the
sum of the terms on memory, O the terms on other resources and S the serial ones

    time >= max(M, max O) + sum S .

A document states its bound as groups: within a group the longest counts, groups are added. M is a sum and lies within a
maximum, which groups cannot say in general; they say it exactly in two cases, and otherwise less than it:

- Each term of O is, at all three ends of its interval, at most as long as one term of M: M's terms are a group each, and
  that term of O stands in the group of the longest of M. The sum over the groups is M, and M >= max O.
- Else all of M and O are one group: max(M's terms, O) <= max(M, max O). It is exact where one term of O is longer than M.

Invariant: the sum over the groups is never more than `at_least`, at each end of the interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hio_validate.costs.interval import ZERO, Interval, longest, total
from hio_validate.costs.units import UNITS, Dimension, base
from hio_validate.models.estimate import Term

Groups = tuple[tuple[str, ...], ...]

SERIAL: Final = ("draft", "host-gaps", "queueing", "dispatch")
"""Terms that overlap with nothing: the pass waits for them, or they for it."""

METRIC_UNIT: Final[dict[str, str]] = {
    "decode_tps": "1", "prefill_tps": "1", "bench_decode_tps": "1", "bench_prefill_tps": "1",
    "ttft_ms": "ms", "itl_ms": "ms", "tpot_ms": "ms", "wall_s": "s",
}  # fmt: skip
"""Metric -> the unit of an amount that states it; token/s is 1, as no unit of documents counts tokens."""


def time_of(term: Term) -> Interval:
    """Seconds of one term: its work by what one unit of it costs, and what is fixed.

    Raises ValueError where work and cost do not fit each other, and ZeroDivisionError where a rate may be zero.
    """
    dimension = UNITS[term.cost.amount.unit][0]
    work, cost = base(term.work), base(term.cost.amount)
    wanted = {Dimension.DATA_RATE: Dimension.DATA, Dimension.WORK_RATE: Dimension.WORK}.get(
        dimension, Dimension.COUNT
    )
    if dimension not in (Dimension.DATA_RATE, Dimension.WORK_RATE, Dimension.TIME):
        raise ValueError(f"{term.cost.amount.unit} is no cost of anything: expected a rate or a time")
    if UNITS[term.work.unit][0] is not wanted:
        raise ValueError(f"work in {term.work.unit} has no cost in {term.cost.amount.unit}")
    spent = work * cost if dimension is Dimension.TIME else work / cost
    return spent if term.fixed is None else spent + base(term.fixed)


def longest_of_groups(groups: Iterable[Sequence[str]], times: Mapping[str, Interval]) -> Interval:
    """Seconds: the sum over the groups of the longest of each. Raises KeyError for a term without a time."""
    return total(*(longest(*(times[name] for name in group)) for group in groups if group))


def at_least(times: Mapping[str, Interval], resources: Mapping[str, str]) -> Interval:
    """Seconds that the terms take at least: max over the resources of the sums on each, and the serial ones.

    No grouping may come to more (contract 9.3: summing overlapping lower bounds is a finding).
    """
    on: dict[str, Interval] = {}
    for name, time in times.items():
        if name not in SERIAL:
            on[resources[name]] = on.get(resources[name], ZERO) + time
    return total(longest(ZERO, *on.values()), *(times[name] for name in times if name in SERIAL))


def grouped(times: Mapping[str, Interval], resources: Mapping[str, str]) -> Groups:
    """The groups of the bound, in the order of the terms; the module's docstring derives them."""
    serial = [(name,) for name in times if name in SERIAL]
    within = [name for name in times if name not in SERIAL]
    memory = [name for name in within if resources[name] == "memory"]
    others = [name for name in within if resources[name] != "memory"]
    lead = max(memory, key=lambda name: times[name].value, default=None)
    if lead is None or not all(_no_longer(times[name], times[lead]) for name in others):
        together = [tuple(within)] if within else []
    else:
        together = [(name, *others) if name == lead else (name,) for name in memory]
    return (*together, *serial)


def _no_longer(one: Interval, other: Interval) -> bool:
    return one.low <= other.low and one.value <= other.value and one.high <= other.high


def as_metric(time: Interval, metric: str, tokens: float) -> Interval:
    """A time as the metric counts it, in the metric's own unit (METRIC_UNIT).

    tokens: how many a rate counts in that time; a time a token is divided by them, a time to the first token or of the whole
    request is not. Raises ZeroDivisionError for a rate in no time.
    """
    if metric.endswith("_tps"):
        return Interval.exact(tokens) / time
    if metric in ("itl_ms", "tpot_ms"):
        return time / Interval.exact(tokens) * 1e3
    return time * (1.0 if metric == "wall_s" else 1e3)
