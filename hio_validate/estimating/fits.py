"""What is said where a model cannot fit its memory: a finding that stands before any bound (contract 9.2)."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.memory import WHERE
from hio_validate.models.estimate import Amount, HeldMemory

CALLED = {"weights": "weights", "kv": "K/V", "state": "states", "stated": "beside them"}
"""Part of what is held -> its name in a sentence."""


def cannot_fit(memory: HeldMemory | None) -> bool:
    """Whether the least that has to be held is more than there is."""
    return memory is not None and memory.outcome == "cannot-fit"


def findings_of(memory: HeldMemory | None, *, measured: bool) -> Iterator[str]:
    """The finding that it cannot fit, with what the bound presumes all the same; nothing where it may."""
    if memory is None or memory.capacity is None or not cannot_fit(memory):
        return
    parts = " + ".join(f"{CALLED[each.name]} {_least(each.amount)}" for each in memory.parts)
    at_least = " at least" if memory.needed.low < memory.needed.value else ""
    total = f" = {_least(memory.needed)}" if len(memory.parts) > 1 else ""
    yield (
        f"cannot fit: {parts}{total}{at_least}, and {WHERE[memory.per]} has {_least(memory.capacity)} ({memory.ceiling}): the bound "
        "presumes that all of it is held there"
    )
    if measured:
        yield (
            "it was measured all the same: the shape, the capacity or what is held is of something else, or parts are read from "
            "disk again and again"
        )


def _least(amount: Amount) -> str:
    size = base(amount).low
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= power:
            return f"{size / power:.4g} {unit}"
    return f"{size:.0f} B"
