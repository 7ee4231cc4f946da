"""Sizes of number formats, held against the table of the format's own library where it is installed."""

from __future__ import annotations

import pytest

from hio_validate.costs.formats import (
    BLOCKS,
    UNKNOWN,
    bytes_each,
    bytes_of,
    known_as,
    multiplied_bits,
    times_faster,
)


def test_the_blocks_are_those_of_ggml() -> None:
    constants = pytest.importorskip("gguf.constants")
    theirs = {kind.name.lower(): sizes for kind, sizes in constants.GGML_QUANT_SIZES.items()}
    theirs["q8_1"] = (32, 36)  # 40 in packages before it was mended; ggml-common.h has said 36 for longer
    assert {name: BLOCKS.get(name) for name in theirs} == theirs


@pytest.mark.parametrize(
    ("type", "elements", "size"),
    [
        ("Q8_0", 64, 68),
        ("q4_K", 256, 144),
        ("F16", 10, 20),
        ("bfloat16", 10, 20),
        ("F8_E4M3", 10, 10),
        ("q8_0", 33, 68),
        ("f32", 0, 0),
        ("int8", 64, None),
        ("something", 64, None),
    ],
)
def test_bytes_are_whole_blocks_and_unknown_where_the_name_does_not_tell(
    type: str, elements: int, size: int | None
) -> None:
    assert bytes_of(type, elements) == size


def test_scales_that_the_name_does_not_tell_make_an_interval() -> None:
    assert (bytes_each("int4").low, bytes_each("int4").high) == (0.5, 0.75)
    assert bytes_each("fp8_e4m3").low == 1.0 < bytes_each("fp8_e4m3").high
    assert bytes_each("q8_0").is_exact and bytes_each("q8_0").value == 34 / 32


def test_a_latent_of_fp8_takes_as_many_bytes_as_vllm_says() -> None:
    assert bytes_each("fp8_ds_mla").contains(656 / 576)
    assert not bytes_each("fp8_ds_mla").contains(2.0)


def test_a_format_that_nobody_tells_may_be_any() -> None:
    assert bytes_each(None) == bytes_each("something") == UNKNOWN
    assert all(UNKNOWN.contains(bytes_each(type).value) for type in ("f32", "f16", "q8_0", "q4_0", "int4"))


def test_one_format_has_one_name() -> None:
    assert known_as("BF16") == known_as("bfloat16") == "bf16"
    assert all(known_as(name) == name for name in BLOCKS)


def test_quantised_weights_are_multiplied_as_eight_bits() -> None:
    assert [multiplied_bits(type) for type in ("Q4_K", "bf16", "f32", "int4")] == [8, 16, 32, 8]


@pytest.mark.parametrize(
    ("type", "measured", "published"),
    [("bf16", "f32", 2250 / 75), ("int8", "f32", 4500 / 75), ("fp8", "bf16", 4500 / 2250), ("nvfp4", "bf16", 15000 / 2500),
     ("nvfp4", "f32", 9000 / 75), ("int8", "f32", 2048 / 64), ("f32", "bf16", 1.0), ("bf16", "f16", 1.0)],
)  # fmt: skip
def test_no_published_device_is_faster_with_narrow_numbers_than_is_allowed(
    type: str, measured: str, published: float
) -> None:
    assert published <= times_faster(type, measured) <= max(1.0, 2.5 * published)
