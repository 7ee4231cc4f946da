"""What an estimate says of memory: what has to be held, beside what there is, in one line."""

from __future__ import annotations

from hio_validate.costs.amounts import best_guess, common_unit, with_interval
from hio_validate.costs.held import CALLED, WHOSE
from hio_validate.costs.units import base
from hio_validate.models.estimate import Estimate, HeldMemory, Workload


def fit(memory: HeldMemory, *, total: bool = True) -> str:
    """`145 GB of the 80 GB of a device (h100)`; what there is may be unknown."""
    needed = with_interval(memory.needed) if total else ""
    if memory.capacity is None:
        return f"{needed}, the memory of {WHOSE[memory.per]} is unknown"
    return f"{needed} of the {best_guess(memory.capacity)} of {WHOSE[memory.per]} ({memory.ceiling})"


def tells_of_memory(estimate: Estimate) -> bool:
    """Whether what is held is worth a line: where what there is is known, or nothing shows that it ran."""
    memory = estimate.memory
    return memory is not None and (memory.capacity is not None or estimate.baseline is None)


def held(memory: HeldMemory, workload: Workload) -> str:
    """What has to be held and whether it fits, in one line."""
    unit = common_unit(each.amount for each in memory.parts)
    parts = " + ".join(f"{CALLED[each.name]} {best_guess(each.amount, unit)}" for each in memory.parts)
    total = f" = {fit(memory)}" if len(memory.parts) > 1 else fit(memory, total=False)
    return f"{parts}{total}: {_outcome(memory, workload)}"


def _outcome(memory: HeldMemory, workload: Workload) -> str:
    """In words. A sum below the capacity that is open lacks a part whose size is not known."""
    if memory.outcome != "open":
        return {"cannot-fit": "CANNOT FIT", "within": "fits, buffers and activations aside"}[memory.outcome]
    if memory.capacity is None or base(memory.needed).high <= base(memory.capacity).value:
        return "whether it fits is not known"
    wait = workload.kv_cache == "paged" and workload.concurrency > 1
    return "may not fit all requests at once: then some wait" if wait else "may not fit"
