"""Whether an engine's kernel waits for memory or for its own arithmetic: its rate beside the one that memory reached.

Invariant: arithmetic is the limit only where all of the kernel's interval lies below all of what memory reached on the same
host with the same threads; where nobody measured that, memory stays, and that it is not known is said.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import Dimension, fitting
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.price import Price
from hio_validate.estimating.bounds.rates import memory_reached


class Limit(NamedTuple):
    """What bounds a kernel that reads weights and multiplies them."""

    resource: Literal["memory", "compute"]
    said: str = ""
    """What a term says of it after what it does."""
    unknown: str = ""
    """What is not known of it, with what to type."""


def what_bounds(inputs: Asked, kernel: Price) -> Limit:
    """`kernel`: bytes of weights a second, its arithmetic included."""
    memory = memory_reached(inputs)
    if memory is None:
        threads = inputs.workload.threads
        with_ = f" with {threads} {'thread' if threads == 1 else 'threads'}" if threads else ""
        return Limit(
            "memory",
            "; whether memory or its arithmetic bounds it is not known",
            f"whether memory or the kernels' arithmetic bounds reading the weights: `hio probe host --yes` measures what "
            f"memory gives{with_}",
        )
    if kernel.interval.high < memory.interval.low:
        reads, gives = (_rate(each.interval.value) for each in (kernel, memory))
        return Limit(
            "compute",
            f"; the engine's kernels read {reads} where memory gives {gives}: their arithmetic bounds it, not memory",
        )
    return Limit("memory")


def _rate(value: float) -> str:
    shown = fitting(Interval.exact(value), Dimension.DATA_RATE)
    return f"{shown.value:.3g} {shown.unit}"
