"""Work before anything prices it: the bytes and operations that follow from a shape and a workload alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import amount, base
from hio_validate.estimating.bounds.asked import STATED, Asked
from hio_validate.estimating.bounds.ledger import terms_of

_COUNTED: Final = frozenset({"weights", "kv-read", "kv-write", "state", "compute", "loading"})
_RATES: Final = ("memory-read", "matmul", "disk-read")


def work_of(asked: Asked, *, of_all: bool = False) -> dict[str, Interval]:
    """Term -> bytes or operations of one unit of the path on one device, or of all devices; what is not known is not there.

    `weights` has the output layer in it, `compute` every product: a rate of an engine's own kernels may hold either. Each rate
    is stated, as the ledger leaves out what nothing prices. Raises ValueError where an assumption is no interval.
    """
    priced = {name: amount(Interval.exact(1.0), STATED[name][0]) for name in _RATES}
    undivided = {"devices": 1, "sharding": None} if of_all else {}
    workload = asked.workload.model_copy(update=undivided)
    alone = replace(asked, workload=workload, ceilings=(), stated={**asked.stated, **priced})
    return {term.name: base(term.work) for term in terms_of(alone).terms if term.name in _COUNTED}
