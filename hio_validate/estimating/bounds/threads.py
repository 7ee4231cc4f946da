"""The threads of a pass: an engine may evaluate one token with others than several.

llama.cpp src/llama-context.cpp, graph_compute: a batch of more than one token takes n_threads_batch, else n_threads; so does a
pass that verifies drafted tokens, and one that decodes several requests.

Invariant: where some passes are of one token and some of several, a price spans what both may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hio_validate.costs.interval import either
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.price import Price, least


def with_threads_of(inputs: Asked, batched: bool) -> Asked:
    """The inputs with the threads of passes of several tokens, or of one, as the workload's."""
    workload = inputs.workload
    if not batched or workload.threads == workload.batch_threads:
        return inputs
    return replace(inputs, workload=workload.model_copy(update={"threads": workload.batch_threads}))


def by_passes(inputs: Asked, batched: bool | None, price: Callable[[Asked], Price | None]) -> Price | None:
    """What `price` says with the threads of such passes; None of `batched`: of either kind."""
    if batched is not None:
        return price(with_threads_of(inputs, batched))
    one, several = (price(with_threads_of(inputs, each)) for each in (False, True))
    if one is None or several is None or one == several:
        return several or one
    return spanning(several, one)


def spanning(likely: Price, other: Price) -> Price:
    """The first one's best guess, within the ends of both."""
    interval = either(likely.interval, other.interval)
    also = f"passes of one token as {other.cost.rate}" if other.cost.rate else "passes of one token too"
    said = "; ".join(filter(None, (likely.cost.assumed, also)))
    cost = likely.cost.model_copy(
        update={"amount": amount(interval, likely.cost.amount.unit), "assumed": said}
    )
    confidence = least(likely.confidence, other.confidence)
    return Price(interval, cost, confidence, tuple(dict.fromkeys((*likely.assumptions, *other.assumptions))))
