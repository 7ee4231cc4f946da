"""Weights that an engine quantises while it loads a checkpoint of wider numbers (contract 9.2).

Sources: vLLM, vllm/model_executor/layers/quantization/fp8.py (LinearBase and experts, 8 bits with a f32 a matrix or a row;
neither embeddings nor the output), experts_int8.py (experts alone, a f32 a row) and
model_loader/bitsandbytes_loader.py (quantize_4bit, nf4 with a scale for 64 numbers, in 8 bits until loaded, then in f32);
SGLang, python/sglang/srt/layers/quantization/fp8.py, does the same as the first of them.

Invariant: what a shape's roles do not tell to be a linear layer is between the quantised bytes and the checkpoint's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hio_validate.costs.formats import known_as
from hio_validate.costs.interval import Interval
from hio_validate.models.shape import Shape, Weights

_WIDE: Final = frozenset({"bf16", "f16", "f32"})


@dataclass(frozen=True)
class Scheme:
    """What one value of `--quantization` leaves."""

    type: str
    bytes_each: Interval
    """Of a number, without scales a row."""
    roles: frozenset[str]
    source: str
    """The engine's file that says so."""


_LINEAR: Final = frozenset({"attention", "feed-forward", "experts"})
SCHEMES: Final = {
    "fp8": Scheme("fp8", Interval.exact(1.0), _LINEAR, "quantization/fp8.py of vLLM and SGLang"),
    "experts_int8": Scheme(
        "int8", Interval.exact(1.0), frozenset({"experts"}), "quantization/experts_int8.py of vLLM"
    ),
    "bitsandbytes": Scheme(
        "int4",
        Interval(0.5 + 4 / 64, 0.5 + 1 / 64, 0.5 + 4 / 64),
        _LINEAR,
        "model_loader/bitsandbytes_loader.py of vLLM",
    ),
}
"""`--quantization` -> what it quantises wider weights to; a checkpoint that is quantised already stays as it is."""


def quantises(shape: Shape, scheme: str) -> bool:
    """Whether any tensor of a shape becomes narrower."""
    return scheme in SCHEMES and any(_becomes(each, SCHEMES[scheme]) for each in shape.weights)


def as_loaded(shape: Shape, scheme: str | None) -> tuple[Shape, Shape, Shape]:
    """The shape as it lies in memory: the best guess, the fewest bytes, the most; of no known scheme as it is stored."""
    found = SCHEMES.get(scheme or "")
    if found is None:
        return shape, shape, shape
    sizes = [_bytes(shape, each, found) if _becomes(each, found) else None for each in shape.weights]

    def with_bytes(end: Callable[[Interval], float]) -> Shape:
        rows = [
            each
            if size is None
            else each.model_copy(update={"type": found.type, "bytes": max(1, round(end(size)))})
            for each, size in zip(shape.weights, sizes, strict=True)
        ]
        return shape.model_copy(update={"weights": rows})

    return (
        with_bytes(lambda each: each.value),
        with_bytes(lambda each: each.low),
        with_bytes(lambda each: each.high),
    )


def _becomes(weights: Weights, scheme: Scheme) -> bool:
    return weights.role in scheme.roles and known_as(weights.type) in _WIDE


def _bytes(shape: Shape, weights: Weights, scheme: Scheme) -> Interval:
    """Bytes after loading, with a scale a row at most; rows are taken as long as the model is wide.

    Routers, convolutions and what an absorbed latent is multiplied with stay wide: where a role may hold them, the most is the
    checkpoint's.
    """
    each = scheme.bytes_each * float(weights.elements)
    mixed = weights.role == "feed-forward" and shape.experts is not None
    other = weights.role == "attention" and any(
        not layers.kv_heads or not layers.value_size for layers in shape.attention
    )
    scales = 4.0 * weights.elements / shape.embedding if shape.embedding else float(weights.bytes)
    most = float(weights.bytes) if mixed or other else min(float(weights.bytes), each.high + scales)
    return Interval(each.value, each.low, max(each.high, most))
