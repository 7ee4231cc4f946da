"""Shapes for tests: a dense model, one with windows, a mixture of experts."""

from __future__ import annotations

from typing import Any

from hio_validate.models.shape import Shape


def shape(weights: list[tuple[str, str, int, int]], **more: Any) -> Shape:
    """A stated shape; each of `weights` is (role, format, elements, bytes)."""
    return Shape.model_validate(
        {
            "hio": "shape/v1",
            "name": "s",
            "service": "lab/tiny",
            "source": {"format": "stated", "says": "a test"},
            "weights": [
                {"role": role, "type": type, "elements": elements, "bytes": size}
                for role, type, elements, size in weights
            ],
            **more,
        }
    )


DENSE = shape(
    [
        ("embedding", "q8_0", 3200, 3400),
        ("output", "q8_0", 3200, 3400),
        ("attention", "Q4_K", 2560, 1440),
        ("feed-forward", "Q4_K", 5120, 2880),
        ("norm", "f32", 64, 256),
    ],
    layers=2,
    embedding=32,
    heads=4,
    vocabulary=100,
    tied=False,
    attention=[{"layers": 2, "kv_heads": 2, "key_size": 8, "value_size": 8}],
)
"""100 tokens of 32 numbers; two layers with two heads of 8 for K and V."""

TIED = DENSE.model_copy(
    update={"weights": [each for each in DENSE.weights if each.role != "output"], "tied": True}
)

WINDOWS = DENSE.model_copy(
    update={
        "attention": shape(
            [("norm", "f32", 1, 4)],
            attention=[
                {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8},
                {"layers": 3, "kv_heads": 2, "key_size": 8, "value_size": 8, "window": 10},
                {"layers": 5, "kv_heads": 0, "key_size": 0, "value_size": 0},
            ],
        ).attention
    }
)

EXPERTS = shape(
    [("attention", "bf16", 100, 200), ("experts", "bf16", 8000, 16000), ("draft", "bf16", 50, 100)],
    experts={"count": 8, "active": 2, "shared": 1},
    attention=[{"layers": 1, "kv_heads": 1, "key_size": 4, "value_size": 4}],
    draft_layers=1,
)
