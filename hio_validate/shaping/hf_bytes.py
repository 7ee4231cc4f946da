"""Bytes of a matrix of a checkpoint, by the number format or the quantisation that its config.json states.

Invariant: a quantisation whose layout is not known here is refused; none is taken for another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.shaping.hf_compressed import compressed
from hio_validate.shaping.hf_quantised import Quantised, block_of, skipped_of, whole
from hio_validate.shaping.refusal import UnknownShape

DTYPES = {"float32": ("f32", 4), "float16": ("f16", 2), "bfloat16": ("bf16", 2), "float64": ("f64", 8)}
"""torch_dtype, or dtype -> (its name in a shape, bytes of a number)."""


def dtype_of(config: Mapping[str, Any], stated: str | None) -> tuple[str, int]:
    """The number format of what is not quantised. Raises UnknownShape where nobody says it."""
    name = stated or config.get("torch_dtype") or config.get("dtype")
    if not isinstance(name, str):
        raise UnknownShape(
            "config.json states neither torch_dtype nor dtype: say the number format, e.g. --dtype bfloat16"
        )
    known = DTYPES.get(name.removeprefix("torch."))
    if known is None:
        raise UnknownShape(f"the number format {name!r} is not one of {', '.join(DTYPES)}")
    return known


def quantised_of(config: Mapping[str, Any], layers: int, size: int) -> Quantised | None:
    """How config.json says that linear layers are stored; None: as everything else.

    layers: of the model; size: bytes of a number of what is not quantised, which scales of some writers are stored as.
    """
    said = config.get("quantization_config")
    if said is None:
        return None
    method = said.get("quant_method") if isinstance(said, Mapping) else None
    reader = _METHODS.get(method) if isinstance(method, str) else None
    if reader is None:
        raise UnknownShape(
            f"quantization_config states the method {method!r}, whose bytes are not known here; known are {', '.join(_METHODS)}"
        )
    return reader(said, layers, size)


def _fp8(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """transformers, integrations/finegrained_fp8.py, FP8Linear: one f32 for each block of weight_block_size, a short one
    at the end of rows or columns included, else one for each matrix; one f32 a matrix for static activations.

    DeepSeek-V3's files have 680,571,043,840 numbers of fp8 and 41,555,600 of f32, which is this to the last scale.
    """
    block = said.get("weight_block_size")
    rows, columns = 0, 0
    if block is not None:
        rows, columns = block_of(block, "weight_block_size")
    static = 4 if said.get("activation_scheme") == "static" else 0
    return Quantised("fp8", 8, rows, columns, 4, fixed=static, skipped=skipped_of(said, layers))


def _gptq(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """AutoGPTQ, auto_gptq/nn_modules/qlinear/qlinear_cuda.py, and GPTQModel: qweight and qzeros in words of 4 bytes,
    scales of f16 for each group of inputs, and g_idx, 4 bytes an input; symmetric ones store zero points, too."""
    return Quantised(*_packed(said, (4, 8)), scale=2, zeros=True, index=4, skipped=skipped_of(said, layers))


def _awq(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """AutoAWQ, awq/modules/linear/gemm.py, WQLinear_GEMM: 4 bits, with scales of f16 and qzeros in words of 4 bytes for
    each group of inputs. qzeros are registered whatever zero_point says."""
    return Quantised(*_packed(said, (4,)), scale=2, zeros=True, skipped=skipped_of(said, layers))


def _packed(said: Mapping[str, Any], known: tuple[int, ...]) -> tuple[str, int, int, int]:
    bits = said.get("bits", 4)
    if bits not in known:
        raise UnknownShape(
            f"quantization_config states {str(bits)[:40]} bits: expected {' or '.join(map(str, known))}"
        )
    group = said.get("group_size", 128)
    return f"int{bits}", bits, 1, 0 if group == -1 else whole(group, "group_size")


def _bitsandbytes(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """bitsandbytes, functional.py, QuantState.as_dict, and nn/modules.py, Linear8bitLt.

    4 bits: for each 64 numbers one f32, or with double quantisation one byte and for 256 of these a f32; beside each
    matrix the 16 values of the code in f32, with double quantisation those of the 256 of the nested code, too. Its state
    as text (about 100 bytes a matrix) is not counted. 8 bits: one f32 a row, and one byte that names the layout.
    """
    skipped = skipped_of(said, layers, "lm_head")
    if said.get("load_in_8bit"):
        return Quantised("int8", 8, 1, 0, 4, fixed=1, skipped=skipped)
    if said.get("load_in_4bit"):
        nested = bool(said.get("bnb_4bit_use_double_quant"))
        scale, fixed = (1 + 4 / 256, 16 * 4 + 256 * 4) if nested else (4.0, 16 * 4)
        return Quantised("int4", 4, 1, 64, scale, fixed=fixed, skipped=skipped)
    raise UnknownShape("quantization_config of bitsandbytes states neither load_in_8bit nor load_in_4bit")


def _mxfp4(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """OCP Microscaling: one byte for each 32 numbers of 4 bits; of gpt_oss only experts (transformers,
    integrations/mxfp4.py, Mxfp4GptOssExperts: gate_up_proj_blocks and _scales, and the same of down_proj)."""
    return Quantised("mxfp4", 4, 1, 32, 1, skipped=skipped_of(said, layers), only="mlp.experts")


_METHODS = {
    "fp8": _fp8,
    "gptq": _gptq,
    "awq": _awq,
    "bitsandbytes": _bitsandbytes,
    "mxfp4": _mxfp4,
    "compressed-tensors": compressed,
}
