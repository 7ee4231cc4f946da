"""Bytes of quantised checkpoints, on a layer small enough to count by hand."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.shaping.hf_quantised import LINEAR, Quantised
from hio_validate.shaping.hf_shape import shape_of
from hio_validate.shaping.refusal import UnknownShape

from .test_hf_layers import INDEXED
from .test_hf_shape import config


def quantised(**said: Any) -> dict[str, Any]:
    return {**config("llama", 1, 256, 512, 4, 4, 100), "quantization_config": said}


def compressed(form: str = "", ignore: Any = (), activations: Any = None, **weights: Any) -> dict[str, Any]:
    scheme = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    more = {"format": form} if form else {}
    return quantised(
        quant_method="compressed-tensors", ignore=list(ignore), config_groups={"group_0": scheme}, **more
    )


NUMBERS = 4 * 256 * 256 + 3 * 256 * 512
"""Four matrices of 256 x 256, two of 512 outputs and 256 inputs, one of 256 outputs and 512 inputs: 655,360 numbers."""

OUTPUTS, INPUTS = 5 * 256 + 2 * 512, 6 * 256 + 512

METHODS = {
    # 4 bits each; for 128 of them a scale of 2 bytes and a zero point of half a byte
    "awq": (quantised(quant_method="awq", bits=4, group_size=128, zero_point=True), "int4", 327_680 + 5_120 * 2 + 2_560),
    # zero points are stored all the same
    "awq, symmetric": (quantised(quant_method="awq", bits=4, zero_point=False), "int4", 327_680 + 10_240 + 2_560),
    # the same, and 4 bytes for each input
    "gptq": (quantised(quant_method="gptq", bits=4, group_size=128), "int4", 327_680 + 10_240 + 2_560 + 4 * INPUTS),
    # one group a row: 2,304 scales, and zero points of 2,304 / 2 bytes
    "gptq, whole rows": (quantised(quant_method="gptq", bits=4, group_size=-1), "int4", 327_680 + 4_608 + 1_152 + 4 * INPUTS),
    "gptq, 8 bits": (quantised(quant_method="gptq", bits=8, group_size=128), "int8", 655_360 + 10_240 + 5_120 + 4 * INPUTS),
    # 7 matrices with one f32 each
    "fp8 a matrix": (quantised(quant_method="fp8"), "fp8", 655_360 + 7 * 4),
    "fp8, static activations": (quantised(quant_method="fp8", activation_scheme="static"), "fp8", 655_360 + 7 * (4 + 4)),
    # blocks of 128 x 128: 4 in each of the four, 8 in each of the three
    "fp8 a block": (quantised(quant_method="fp8", weight_block_size=[128, 128]), "fp8", 655_360 + (4 * 4 + 3 * 8) * 4),
    "int8 a row": (quantised(quant_method="bitsandbytes", load_in_8bit=True), "int8", 655_360 + 4 * OUTPUTS + 7),
    # 10,240 groups of 64 with one f32 each; the 16 values of the code beside each matrix
    "nf4": (quantised(quant_method="bitsandbytes", load_in_4bit=True), "int4", 327_680 + 10_240 * 4 + 7 * 64),
    # 10,240 groups with one byte, and one f32 for 256 of these; both codes beside each matrix
    "nf4, double": (
        quantised(quant_method="bitsandbytes", load_in_4bit=True, bnb_4bit_use_double_quant=True),
        "int4", 327_680 + 10_240 + 40 * 4 + 7 * (64 + 1024),
    ),
    "floats a row": (compressed(num_bits=8, type="float", strategy="channel"), "fp8", 655_360 + 2 * OUTPUTS),
    "floats a matrix": (compressed(num_bits=8, type="float", strategy="tensor"), "fp8", 655_360 + 7 * 2),
    "floats a block": (
        compressed(num_bits=8, type="float", strategy="block", block_structure=[128, 128]), "fp8", 655_360 + (4 * 4 + 3 * 8) * 2,
    ),
    "floats, static activations": (
        compressed(num_bits=8, type="float", strategy="tensor", activations={"dynamic": False}), "fp8", 655_360 + 7 * (2 + 2),
    ),
    "integers a row": (compressed("int-quantized", num_bits=8, type="int", strategy="channel"), "int8", 655_360 + 2 * OUTPUTS),
    # packed: the shape of each matrix beside it
    "integers packed": (
        compressed("pack-quantized", num_bits=8, type="int", strategy="channel"), "int8", 655_360 + 2 * OUTPUTS + 7 * 16,
    ),
    "4 bits packed": (
        compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=128), "int4", 327_680 + 10_240 + 7 * 16,
    ),
    "4 bits packed, with zero points": (
        compressed(num_bits=4, type="int", strategy="group", group_size=128, symmetric=False),
        "int4", 327_680 + 10_240 + 2_560 + 7 * 16,
    ),
    # 40,960 groups of 16 with a byte, and a f32 a matrix; one more for activations
    "nvfp4, weights": (compressed(num_bits=4, type="float", strategy="tensor_group", group_size=16), "fp4", 327_680 + 40_960 + 7 * 4),
    "nvfp4": (
        compressed(num_bits=4, type="float", strategy="tensor_group", group_size=16, activations={"dynamic": "local"}),
        "fp4", 327_680 + 40_960 + 7 * 8,
    ),
    "mxfp4": (compressed(num_bits=4, type="float", strategy="group", group_size=32), "mxfp4", 327_680 + 20_480),
}  # fmt: skip
"""What config.json says -> (number format, bytes of the seven matrices). 5,120 groups of 128."""


@pytest.mark.parametrize("name", METHODS)
def test_bytes_of_a_quantisation(name: str) -> None:
    said, kind, size = METHODS[name]
    parts = [part for part in shape_of(said).parts if part.type == kind]
    assert (sum(part.elements for part in parts), sum(part.bytes for part in parts)) == (NUMBERS, size)
    assert {part.role for part in parts} == {"attention", "feed-forward"}


def test_scales_are_as_wide_as_what_is_not_quantised() -> None:
    said = compressed(num_bits=8, type="float", strategy="channel") | {"torch_dtype": "float32"}
    assert sum(part.bytes for part in shape_of(said).parts if part.type == "fp8") == 655_360 + 4 * OUTPUTS


def test_the_last_group_of_a_row_may_be_short() -> None:
    assert Quantised("int4", 4, 1, 128, 2).bytes_of(3, 130) == 195 + 3 * 2 * 2
    assert Quantised("fp8", 8, 128, 128, 4).bytes_of(576, 7168) == 576 * 7168 + 5 * 56 * 4


def test_zero_points_are_packed_into_words_along_the_rows() -> None:
    assert Quantised("int4", 4, 1, 128, 2, zeros=True).bytes_of(3, 128) == 192 + 3 * 2 + 4


def types_of(said: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for part in shape_of(said).parts:
        found.setdefault(part.role, set()).add(part.type)
    return found


@pytest.mark.parametrize(
    "skipped",
    [["self_attn"], ["model.layers.0.self_attn"], ["model.layers.*.self_attn"], ["model.layers.0.self_attn", "lm_head"]],
)  # fmt: skip
def test_what_is_left_as_it_is_in_all_layers(skipped: list[str]) -> None:
    found = types_of(quantised(quant_method="awq", modules_to_not_convert=skipped))
    assert (found["attention"], found["feed-forward"]) == ({"bf16"}, {"int4"})


def test_a_pattern_of_what_is_left_as_it_is() -> None:
    """The patterns of Kimi K2 Thinking's config.json."""
    ignored = [
        "lm_head",
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        r"re:.*mlp\.(gate|up|gate_up|down)_proj.*",
    ]
    found = types_of(compressed(num_bits=4, type="int", strategy="group", group_size=32, ignore=ignored))
    assert (found["attention"], found["feed-forward"]) == ({"bf16"}, {"bf16"})


