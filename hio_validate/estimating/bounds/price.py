"""What one unit of work costs, as a ledger writes it, and the rate of a document that it is taken from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.models.estimate import Assumption, UnitCost

_ORDER = {"high": 2, "medium": 1, "low": 0}


@dataclass(frozen=True)
class Price:
    """A rate or a time in base units, as a ledger writes it, and what was assumed for it."""

    interval: Interval
    cost: UnitCost
    confidence: Any
    assumptions: tuple[Assumption, ...] = ()


class Found(NamedTuple):
    document: str
    ceilings: Ceilings
    name: str
    rate: Rate
    reached: float = 0.0
    """The most that no more threads than the workload's reached, in base units: idle ones make nothing slower."""


def least(*confidences: Any) -> Any:
    """The lowest of some confidences."""
    return min(confidences, key=_ORDER.__getitem__)
