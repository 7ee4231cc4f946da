"""A number whose unit cannot be that of what it counts.

A GB/s is eight Gbit/s, a GiB is 7 % more than a GB, and a rate of arithmetic divides no bytes. Contract 9.2: each cost of
the ledger has a unit cost, and both have units. Judged are the unit of a rate against its quantity (ceilings), the work of
a term against what one unit of it costs, every time, the bound and the measured value in the unit of the target's metric,
percentages (unit 1), and a cost that repeats the number of the rate it names with another unit.

How to fix: write the unit that the source has and convert the number, not the name: 100 Gbit/s are 12.5 GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.models.ceilings import Ceilings
from hio_validate.models.estimate import Amount, Estimate, Term
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.rules.estimated import amounts, is_copied_number, named, number, shown

_EXAMPLES = {
    "data": "GB", "arithmetic": "GFLOP", "time": "us", "count": "1", "data per time": "GB/s",
    "arithmetic per time": "GFLOP/s",
}  # fmt: skip
_BITS = "a GB/s is eight Gbit/s, a GiB/s is 7 % more than a GB/s: convert the number, not the name"


def check(item: Item, view: View) -> Iterator[Problem]:
    if isinstance(item.model, Ceilings):
        yield from _rates(item, item.model)
        return
    for index, term in enumerate(item.model.terms):
        yield from _term(item, index, term, view)
    yield from _times(item, item.model)
    yield from _metric(item, item.model)
    for path, amount in amounts(item.model):
        if str(path[-1]).endswith("_percent") and amount.unit != "1":
            yield Problem(
                at(item, *path, "unit"), f"a percentage in {amount.unit}", "write unit: 1 and the percentage"
            )


def _rates(item: Item, ceilings: Ceilings) -> Iterator[Problem]:
    # Imported here: few repositories hold ceilings, and intervals are dataclasses.
    from hio_validate.costs.units import DIMENSION_OF, UNITS

    for name, rate in ceilings.rates.items():
        wanted, got = DIMENSION_OF[rate.quantity], UNITS[rate.unit][0]
        if wanted is not got:
            yield Problem(
                at(item, "rates", name, "unit"),
                f"{rate.quantity} is counted as {wanted} (e.g. {_EXAMPLES[wanted]}); {rate.unit} is {got}",
                f"correct the unit or the quantity; {_BITS}",
            )


def _term(item: Item, index: int, term: Term, view: View) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.units import DIVIDES, UNITS

    cost = term.cost.amount
    work, by = UNITS[term.work.unit][0], UNITS[cost.unit][0]
    if by not in DIVIDES:
        yield Problem(
            at(item, "terms", index, "cost", "amount", "unit"),
            f"what one unit of {term.name} costs is a rate or a time; {cost.unit} is {by}",
            "write the rate that divides the work (GB/s, GFLOP/s), or the time of one (us)",
        )
    elif work != DIVIDES[by]:
        yield Problem(
            at(item, "terms", index, "work", "unit"),
            f"work of {shown(term.work)} at {shown(cost)} gives no time: expected {DIVIDES[by]} "
            f"(e.g. {_EXAMPLES[DIVIDES[by]]}), got {work}",
            f"correct the unit of the work or of the cost; {_BITS}",
        )
    rate = named(term.cost, item, view)
    if rate is not None and is_copied_number(term.cost, rate.rate):
        theirs = number(rate.rate.value, rate.rate.unit)
        yield Problem(
            at(item, "terms", index, "cost", "amount", "unit"),
            f"{shown(cost)} repeats the number of {term.cost.rate}, which is {theirs}",
            _BITS,
            (("the rate", at(rate.item, "rates", str(term.cost.rate), "unit")),),
        )


def _times(item: Item, estimate: Estimate) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.units import UNITS, Dimension

    for path, amount in amounts(estimate):
        if path[-1] in ("time", "fixed") and UNITS[amount.unit][0] is not Dimension.TIME:
            yield Problem(
                at(item, *path, "unit"),
                f"a time is expected here, e.g. in us; {amount.unit} is {UNITS[amount.unit][0]}",
                "write s, ms, us or ns",
            )


def _metric(item: Item, estimate: Estimate) -> Iterator[Problem]:
    # Imported here: few repositories hold estimates.
    from hio_validate.evidence.metrics import METRICS

    metric, said = estimate.target.metric, list[tuple[Path, str, str]]()
    unit = METRICS[metric].unit
    if estimate.bound and isinstance(estimate.bound.metric, Amount):
        # A document's units have no tokens: a rate in token/s is one of counts.
        said.append((("bound", "metric", "unit"), estimate.bound.metric.unit, unit.replace("token/s", "1")))
    if estimate.baseline:
        said.append((("baseline", "unit"), estimate.baseline.unit, unit))
    for path, got, wanted in said:
        if got != wanted:
            yield Problem(
                at(item, *path),
                f"{metric} is counted in {unit}: expected unit {wanted}, got {got}",
                "convert the number into that unit",
            )


RULE = Rule(
    "unit-mismatch", Scope.DOCUMENT, Severity.ERROR, "a unit that cannot be that of what is counted", check,
    kinds=("ceilings/v1", "estimate/v1"), contract=("9.2",), since=6, suppressible=False,
)  # fmt: skip
