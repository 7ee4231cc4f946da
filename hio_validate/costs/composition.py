"""From the terms of a ledger to one lower bound (contract 9.2, 9.3).

What holds of a pass of a correct engine: a resource serves one thing at a time, so terms on the same resource add up;
different resources may work at the same time; and what waits for the pass, or the pass for it, comes on top:

    time >= max over the resources of the sum on each + sum of the serial terms .

A document states its bound as groups: within a group the longest counts, groups are added. The sum of one resource's terms
stands within a maximum, which groups cannot say in general; they stay below it. Let M be the terms of the resource whose sum
is the largest, O all others, and S the longest of M, as few as are together as long as each of O. S and O are one group, each
other term of M is one of its own:

    max(S, O) + sum of the rest of M  <=  sum S + sum of the rest of M  =  sum M .

It is the sum itself where one term of M is as long as each of O. Where not even all of M is as long as a term of O at both
ends, everything is one group, and the bound is its longest term. In between it is less than the sum, so that it may grow where
a rate does; `at_least` does not. The derivation holds for any one resource; the one with the largest sum says the most.

Invariant: at the low end and at the best guess the sum over the groups is never more than `at_least`; its high end may be, as
the most that the bound may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hio_validate.costs.interval import ZERO, Interval, longest, total
from hio_validate.costs.units import UNITS, Dimension, base
from hio_validate.models.estimate import Term, Workload

Groups = tuple[tuple[str, ...], ...]

SERIAL: Final = ("draft", "output", "host-gaps", "queueing", "dispatch")
"""Terms that overlap with nothing: the pass waits for them, or they for it. The output layer multiplies what the rest of a
pass has made, so that its products begin when that has ended; it is a term of its own only where their rate is measured."""

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
    busiest = _busiest(within, times, resources)
    added = sorted(
        (name for name in within if resources[name] == busiest), key=lambda name: -times[name].value
    )
    others = [name for name in within if resources[name] != busiest]
    few = next((n for n in range(1, len(added) + 1) if _hide(added[:n], others, times)), len(added))
    together = [name for name in within if name in added[:few] or name in others]
    alone = [(name,) for name in within if name in added[few:]]
    return (*((tuple(together),) if together else ()), *alone, *serial)


def _busiest(names: Sequence[str], times: Mapping[str, Interval], resources: Mapping[str, str]) -> str | None:
    """The resource whose terms take longest together, by the best guess; of equal ones the first."""
    spent: dict[str, float] = {}
    for name in names:
        spent[resources[name]] = spent.get(resources[name], 0.0) + times[name].value
    return max(spent, key=spent.__getitem__, default=None)


def _hide(added: Sequence[str], others: Sequence[str], times: Mapping[str, Interval]) -> bool:
    """Whether some terms of one resource are together as long as each of the others, at the low end and at the best guess."""
    spent = total(*(times[name] for name in added))
    return all(times[name].low <= spent.low and times[name].value <= spent.value for name in others)


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


def tokens_counted(workload: Workload, metric: str) -> float:
    """Tokens that a rate counts in the time of one token of its path.

    decode_tps counts all G tokens of the answer over the time after the first one, which takes G - 1 tokens' time
    (llama.cpp, tools/server/server-context.cpp: t_start_generation is taken when the first token is sampled, n_decoded counts it).
    """
    answer = workload.generated_tokens
    return answer / (answer - 1) if metric == "decode_tps" and answer and answer > 1 else 1.0
