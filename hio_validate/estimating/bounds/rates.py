"""What one unit of work costs here: stated by a person, else measured on the host, elsewhere, else published (contract 9.2).

Invariants: no rate is built in; a rate that is taken for another thread count, number format or host says so and widens its
interval, so that the true rate stays below its upper end and a time computed with that stays a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hio_validate.costs.formats import known_as, multiplied_bits, times_faster
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import DIMENSION_OF, UNITS, Dimension, amount, base, fitting
from hio_validate.estimating.bounds.asked import STATED_BY, Asked
from hio_validate.estimating.bounds.kernels import Kernel, kernel_of
from hio_validate.estimating.bounds.operands import Operand
from hio_validate.estimating.bounds.price import Found, Price, least
from hio_validate.estimating.bounds.threads import by_passes, spanning, with_threads_of
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.models.estimate import Assumption, UnitCost

_OF_DEVICES = ("memory-read", "matmul", "matvec")
"""Rates of what is divided over devices: where there are several, a rate of a whole host is none of one of them."""

_OTHER_FORMATS = ("f32", "bf16", "f16")


def price_of(inputs: Asked, quantity: str) -> Price | None:
    """What one unit of `quantity` costs; None where nothing tells it."""
    return _stated(inputs, quantity) or next(
        (_priced(inputs, found) for tier in _tiers(inputs) if (found := _nearest(inputs, tier, quantity))),
        None,
    )


def reading_price(inputs: Asked, operand: Operand) -> Kernel | None:
    """What reading weights of one format costs, and whether their arithmetic is measured with it.

    The engine's own product of such weights, by as many vectors as a pass has, tells both at once where it was streamed. A
    stated rate goes before it: of memory, and with several vectors of products, too.
    """
    stated = _stated(inputs, "memory-read")
    if stated:
        return Kernel(stated, False)
    batched = operand.batched
    kinds = (False, True) if batched is None else (batched,)
    found = [kernel for each in kinds if (kernel := _reading(with_threads_of(inputs, each), operand))]
    if not found or found[0] == found[-1]:
        return found[-1] if found else None
    one, several = found
    return Kernel(spanning(several.price, one.price), one.reads and several.reads)


def _reading(inputs: Asked, operand: Operand) -> Kernel | None:
    own = operand.by_one or "matmul" not in inputs.stated
    for tier in _tiers(inputs):
        kernel = _kernel(inputs, tier, operand) if own else None
        if kernel and kernel.reads:
            return kernel
        if found := _nearest(inputs, tier, "memory-read"):
            return Kernel(_priced(inputs, found), False)
    return None


def product_price(inputs: Asked, operand: Operand) -> Price | None:
    """What products with numbers of one format cost: a rate for that format, else for another, as wide as that may be."""
    stated = _stated(inputs, "matmul")
    return stated or by_passes(inputs, operand.batched, lambda each: _multiplying(each, operand))


def _multiplying(inputs: Asked, operand: Operand) -> Price | None:
    for tier in _tiers(inputs):
        kernel = _kernel(inputs, tier, operand)
        if kernel and not kernel.reads:
            return kernel.price
        if found := _nearest(inputs, tier, "matmul", operand.type):
            return _priced(inputs, found)
        others = [
            (-times_faster(operand.type, other), price.interval.high, price)
            for other in _OTHER_FORMATS
            if (found := _nearest(inputs, tier, "matmul", other))
            and (price := _as_other_format(inputs, found, operand.type))
        ]
        if others:  # the one that says most of it
            return max(others, key=lambda each: each[:2])[2]
    return None


def memory_reached(inputs: Asked) -> Price | None:
    """What reading memory reached on the target's host with the workload's threads; None where nobody measured it there."""
    here = next(_tiers(inputs))
    found = _nearest(inputs, here, "memory-read")
    return _priced(inputs, found) if found else None


def _kernel(inputs: Asked, tier: Iterable[Found], operand: Operand) -> Kernel | None:
    def price(rates: Iterable[Found], quantity: str) -> Price | None:
        found = _nearest(inputs, rates, quantity, operand.type)
        return _priced(inputs, found) if found else None

    return kernel_of([each for each in tier if _is_of(each.rate, operand.type)], operand, price)


def _is_of(rate: Rate, type: str) -> bool:
    return rate.dtype is not None and known_as(rate.dtype) == known_as(type)


def together(parts: Mapping[Operand, Interval], prices: Mapping[Operand, Price]) -> Price:
    """One rate for work of several formats: the whole by the sum of the times of its parts.

    Its upper end is that of the fastest mixture that the intervals of the parts allow at their ends, so that the whole by it
    takes no longer than the parts.
    """
    different = {id(price): price for price in prices.values()}
    first = next(iter(different.values()))
    if all(price.cost == first.cost for price in different.values()):
        return first

    def mixed(work: str, rate: str) -> float:
        whole: float = sum(getattr(parts[each], work) for each in prices)
        spent: float = sum(
            getattr(parts[each], work) / getattr(prices[each].interval, rate) for each in prices
        )
        return whole / spent if spent else float(getattr(first.interval, rate))

    value = mixed("value", "value")
    interval = Interval(
        value,
        min(value, *(mixed(end, "low") for end in ("low", "value", "high"))),
        max(value, *(mixed(end, "high") for end in ("low", "value", "high"))),
    )
    return Price(
        interval,
        _named(interval, prices),
        least(*(price.confidence for price in prices.values())),
        tuple(each for price in different.values() for each in price.assumptions),
    )


def _named(interval: Interval, prices: Mapping[Operand, Price]) -> UnitCost:
    """Where a rate of several formats is from: the one rate that all are from, else each with what it is for."""
    costs = [price.cost for price in prices.values()]
    if (
        len(
            {
                (cost.ceiling, cost.rate, price.interval.value)
                for cost, price in zip(costs, prices.values(), strict=True)
            }
        )
        == 1
    ):
        why = "; ".join(dict.fromkeys(cost.assumed for cost in costs if cost.assumed))
        written = amount(interval, costs[0].amount.unit)
        return costs[0].model_copy(update={"amount": written, "assumed": why or None})
    types: dict[str, list[str]] = {}
    for operand, price in prices.items():
        cost = price.cost
        from_ = cost.rate or cost.assumed or ""
        where = f" ({from_} of {cost.ceiling})" if cost.ceiling else ""
        types.setdefault(f"{cost.amount.value:.4g} {cost.amount.unit}{where}", []).append(operand.type)
    said = ", ".join(f"{' and '.join(dict.fromkeys(names))} {rate}" for rate, names in types.items())
    kind = UNITS[costs[0].amount.unit][0]
    return UnitCost(amount=fitting(interval, kind), assumed=f"added up: {said}")


def _stated(inputs: Asked, name: str) -> Price | None:
    said = inputs.stated.get(name)
    if said is None:
        return None
    return Price(base(said), UnitCost(amount=said, assumed=f"stated: {name}"), "medium", stated(inputs, name))


def stated(inputs: Asked, name: str) -> tuple[Assumption, ...]:
    """What a person stated of one input, as an assumption."""
    said = inputs.stated.get(name)
    return () if said is None else (Assumption(name=name, amount=said, source=STATED_BY),)


def _tiers(inputs: Asked) -> Iterator[tuple[Found, ...]]:
    """All rates of the target's host, then those of other measured ones, then of each published document."""
    documents = [(item.full_name, item.model) for item in inputs.ceilings if item.model is not None]
    measured = [each for each in documents if each[1].how == "measured"]
    here = [each for each in measured if _is_here(inputs, each[1])]
    elsewhere = [each for each in measured if each not in here]
    published = [[each] for each in documents if each[1].how == "published"]
    for tier in (here, *([each] for each in elsewhere), *published):
        yield tuple(
            Found(name, model, key, rate) for name, model in tier for key, rate in model.rates.items()
        )


