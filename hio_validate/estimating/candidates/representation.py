"""Family 3, smaller representations: number formats of weights and of K/V; only the bytes of that term can go.

What changes numbers needs a quality gate (contract 9.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hio_validate.costs.formats import bytes_of
from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen
from hio_validate.models.shape import Shape, Weights

SMALLER = {
    "f32": "f16", "f16": "q8_0", "bf16": "q8_0", "q8_0": "q4_k", "q6_k": "q4_k", "q5_k": "q4_k", "q5_0": "q4_0", "q5_1": "q4_1",
}  # fmt: skip
"""Format of weights -> the next smaller one that is usual (ggml/include/ggml.h, enum ggml_type)."""

KV_SMALLER = {"f32": "f16", "f16": "q8_0", "bf16": "q8_0", "auto": "fp8"}
"""Format of K or V -> the next smaller one."""

GATE = "a quality gate: a task set with a floor and a margin, asked of both arms"


def find(seen: Seen, found: Found) -> None:
    """Weights first, then K and V."""
    found.mechanisms += _weights(seen)
    found.mechanisms += _keys_and_values(seen, found)


def _weights(seen: Seen) -> Iterator[Mechanism]:
    lever, shape = seen.lever("model"), seen.shape
    if lever is None or shape is None or "weights" not in seen.times:
        return
    largest = max(_matrices(shape), key=lambda each: each.bytes, default=None)
    to = SMALLER.get(largest.type.lower()) if largest else None
    if largest is None or to is None:
        return
    to = to.upper() if largest.type.isupper() else to
    weights = [_as(each, to) if each.type == largest.type else each for each in shape.weights]
    saved = 1 - sum(each.bytes for each in weights) / sum(each.bytes for each in shape.weights)
    if saved <= 0 or seen.inputs.shape is None:
        return
    item = seen.inputs.shape._replace(model=shape.model_copy(update={"weights": weights}))
    yield Mechanism(
        f"weights-{to.lower()}", 3, f"keep the weights that are {largest.type} as {to}: {100 * saved:.0f} % fewer bytes of weights",
        term="weights", lever=lever, change=f"{largest.type} weights -> {to} weights", then=replace(seen.inputs, shape=item),
        stop_if="the task set gives fewer right answers than its floor, or than its margin allows",
        rollback="serve the file of weights that serves now; it stays where it is",
        needs=(GATE, f"a file of the same weights as {to}"), route="quantise-and-evaluate",
    )  # fmt: skip


def _matrices(shape: Shape) -> list[Weights]:
    return [each for each in shape.weights if each.role not in ("norm", "other")]


def _as(weights: Weights, type: str) -> Weights:
    """The same numbers in another format; as they are where its size is not known or is no smaller."""
    bytes_ = bytes_of(type, weights.elements)
    if bytes_ is None or bytes_ >= weights.bytes or weights.role in ("norm", "other"):
        return weights
    return weights.model_copy(update={"type": type, "bytes": bytes_})


def _keys_and_values(seen: Seen, found: Found) -> Iterator[Mechanism]:
    workload = seen.inputs.workload
    if "kv-read" not in seen.times:
        return
    flash = seen.lever("flash-attn")
    for key, factors, now in (
        ("key_type", ("cache-type-k", "kv-cache-dtype"), workload.key_type),
        ("value_type", ("cache-type-v",), workload.value_type),
    ):
        lever = seen.lever(*factors)
        to = KV_SMALLER.get(now.lower()) if now else None
        if lever is None or to is None:
            continue
        if key == "value_type" and flash is not None and flash.value != "on":
            found.said.append(
                f"{lever.address} {to} needs {flash.address} on, which is {flash.value}: not proposed alone"
            )
            continue
        update: dict[str, Any] = {key: to}
        if lever.address.endswith("kv-cache-dtype"):
            update = {"key_type": to, "value_type": to}
        what = "K/V" if len(update) > 1 else "K" if key == "key_type" else "V"
        yield Mechanism(
            f"{what.lower().replace('/', '')}-{to}", 3, f"keep {what} as {to}, not as {now}: fewer bytes to read for each populated token",
            term="kv-read", lever=lever, to=to,
            then=replace(seen.inputs, workload=workload.model_copy(update=update)),
            stop_if="the task set gives fewer right answers than its floor, or than its margin allows",
            needs=(GATE,), route="quantise-and-evaluate",
        )  # fmt: skip
