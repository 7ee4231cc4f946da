"""Family 3, smaller representations: number formats of weights and of K/V; only the bytes of that term can go.

What changes numbers needs a quality gate (contract 9.5), and a plan whose answers may differ in their words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from hio_validate.costs.formats import bytes_each, bytes_of, known_as
from hio_validate.estimating.bounds.operands import ONE, Operand
from hio_validate.estimating.bounds.rates import reading_price
from hio_validate.estimating.candidates.levers import MADE_BY, NOTHING, SMALLER
from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.shape import Shape, Weights

GATE = "a quality gate: a task set with a floor and a margin, asked of both arms"
WORDS = "same_work: {content: any} in the plan: right answers may differ in their words"

_WRONG = "the task set gives fewer right answers than its floor, or than its margin allows"
_ONLINE = "f8_e4m3"
"""What vLLM and SGLang make of 16-bit weights while they load them: one byte a number, a scale a matrix."""
_PRODUCTS = ("attention", "feed-forward", "experts")
"""Roles whose matrices are quantised while they are loaded; embedding and output stay (vllm/model_executor/layers/quantization/fp8.py)."""


def find(seen: Seen, found: Found) -> None:
    """Weights first, then K and V."""
    found.mechanisms += _file(seen)
    found.mechanisms += _online(seen)
    found.mechanisms += _keys_and_values(seen, found)


def _file(seen: Seen) -> Iterator[Mechanism]:
    """Another file of the same weights."""
    largest = _largest(seen)
    to = SMALLER.get(seen.engine, SMALLER["llama-server"]).get(known_as(largest.type)) if largest else None
    if largest is None or to is None:
        return
    to = to.upper() if largest.type.isupper() else to
    then, saved = _with_weights(seen, largest.type, to, ())
    if saved <= 0:
        return
    for lever, way in seen.ways("weights-file"):
        made = MADE_BY.get(seen.engine, "")
        yield Mechanism(
            f"weights-{to.lower()}", 3, f"keep the weights that are {largest.type} as {to}: {100 * saved:.0f} % fewer bytes of weights{_of_kernels(seen, to)}",
            term="weights", lever=lever, change=f"{largest.type} weights -> {to} weights", then=then, stop_if=_WRONG,
            rollback="serve the file of weights that serves now; it stays where it is", route="quantise-and-evaluate",
            needs=(
                f"a file of the same weights as {to} beside the one that serves{f' ({made})' if made else ''}; its path "
                f"stands for FILE in {lever.address}=FILE",
                GATE, WORDS, *way.needs,
            ),
        )  # fmt: skip


def _of_kernels(seen: Seen, to: str) -> str:
    """Where the arithmetic of the kernels bounds reading the weights, fewer bytes alone gain nothing."""
    if seen.bounded_by("weights") != "compute":
        return ""
    own = reading_price(seen.inputs, Operand(to, ONE))
    if own is not None and own.reads:
        return f", at what the engine's kernels make of {to}, as their arithmetic is the limit"
    return f"; what the engine's kernels make of {to} is not known, and their arithmetic is the limit: `hio probe engine` measures it"


def _online(seen: Seen) -> Iterator[Mechanism]:
    """16-bit weights of the file that serves, quantised while they are loaded."""
    largest = _largest(seen)
    if largest is None or known_as(largest.type) not in ("f32", "f16", "bf16"):
        return
    then, saved = _with_weights(seen, largest.type, _ONLINE, _PRODUCTS)
    if saved <= 0:
        return
    for lever, way, to in seen.switches("online-weights"):
        yield Mechanism(
            f"load-as-{to}", 3, f"quantise the {largest.type} matrices to {to} while they are loaded: {100 * saved:.0f} % fewer bytes of weights",
            term="weights", lever=lever, to=to, then=then, stop_if=_WRONG, route="quantise-and-evaluate",
            needs=(GATE, WORDS, *way.needs),
        )  # fmt: skip


def _largest(seen: Seen) -> Weights | None:
    """The matrices that take most bytes; None where their reading is no term."""
    shape = seen.shape
    if shape is None or "weights" not in seen.times:
        return None
    return max(_matrices(shape), key=lambda each: each.bytes, default=None)


def _matrices(shape: Shape) -> list[Weights]:
    return [each for each in shape.weights if each.role not in ("norm", "other")]


def _with_weights(seen: Seen, type: str, to: str, roles: tuple[str, ...]) -> tuple[Inputs, float]:
    """The inputs with weights of one format (of some roles, else all) in another, and the share of bytes that this saves."""
    inputs = seen.inputs
    if inputs.shape is None:
        return inputs, 0.0
    shape: Shape = inputs.shape.model
    weights = [
        _as(each, to) if each.type == type and (not roles or each.role in roles) else each
        for each in shape.weights
    ]
    saved = 1 - sum(each.bytes for each in weights) / sum(each.bytes for each in shape.weights)
    item = inputs.shape._replace(model=shape.model_copy(update={"weights": weights}))
    return replace(inputs, shape=item), saved


def _as(weights: Weights, type: str) -> Weights:
    """The same numbers in another format, in the fewest bytes that it may take: what is gained is at most that."""
    bytes_ = bytes_of(type, weights.elements) or ceil(bytes_each(type).low * weights.elements)
    if bytes_ >= weights.bytes or weights.role in ("norm", "other"):
        return weights
    return weights.model_copy(update={"type": type, "bytes": bytes_})


def _keys_and_values(seen: Seen, found: Found) -> Iterator[Mechanism]:
    if "kv-read" not in seen.times:
        return
    flash = seen.lever("flash-attn")
    for mechanism, what, kinds in (
        ("key-format", "K", ("key_type",)),
        ("value-format", "V", ("value_type",)),
        ("kv-format", "K/V", ("key_type", "value_type")),
    ):
        for lever, way, to in seen.switches(mechanism):
            if what == "V" and flash is not None and flash.value != "on":
                found.said.append(
                    f"{lever.address} {to} needs {flash.address} on, which is {flash.value}: not proposed alone"
                )
                continue
            yield _kept_as(seen, lever, what, to, kinds, way.needs)


def _kept_as(
    seen: Seen, lever: Lever, what: str, to: str, kinds: tuple[str, ...], needs: tuple[str, ...]
) -> Mechanism:
    update: dict[str, Any] = dict.fromkeys(kinds, to)
    workload = seen.inputs.workload.model_copy(update=update)
    now = "as the engine decides" if lever.has in (*NOTHING, "auto") else f"as {lever.has}"
    return Mechanism(
        f"{what.lower().replace('/', '')}-{to}", 3, f"keep {what} as {to}, not {now}: fewer bytes to read for each populated token",
        term="kv-read", lever=lever, to=to, then=replace(seen.inputs, workload=workload), stop_if=_WRONG,
        needs=(GATE, WORDS, *needs), route="quantise-and-evaluate",
    )  # fmt: skip