def _is_here(inputs: Asked, ceilings: Ceilings) -> bool:
    return ceilings.host is not None and ceilings.host == inputs.workload.target_host


def _nearest(inputs: Asked, tier: Iterable[Found], quantity: str, type: str | None = None) -> Found | None:
    """The rate of the nearest thread count that is not above the workload's, else of the nearest above; the best of several."""
    threads = inputs.workload.threads
    fitting_ones = [
        each
        for each in tier
        if each.rate.quantity == quantity
        and UNITS[each.rate.unit][0] is DIMENSION_OF[quantity]
        and each.rate.sparsity != "structured"
        and (type is None or _is_of(each.rate, type))
        and not (quantity in _OF_DEVICES and each.ceilings.per == "host" and inputs.workload.devices > 1)
    ]

    def nearness(each: Found) -> tuple[bool, float, float]:
        had = each.rate.threads or threads or 0
        wanted = threads or had
        best = base(_amount(each.rate)).value
        return had <= wanted, -abs(wanted - had), best if _is_rate(each.rate) else -best

    nearest = max(fitting_ones, key=nearness, default=None)
    if nearest is None or threads is None:
        return nearest
    fewer = (each.rate for each in fitting_ones if each.rate.threads and each.rate.threads <= threads)
    return nearest._replace(reached=max((base(_amount(rate)).high for rate in fewer), default=0.0))


