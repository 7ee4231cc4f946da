"""A unit cost that nobody can look up.

An estimate is worth what its rates are worth. Contract 9.2: achieved local rates first, else a published ceiling that is
named, with an efficiency that says how much of it is assumed to be reached. So a cost names a ceilings document and the
rate in it, or says who assumes it and why; the rate is there; a published one has an efficiency, unless it is a latency;
and the cost is that rate times the efficiency (a latency as it is), but for the last digit that it shows (three at least).
A rate per device may be multiplied by the workload's devices. A cost that is made of several rates names the document and
says how, as an assumption.

How to fix: `hio probe host` measures the rates of a machine; name the document and the rate, or write `assumed:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.estimate import Term, UnitCost
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed
from hio_validate.rules.estimated import Named, is_copied_number, is_same, named, number, shown


def check(item: Item, view: View) -> Iterator[Problem]:
    for index, term in enumerate(item.model.terms):
        cost: UnitCost = term.cost
        if not (cost.ceiling and cost.rate):
            yield from _unnamed(item, index, term)
            continue
        found = view.repo.find("ceilings/v1", cost.ceiling, item.service)
        if found is None or found.model is None:
            continue  # dangling-reference, or the document's own fault
        if cost.rate not in found.model.rates:
            yield Problem(
                at(item, "terms", index, "cost", "rate"),
                f"{cost.ceiling} has no rate {cost.rate}",
                f"it has {listed(found.model.rates)}",
                (("its rates", at_key(found, "rates")),),
            )
            continue
        rate = named(cost, item, view)
        if rate is not None:
            yield from _other(item, index, term, rate)


def _unnamed(item: Item, index: int, term: Term) -> Iterator[Problem]:
    cost = term.cost
    if cost.assumed is not None and cost.rate is None:
        return
    if cost.ceiling or cost.rate:
        there, lacks = ("ceiling", "rate") if cost.ceiling else ("rate", "ceiling")
        yield Problem(
            at(item, "terms", index, "cost", there),
            f"the cost of {term.name} names a {there} and no {lacks}",
            "name both: the ceilings document and the rate in it",
        )
    else:
        yield Problem(
            at_key(item, "terms", index, "cost"),
            f"where {shown(cost.amount)} of {term.name} is from is not said",
            "name a ceilings document and its rate, or write assumed: who assumes it and why",
        )


def _other(item: Item, index: int, term: Term, named: Named) -> Iterator[Problem]:
    cost, rate = term.cost, named.rate
    related = (("the rate", at(named.item, "rates", str(cost.rate), "value")),)
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.units import UNITS, Dimension

    dimension, size = UNITS[rate.unit]
    latency = dimension is Dimension.TIME
    if named.ceilings.how == "published" and cost.efficiency is None and not latency:
        yield Problem(
            at(item, "terms", index, "cost", "rate"),
            f"{cost.rate} of {cost.ceiling} is published, and no efficiency says how much of it is reached",
            "write efficiency: the assumed part of it, and multiply; or measure it with hio probe host",
            related,
        )
        return
    mine, my_size = UNITS[cost.amount.unit]
    part = 1.0 if latency else cost.efficiency or 1.0
    reached = rate.value * size * part / my_size
    devices = item.model.workload.devices if named.ceilings.per == "device" else 1
    stated = cost.amount.value
    if mine is dimension and (
        is_copied_number(cost, rate) or is_same(stated, reached) or is_same(stated, reached * devices)
    ):
        return
    of_it = f"{part:g} of {number(rate.value, rate.unit)}" if part != 1 else number(rate.value, rate.unit)
    yield Problem(
        at(item, "terms", index, "cost", "amount", "value"),
        f"the cost of {term.name} is {shown(cost.amount)}; {cost.rate} of {cost.ceiling} gives {of_it}",
        "compute the cost from the rate that it names, or name the one that it is from",
        related,
    )


RULE = Rule(
    "unknown-ceiling", Scope.DOCUMENT, Severity.ERROR, "a unit cost that no ceiling or assumption gives", check,
    kinds=("estimate/v1",), contract=("9.2",), since=6,
)  # fmt: skip
