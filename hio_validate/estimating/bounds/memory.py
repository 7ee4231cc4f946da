"""Whether a model fits where it is to run: what has to be held at once, beside what the ceilings say there is (contract 9.2).

Invariants: what an engine needs beside weights, K/V and states is not guessed, so that `cannot-fit` is certain and `within` is
not; a capacity that no document tells is none, and a part whose size nobody tells leaves it at most open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.costs.held import WHOLE, WHOSE, divided, kv_held, kv_share, sequences_held, weights_held
from hio_validate.costs.interval import Interval, either, total
from hio_validate.costs.loaded import as_loaded
from hio_validate.costs.states import carried, state_bytes
from hio_validate.costs.units import Dimension, base, fitting
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.capacity import capacity_of, whose
from hio_validate.estimating.bounds.passes import at_once
from hio_validate.models.estimate import HeldMemory, HeldPart, Sharding, Workload
from hio_validate.models.shape import Shape

Kept = tuple[str, str, Interval]
"""Name of a part, what it is in words, its bytes."""


def memory_of(inputs: Asked) -> HeldMemory | None:
    """What is held, and whether it fits; None where nothing says in which memory, or what the model is made of."""
    place, shape = inputs.workload.held_in, inputs.shape.model if inputs.shape else None
    if place is None or shape is None or inputs.path == "setup":
        return None
    by = divided(inputs.workload) if place == "device" else WHOLE
    parts = list(_parts(inputs, shape, by))
    needed = total(*(each for _, _, each in parts))
    told = capacity_of(inputs.ceilings, place)
    capacity = Interval.exact(float(told.size)) if told else None
    said: dict[str, Any] = {
        "per": whose(inputs.ceilings, place),
        "parts": [
            HeldPart.model_validate({"name": name, "about": about, "amount": fitting(each, Dimension.DATA)})
            for name, about, each in parts
        ],
        "needed": fitting(needed, Dimension.DATA),
        "capacity": fitting(capacity, Dimension.DATA) if capacity else None,
        "ceiling": told.ceiling if told else None,
        "outcome": _outcome(needed, capacity, whole=not [*_not_counted(inputs, shape)]),
    }
    return HeldMemory.model_validate(said)


def _outcome(needed: Interval, capacity: Interval | None, *, whole: bool) -> str:
    """whole: whether all that is held is in the sum."""
    if capacity is not None and needed.low > capacity.value:
        return "cannot-fit"
    return "within" if whole and capacity is not None and needed.high <= capacity.value else "open"


def _parts(inputs: Asked, shape: Shape, by: Sharding) -> Iterator[Kept]:
    workload = inputs.workload
    drafts = workload.drafting is not None
    best, least, most = (
        weights_held(each, by, drafts=drafts) for each in as_loaded(shape, workload.loaded_as)
    )
    yield "weights", "its tensors" + _divided(by), either(either(best, least), most)
    if inputs.path != "load":
        yield from _of_sequences(inputs, shape, by)
    if beside := inputs.stated.get("memory-beside"):
        yield "stated", "memory-beside, as stated", base(beside)


def _of_sequences(inputs: Asked, shape: Shape, by: Sharding) -> Iterator[Kept]:
    workload = inputs.workload
    many = sequences_held(at_once(workload), by, may_wait=may_wait(workload))
    requests = f"{many.value:.0f} request{'s' if many.value > 1 else ''}"
    lengths = _lengths(inputs).values()
    tokens = total(*(each for each in lengths if each is not None))
    so_many = f"{'at least ' if None in lengths else ''}{tokens.value:.0f}"
    if tokens.high and any(layers.kv_heads for layers in shape.attention):
        value, low, high = (
            kv_held(shape, round(count), workload.key_type, workload.value_type)
            for count in (tokens.value, tokens.low, tokens.high)
        )
        each = Interval(value.value, min(low.low, value.low), max(high.high, value.high))
        yield "kv", f"K and V of {requests} of {so_many} tokens", each * many * kv_share(shape, by)
    if carried(shape):
        each = state_bytes(shape, workload.state_type)
        yield "state", f"states of {requests}", each * many * (1 / (by.attention * by.stages))


def may_wait(workload: Workload) -> bool:
    """Whether less than all requests may be held at once: certain is only what is allocated for slots that are known."""
    return workload.kv_cache != "at-start" or workload.slots is None


def _lengths(inputs: Asked) -> dict[str, Interval | None]:
    """Tokens of prompt and answer, as stated or as the workload says; None where neither tells."""
    told = {
        "prompt-tokens": inputs.workload.prompt_tokens,
        "generated-tokens": inputs.workload.generated_tokens,
    }
    counted = {name: None if each is None else Interval.exact(float(each)) for name, each in told.items()}
    return counted | {name: base(inputs.stated[name]) for name in told if name in inputs.stated}


def _not_counted(inputs: Asked, shape: Shape) -> Iterator[str]:
    """What has to be held beside the sum, and its size is not known; a sentence each."""
    if inputs.path == "load":
        return
    unknown = [name for name, each in _lengths(inputs).items() if each is None]
    if unknown and any(layers.kv_heads for layers in shape.attention):
        told = " ".join(f"--assume {name}=N" for name in unknown)
        yield f"the K/V of a whole request: not all lengths are known; state them with {told}"
    if not shape.attention:
        yield f"K/V: the shape {shape.name} tells no layers that attend"
    without = sum(layers.layers for layers in shape.attention if not layers.kv_heads and not layers.state)
    if without:
        yield f"what {without} layers of {shape.name} keep: the shape tells neither K/V nor a state of them"


def _divided(by: Sharding) -> str:
    """How the weights are divided, where they are: `, over 4 devices, 2 stages; attention over 1`."""
    said = [
        f"{by.weights} devices" if by.weights > 1 else "",
        f"{by.stages} stages" if by.stages > 1 else "",
        f"experts over {by.experts}" if by.experts != by.weights else "",
        f"attention over {by.attention}" if by.attention != by.weights else "",
    ]
    told = ", ".join(filter(None, said))
    return f", divided over {told}" if told else ""


def missing_of(inputs: Asked, memory: HeldMemory | None) -> Iterator[str]:
    """What leaves it open whether it fits: what is not in the sum, or that the capacity is not known.

    The capacity is missing where the sum may matter: where it is more than what a measurement there has held already.
    """
    if memory is None or inputs.shape is None:
        return
    if memory.capacity is not None:
        if memory.outcome == "open":
            yield from (f"whether it fits: {each}" for each in _not_counted(inputs, inputs.shape.model))
        return
    measured = [
        each.model for each in inputs.ceilings if each.model is not None and each.model.how == "measured"
    ]
    held = (rate.working_set or 0 for each in measured for rate in each.rates.values())
    proven = max(held, default=0)
    if base(memory.needed).high > proven:
        yield (
            f"whether it fits: no ceilings tell the memory of {WHOSE[memory.per]}; `hio probe host --yes` there does, "
            "a published document may"
        )
