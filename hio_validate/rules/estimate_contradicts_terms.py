"""A number of an estimate that its own terms do not give.

Everything in an estimate follows from its ledger: a term's time is its work by what one unit costs, plus what is fixed
(contract 9.2); the bound is the sum over its groups of the longest term of each (contract 9.3); the same in the target's
metric; the efficiency is the bound by what was measured, its ends by the ends of both. Each interval holds its best guess,
low end first. hio computes all of them again: each has to be what the others give but for the last digit that it shows, and it
shows three at least. A number that was typed decides about a machine.

How to fix: `hio estimate --write` computes what it writes. By hand: correct the number, or the term it is from.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.estimate import Amount, Estimate
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.estimated import DIGITS, amounts, better_of, is_ordered, is_same, number, shown


def check(item: Item, view: View) -> Iterator[Problem]:
    estimate: Estimate = item.model
    for path, amount in amounts(estimate):
        if not is_ordered(amount):
            yield Problem(
                at(item, *path, "low" if amount.low > amount.value else "high"),
                f"{shown(amount)} does not lie between its ends, {number(amount.low, amount.unit)} and "
                f"{number(amount.high, amount.unit)}",
                "write low <= value <= high; what is known exactly has three equal numbers",
            )
    yield from _terms(item, estimate)
    yield from _bound(item, estimate)
    yield from _metric(item, estimate)
    yield from _efficiency(item, estimate)


def _terms(item: Item, estimate: Estimate) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs import composition, stated, units

    for index, term in enumerate(estimate.terms):
        if stated.makes_a_time(term):
            given = units.amount(composition.time_of(term), term.time.unit)
            fixed = f" plus {shown(term.fixed)}" if term.fixed else ""
            yield from _compared(
                item, ("terms", index, "time"), term.time, given,
                f"{term.name}: {shown(term.work)} at {shown(term.cost.amount)}{fixed}",
            )  # fmt: skip


def _bound(item: Item, estimate: Estimate) -> Iterator[Problem]:
    bound, known = estimate.bound, {term.name for term in estimate.terms}
    if bound is None:
        return
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs import composition, stated, units

    for place, group in enumerate(bound.groups):
        for index, name in enumerate(group):
            if name not in known:
                yield Problem(
                    at(item, "bound", "groups", place, index),
                    f"the ledger has no term {name}",
                    "add the term, or take it out of the group",
                )
    times = stated.times_of(estimate)
    whole = stated.seconds(bound.time) is not None and all(
        group and set(group) <= times.keys() for group in bound.groups
    )
    if not whole or stated.is_sum_of_overlapping(estimate, DIGITS):
        return
    given = composition.longest_of_groups(bound.groups, times)
    longest = " + ".join(" or ".join(group) for group in bound.groups)
    yield from _compared(
        item, ("bound", "time"), bound.time, units.amount(given, bound.time.unit),
        f"the longest term of each group, added ({longest}),",
    )  # fmt: skip


def _metric(item: Item, estimate: Estimate) -> Iterator[Problem]:
    """The bound in the target's metric, by the tokens that the metric counts in that time."""
    bound, metric = estimate.bound, estimate.target.metric
    if bound is None or bound.metric is None:
        return
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs import composition, stated

    time = stated.seconds(bound.time)
    if time is None or time.low <= 0 or bound.metric.unit != composition.METRIC_UNIT[metric]:
        return
    given = composition.as_metric(time, metric, composition.tokens_counted(estimate.workload, metric))
    amount = Amount(value=given.value, low=given.low, high=given.high, unit=bound.metric.unit)
    yield from _compared(item, ("bound", "metric"), bound.metric, amount, f"{shown(bound.time)} as {metric}")


def _compared(item: Item, path: Path, said: Amount, given: Amount, what: str) -> Iterator[Problem]:
    """One problem for each of value, low and high that is another one."""
    for key in ("value", "low", "high"):
        mine, theirs = getattr(said, key), getattr(given, key)
        if is_ordered(said) and not is_same(mine, theirs):
            yield Problem(
                at(item, *path, key),
                f"{what} gives {number(theirs, given.unit)} as {key}; here it is {number(mine, said.unit)}",
                "write what the terms give, or correct the term",
            )


def _efficiency(item: Item, estimate: Estimate) -> Iterator[Problem]:
    """The bound by what was measured, in percent: of a rate the other way round."""
    bound, baseline = estimate.bound, estimate.baseline
    if bound is None or baseline is None or baseline.efficiency_percent is None:
        return
    if bound.metric is None or not is_ordered(bound.metric):
        return
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs import gap, units

    given = gap.efficiency(baseline, bound.metric, better_of(estimate))
    if given is not None:
        yield from _compared(
            item, ("baseline", "efficiency_percent"), baseline.efficiency_percent, units.amount(given, "1"),
            f"{baseline.value:.6g} {baseline.unit} measured, beside a bound of {shown(bound.metric)},",
        )  # fmt: skip


RULE = Rule(
    "estimate-contradicts-terms", Scope.DOCUMENT, Severity.ERROR, "a number that the terms of the estimate do not give", check,
    kinds=("estimate/v1",), contract=("9.2", "9.3"), since=6, suppressible=False,
)  # fmt: skip
