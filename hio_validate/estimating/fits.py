"""What is said where a model cannot fit its memory: a finding that stands before any bound (contract 9.2)."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.amounts import best_guess
from hio_validate.costs.held import CALLED, WHOSE
from hio_validate.models.estimate import Amount, HeldMemory


def cannot_fit(memory: HeldMemory | None) -> bool:
    """Whether the least that has to be held is more than there is."""
    return memory is not None and memory.outcome == "cannot-fit"


def findings_of(memory: HeldMemory | None, *, measured: bool) -> Iterator[str]:
    """The finding that it cannot fit, with what the bound presumes all the same; nothing where it may."""
    if memory is None or memory.capacity is None or not cannot_fit(memory):
        return
    parts = " + ".join(f"{CALLED[each.name]} {_least(each.amount)}" for each in memory.parts)
    at_least = " at least" if memory.needed.low < memory.needed.value else ""
    have = "have" if memory.per == "host-and-devices" else "has"
    total = f" = {_least(memory.needed)}" if len(memory.parts) > 1 else ""
    yield (
        f"cannot fit: {parts}{total}{at_least}, and {WHOSE[memory.per]} {have} {_least(memory.capacity)} ({memory.ceiling}): the bound "
        "presumes that all of it is held there"
    )
    if measured:
        yield (
            "it was measured all the same: the shape, the capacity or what is held is of something else, or parts are read from "
            "disk again and again"
        )


def _least(amount: Amount) -> str:
    low = amount.low
    return best_guess(Amount(value=low, low=low, high=low, unit=amount.unit))
