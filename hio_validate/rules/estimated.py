"""What rules about ceilings and estimates share: numbers with their intervals, and the rates they name. No rule of its own.

Invariant: a derived number is the computed one but for the last digit that it shows (what it follows from may be rounded,
too), and it shows three at least: what is mixed up (GB and GiB, bits and bytes, an efficiency that was left out) differs by
more, and a number that shows all digits, as hio writes them, cannot be moved by a thousandth.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.models.estimate import Amount, Estimate, UnitCost
from hio_validate.models.profile import Profile
from hio_validate.models.shape import Shape
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View

DIGITS = 0.005
"""How far a number of three digits may be from the one it was rounded from, as a share."""
_ALL_DIGITS = 1e-9
"""How far the same computation may be from itself in another order."""


class Named(NamedTuple):
    """The rate that a cost names."""

    item: Item
    ceilings: Ceilings
    rate: Rate


def is_same(said: float, computed: float) -> bool:
    """Whether a number that stands in a document is a computed one in the same unit, but for the last digit that it shows."""
    last = min(0, int(Decimal(repr(said)).normalize().as_tuple().exponent))
    rounding = min(DIGITS * abs(computed), 10.0**last)
    return abs(said - computed) <= max(rounding, _ALL_DIGITS * abs(computed))


def exceeds(one: float, other: float) -> bool:
    """Whether one of two numbers that may both be rounded is larger for certain."""
    return one > other * (1 + DIGITS)


def is_ordered(amount: Amount) -> bool:
    """Whether an interval holds its best guess, low end first."""
    return amount.low <= amount.value <= amount.high


def shown(amount: Amount) -> str:
    """A number with its unit, in a sentence."""
    return number(amount.value, amount.unit)


def number(value: float, unit: str) -> str:
    """A number with its unit; a count has none."""
    return f"{value:.6g}" + (f" {unit}" if unit != "1" else "")


def amounts(estimate: Estimate) -> Iterator[tuple[Path, Amount]]:
    """Every number with an interval, and where it stands."""
    for index, term in enumerate(estimate.terms):
        yield ("terms", index, "work"), term.work
        yield ("terms", index, "cost", "amount"), term.cost.amount
        if term.fixed:
            yield ("terms", index, "fixed"), term.fixed
        yield ("terms", index, "time"), term.time
    if estimate.bound:
        yield ("bound", "time"), estimate.bound.time
        if estimate.bound.metric:
            yield ("bound", "metric"), estimate.bound.metric
    if estimate.memory:
        for index, part in enumerate(estimate.memory.parts):
            yield ("memory", "parts", index, "amount"), part.amount
        yield ("memory", "needed"), estimate.memory.needed
        if estimate.memory.capacity:
            yield ("memory", "capacity"), estimate.memory.capacity
    if estimate.baseline and estimate.baseline.efficiency_percent:
        yield ("baseline", "efficiency_percent"), estimate.baseline.efficiency_percent
    for index, assumption in enumerate(estimate.assumptions):
        yield ("assumptions", index, "amount"), assumption.amount
    for index, candidate in enumerate(estimate.candidates):
        yield ("candidates", index, "share_percent"), candidate.share_percent
        yield ("candidates", index, "gain_percent"), candidate.gain_percent


def named(cost: UnitCost, item: Item, view: View) -> Named | None:
    """The rate that a cost names; None where the document or the rate is not there, or cannot be read."""
    found = view.repo.find("ceilings/v1", cost.ceiling, item.service) if cost.ceiling else None
    if found is None or found.model is None or cost.rate not in found.model.rates:
        return None
    return Named(found, found.model, found.model.rates[cost.rate])


def is_copied_number(cost: UnitCost, rate: Rate) -> bool:
    """Whether a cost repeats the number of its rate with another unit: 12 GB/s of 12 Gbit/s."""
    same = is_same(cost.amount.value, rate.value * (cost.efficiency or 1))
    return same and cost.amount.unit != rate.unit


def profile_of(pin: str | None, item: Item, view: View) -> Profile | None:
    """The readable profile that an estimate pins."""
    found = view.repo.find("profile/v1", name_of(pin), item.service) if pin else None
    return found.model if found is not None else None


def file_of(shape: Shape) -> str | None:
    """SHA-256 of the model file that a shape is of; a config.json's is none of it."""
    return None if shape.source.format == "hf-config" else shape.source.sha256


def pinned(view: View, kind: str, pin: str, item: Item) -> Item | None:
    """The readable document with the bytes that an estimate pins."""
    found = view.repo.find(kind, name_of(pin), item.service)
    same = found is not None and pin.endswith(f"@{found.document.digest}")
    return found if same and found is not None and found.model is not None else None


def in_unit_of(given: Amount, end: str, unit: str) -> float | None:
    """One end of a computed number in the unit that a document says it in; None where that is of another dimension."""
    # Imported here: few repositories hold estimates, and intervals are dataclasses.
    from hio_validate.costs.units import UNITS

    (dimension, size), (wanted, its) = UNITS[given.unit], UNITS[unit]
    return float(getattr(given, end)) * size / its if dimension is wanted else None


def short(pin: str) -> str:
    """A pin as a person reads it, its service left out: `base@1f2e3d4c`."""
    name, _, digest = pin.rpartition("/")[2].partition("@")
    return f"{name}@{digest.removeprefix('sha256:')[:8]}"


def better_of(estimate: Estimate) -> str:
    """The direction that is a gain, by the metric and not by what the document says: a rate counts tokens a second."""
    return "higher" if estimate.target.metric.endswith("_tps") else "lower"
