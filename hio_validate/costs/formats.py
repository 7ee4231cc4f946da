"""Number formats: how many bytes their blocks take, and how wide the numbers are that they are multiplied as.

Invariant: a format that is not in the table has no size; none is guessed from its name.
"""

from __future__ import annotations

from typing import Final

from hio_validate.costs.interval import Interval

BLOCKS: Final[dict[str, tuple[int, int]]] = {
    "f64": (1, 8), "f32": (1, 4), "f16": (1, 2), "bf16": (1, 2),
    "i8": (1, 1), "i16": (1, 2), "i32": (1, 4), "i64": (1, 8), "u8": (1, 1),
    "f8_e4m3": (1, 1), "f8_e5m2": (1, 1),
    "q4_0": (32, 18), "q4_1": (32, 20), "q5_0": (32, 22), "q5_1": (32, 24), "q8_0": (32, 34), "q8_1": (32, 36),
    "q2_k": (256, 84), "q3_k": (256, 110), "q4_k": (256, 144), "q5_k": (256, 176), "q6_k": (256, 210), "q8_k": (256, 292),
    "iq1_s": (256, 50), "iq1_m": (256, 56), "iq2_xxs": (256, 66), "iq2_xs": (256, 74), "iq2_s": (256, 82),
    "iq3_xxs": (256, 98), "iq3_s": (256, 110), "iq4_nl": (32, 18), "iq4_xs": (256, 136),
    "tq1_0": (256, 54), "tq2_0": (256, 66), "mxfp4": (32, 17), "nvfp4": (64, 36), "q1_0": (128, 18), "q2_0": (64, 18),
}  # fmt: skip
"""Format -> (numbers of a block, its bytes).

The block formats are ggml's (llama.cpp at build 11434, ggml/src/ggml-common.h: the static_assert on the size of each block_*;
gguf-py/gguf/constants.py, GGML_QUANT_SIZES; tests/costs/test_formats.py compares), the others those of safetensors
(safetensors/src/tensor.rs, Dtype). Of q8_1 older gguf-py says 40 bytes; ggml has stored 36 since its sum is an f16.
"""

_ALSO_CALLED: Final = {
    "float64": "f64", "float32": "f32", "float": "f32", "fp32": "f32", "float16": "f16", "half": "f16", "fp16": "f16",
    "bfloat16": "bf16", "f8_e4m3fn": "f8_e4m3", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
    "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "fp8_ds_mla": "fp8",
}  # fmt: skip

# fp8_ds_mla: a latent as vLLM keeps it for sparse attention, 656 bytes for the 576 numbers of DeepSeek-V3.2: a part of it
# in bf16, and its scales (vllm/v1/kv_cache_interface.py, MLAAttentionSpec.real_page_size_bytes).

_NARROW: Final = {"int8": 1.0, "fp8": 1.0, "int4": 0.5, "fp4": 0.5}
"""Bytes of one number where a group of them has scales of its own that the name does not tell."""

_SCALES: Final = 8 / 32
"""The most that scales take, in bytes a number: a scale and a zero point of 4 bytes each for 32 numbers."""

UNKNOWN: Final = Interval(2.0, 0.5, 4.0)
"""Bytes of one number of K or V that nobody tells: between 4 and 32 bits, by default the 16 of most engines."""

_BITS: Final = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "fp4": 4, "mxfp4": 4, "nvfp4": 4}


def known_as(type: str) -> str:
    """The one name of a format: small letters, and no other spelling of it."""
    small = type.lower()
    return _ALSO_CALLED.get(small, small)


def bytes_of(type: str, elements: int) -> int | None:
    """Bytes of so many numbers of one format, whole blocks; None where the name does not tell the size."""
    block = BLOCKS.get(known_as(type))
    return None if block is None else -(-elements // block[0]) * block[1]


def bytes_each(type: str | None) -> Interval:
    """Bytes of one number; an interval where scales are not known, or the format itself is not."""
    if type is None:
        return UNKNOWN
    name = known_as(type)
    if name in BLOCKS:
        numbers, size = BLOCKS[name]
        return Interval.exact(size / numbers)
    if name in _NARROW:
        return Interval(_NARROW[name], _NARROW[name], _NARROW[name] + _SCALES)
    return UNKNOWN


def multiplied_bits(type: str) -> int:
    """Bits of the numbers that such weights are multiplied as: quantised ones at best as integers of 8 bits.

    Source: llama.cpp, ggml/src/ggml-cpu/ggml-cpu.c, type_traits_cpu: vec_dot_type is Q8_0 or Q8_K for each of them.
    """
    return _BITS.get(known_as(type), 8)


def times_faster(type: str, measured: str) -> float:
    """How many times as fast products with numbers of `type` may be as such with `measured` ones: no data sheet shows more.

    Not by as much as they are narrower: units for matrices take narrow numbers alone. Dense products of NVIDIA's data sheets, in
    TFLOP/s: H100 SXM f32 67, bf16 989, int8 1979; B200 f32 75, bf16 2250, fp8 4500, fp4 9000; B300 bf16 2500, fp4 15000.
    Intel's AMX does 1024 products of bf16 and 2048 of int8 a cycle, AVX-512 64 of f32.
    """
    bits, had = (4 if "fp4" in name.lower() else multiplied_bits(name) for name in (type, measured))
    if bits >= had:
        return 1.0
    return 2.0 * min(had, 16) / bits * (16.0 if had > 16 else 1.0)
