"""The products of an engine's own kernels, by how many vectors they multiply weights of one number format by.

A streamed rate (matvec) has the reading of the weights in it, a cached one (matmul) has not. A rate that does not say by how
many vectors is one of a single vector where it was streamed, and else stands where nothing was measured by number of vectors.

Invariant: between measured counts the price spans what costs.batches says of them, so that the bound stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from hio_validate.costs.batches import spanned, time_of_product
from hio_validate.costs.formats import bytes_each
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.operands import Operand
from hio_validate.estimating.bounds.price import Found, Price, least
from hio_validate.models.ceilings import Rate
from hio_validate.models.estimate import UnitCost

Pricer = Callable[[Iterable[Found], str], Price | None]
"""The price of the nearest of some rates of a quantity."""


class Kernel(NamedTuple):
    """What products with weights of one format cost."""

    price: Price
    reads: bool
    """Whether the weights are read in it: a price of bytes; else one of operations."""


def vectors_of(rate: Rate) -> int | None:
    """By how many vectors a product was measured; None where nobody says."""
    return rate.vectors or (1 if rate.quantity == "matvec" else None)


def kernel_of(tier: Collection[Found], operand: Operand, price: Pricer) -> Kernel | None:
    """The kernel's price for an operand, of rates of one format; None where none was measured by number of vectors."""
    measured = dict(sorted(_measured(tier, price).items()))
    if operand.vectors is None:
        return _any_count([each.price for each in measured.values() if not each.reads])
    if not measured or (not operand.by_one and max(measured) == 1):
        return None
    counts = spanned(measured, operand.vectors)
    reads = measured[counts[0]].reads
    if len(counts) == 1 and operand.vectors == Interval.exact(float(counts[0])):
        return measured[counts[0]]
    size = bytes_each(operand.type).value
    time = time_of_product(
        {count: _time(each, count, size) for count, each in measured.items()}, operand.vectors
    )
    many = operand.vectors
    value, low, high = (
        (size if reads else 2 * many.value) / each for each in (time.value, time.high, time.low)
    )
    # A kernel that works in tiles may be slower than both of its neighbours: the slower one is likely enough.
    beside = [measured[count].price.interval.low for count in counts if measured[count].reads == reads]
    rate = Interval(value, min(low, *beside), high)
    return Kernel(_spanning(rate, [measured[count].price for count in counts], many), reads)


def _measured(tier: Collection[Found], price: Pricer) -> dict[int, Kernel]:
    """Count of vectors -> the price with so many: a streamed rate before a cached one."""
    found: dict[int, Kernel] = {}
    for quantity, reads in (("matmul", False), ("matvec", True)):
        rates = [each for each in tier if each.rate.quantity == quantity]
        for count in {vectors_of(each.rate) for each in rates} - {None}:
            priced = price([each for each in rates if vectors_of(each.rate) == count], quantity)
            if priced is not None and count is not None:
                found[count] = Kernel(priced, reads)
    return found


def _time(kernel: Kernel, count: int, size: float) -> Interval:
    """Seconds for one number of a matrix: read and multiplied, or multiplied."""
    rate, work = kernel.price.interval, size if kernel.reads else 2.0 * count
    return Interval(work / rate.value, work / rate.high, work / rate.low)


def _any_count(prices: list[Price]) -> Kernel | None:
    """Where it is not known by how many vectors: the most that any of the counts reached, to the least."""
    if not prices:
        return None
    ends = [each.interval for each in prices]
    rate = Interval(ends[-1].value, min(each.low for each in ends), max(each.high for each in ends))
    return Kernel(_spanning(rate, prices, None), False)


def _spanning(rate: Interval, prices: list[Price], vectors: Interval | None) -> Price:
    """One price from those of several counts, which says so."""
    first, last = prices[0].cost, prices[-1].cost
    confidence: Any = least("medium", *(each.confidence for each in prices))
    names = [cost.rate for cost in (first, last) if cost.rate]
    between = f"{names[0]} to {names[-1]}" if len(set(names)) > 1 else f"as {names[0]}"
    by = f"{vectors.value:.3g} vectors" if vectors else "any number of vectors"
    why = "; ".join(dict.fromkeys(each.cost.assumed for each in prices if each.cost.assumed))
    cost = UnitCost(
        amount=amount(rate, last.amount.unit if not vectors else first.amount.unit),
        ceiling=first.ceiling if first.ceiling == last.ceiling else None,
        assumed="; ".join(filter(None, (f"{by}: {between}", why))),
    )
    return Price(rate, cost, confidence, tuple(each for price in prices for each in price.assumptions))