def _is_rate(rate: Rate) -> bool:
    return UNITS[rate.unit][0] is not Dimension.TIME


def _amount(rate: Rate) -> Any:
    low, high = rate.low or rate.value, rate.high or rate.value
    return amount(
        Interval(rate.value, min(low, rate.value), max(high, rate.value)) * UNITS[rate.unit][1], rate.unit
    )


def _priced(inputs: Asked, found: Found) -> Price:
    rate, confidence = base(_amount(found.rate)), found.rate.confidence
    assumptions: list[Assumption] = []
    efficiency, why = None, None
    if found.ceilings.how == "published":
        rate, efficiency, assumption = _reached(inputs, found, rate)
        assumptions.append(assumption)
        confidence = least(confidence, "medium")
    elif not _is_here(inputs, found.ceilings):
        confidence, why = "low", f"measured on another host: {found.ceilings.about}"
    if found.ceilings.how == "measured" and _is_rate(found.rate):
        rate, other = _for_threads(inputs, found, rate)
        if other:
            confidence, why = "low", "; ".join(filter(None, (why, other)))
    written = amount(rate, found.rate.unit)
    if why:
        assumptions.append(Assumption(name=found.rate.quantity, amount=written, source=why))
    cost = UnitCost(
        amount=written, ceiling=found.document, rate=found.name, efficiency=efficiency, assumed=why
    )
    return Price(rate, cost, confidence, tuple(assumptions))


def _reached(inputs: Asked, found: Found, rate: Interval) -> tuple[Interval, float | None, Assumption]:
    """A published rate by the part of it that is assumed to be reached: between that part and all of it.

    A stated part goes before the document's; a latency is divided by it.
    """
    said = inputs.stated.get("efficiency")
    part = found.rate.efficiency or 1.0
    share = _part(base(said)) if said else Interval(part, part, 1.0)
    where = found.rate.source or found.ceilings.source or found.document
    source = (
        STATED_BY if said else f"{where}: {'assumed' if found.rate.efficiency else 'none said, all of it'}"
    )
    assumption = Assumption(name="efficiency", amount=amount(share, "1"), source=source)
    return rate * share if _is_rate(found.rate) else rate / share, share.value, assumption


def _part(said: Interval) -> Interval:
    """A stated efficiency: its own interval, or where it is one number from that to all; never more than all."""
    value, low = min(1.0, said.value), min(1.0, said.low)
    return Interval(value, low, 1.0 if said.is_exact else min(1.0, said.high))


def _for_threads(inputs: Asked, found: Found, measured: Interval) -> tuple[Interval, str | None]:
    """A rate for the workload's threads: that many times as much at most, or as little at least; and what fewer reached."""
    threads, had = inputs.workload.threads, found.rate.threads
    if threads is None or had is None:
        return measured, None
    if threads == had:
        if found.reached <= measured.high:
            return measured, None
        return Interval(
            measured.value, measured.low, found.reached
        ), "another measurement with no more threads reached more"
    why = f"measured with {had} threads and not with {threads}"
    if had < threads:
        most = max(measured.high * threads / had, found.reached)
        return Interval(measured.value, measured.low, most), why
    return Interval(measured.value, measured.low * threads / had, measured.high), why


def _as_other_format(inputs: Asked, found: Found, type: str) -> Price:
    """A rate of other numbers: narrower ones may be many times as fast, so that it is hardly more than the least they reach."""
    price = _priced(inputs, found)
    times = times_faster(type, found.rate.dtype or "f32")
    wide = Interval(price.interval.value, price.interval.low, price.interval.high * times)
    why = f"a rate of {found.rate.dtype} for numbers of {multiplied_bits(type)} bits"
    if times > 1:
        why += f": how much faster those are is not known, up to {times:g} times"
    written = amount(wide, found.rate.unit)
    others = tuple(each for each in price.assumptions if each.name != "matmul")
    cost = price.cost.model_copy(
        update={"amount": written, "assumed": "; ".join(filter(None, (price.cost.assumed, why)))}
    )
    return Price(wide, cost, "low", (*others, Assumption(name="matmul", amount=written, source=why)))