def test_what_is_no_linear_layer_may_be_left_as_it_is_in_some_layers() -> None:
    said = quantised(
        quant_method="fp8",
        modules_to_not_convert=["model.layers.0.mlp.gate", "model.layers.7.input_layernorm"],
    )
    assert types_of(said | {"num_hidden_layers": 8})["feed-forward"] == {"fp8"}


def test_the_names_of_linear_layers_are_those_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from hio_validate.shaping.hf_config import Stored

    from .test_hf_shape import PUBLISHED

    asked: set[str] = set()
    real = Stored.linear

    def linear(self: Stored, role: Any, module: str, *rest: Any) -> Any:
        asked.add(module)
        return real(self, role, module, *rest)

    monkeypatch.setattr(Stored, "linear", linear)
    for _, said in [*PUBLISHED.values(), (0, INDEXED)]:
        shape_of(said)
    assert asked == set(LINEAR)


UNKNOWN = {
    "a method": (quantised(quant_method="vptq"), "the method 'vptq', whose bytes are not known"),
    "no method": (quantised(bits=4), "the method None"),
    "bits": (quantised(quant_method="gptq", bits=3), "states 3 bits: expected 4 or 8"),
    "bits of awq": (quantised(quant_method="awq", bits=8), "states 8 bits: expected 4"),
    "a group of nothing": (quantised(quant_method="gptq", bits=4, group_size=0), "group_size 0"),
    "a block": (quantised(quant_method="fp8", weight_block_size=[128]), "a weight_block_size that is no pair"),
    "single layers": (
        quantised(quant_method="fp8", modules_to_not_convert=["model.layers.0.mlp"]) | {"num_hidden_layers": 2}, "layers that differ",
    ),
    "no name": (quantised(quant_method="fp8", modules_to_not_convert=[3]), "expected the name of a module"),
    "a pattern of single layers": (
        compressed(num_bits=8, type="float", strategy="channel", ignore=["re:.*layers.[01].*"]), "layers that differ",
    ),
    "a pattern without an end": (
        compressed(num_bits=8, type="float", strategy="channel", ignore=["re:(a+)+$"]), "layers that differ",
    ),
    "two schemes": (quantised(quant_method="compressed-tensors", config_groups={"a": {}, "b": {}}), "not one scheme"),
    "a type": (compressed(num_bits=3, type="int", strategy="channel"), "states weights as int3"),
    "a strategy": (compressed(num_bits=8, type="int", strategy="token"), "the strategy token"),
    "floats of 4 bits": (compressed(num_bits=4, type="float", strategy="group", group_size=64), "floats of 4 bits by group of 64"),
    "bitsandbytes without bits": (quantised(quant_method="bitsandbytes"), "neither load_in_8bit nor load_in_4bit"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known_is_never_guessed(name: str) -> None:
    said, sentence = UNKNOWN[name]
    with pytest.raises(UnknownShape) as refused:
        shape_of(said)
    assert sentence in refused.value.reason
