"""Bytes of a matrix of a checkpoint, by the number format or the quantisation that its config.json states.

Invariant: a quantisation whose layout is not known here is refused; none is taken for another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hio_validate.shaping.refusal import UnknownShape

DTYPES = {"float32": ("f32", 4), "float16": ("f16", 2), "bfloat16": ("bf16", 2), "float64": ("f64", 8)}
"""torch_dtype, or dtype -> (its name in a shape, bytes of a number)."""

_LAYER = re.compile(r"(?:^|\.)layers\.\d+")


@dataclass(frozen=True, slots=True)
class Quantised:
    """How the matrices of linear layers are stored: `bits` a number, and for each group what scales it.

    `rows` x `columns` numbers share one scale (0: as many as there are) of `scale` bytes, with a zero point of `bits`
    bits where `zeros`; `index` bytes a column tell its group.
    """

    type: str
    bits: int
    rows: int
    columns: int
    scale: float
    zeros: bool = False
    index: int = 0
    skipped: tuple[str, ...] = ()
    only: str | None = None
    """Only modules whose name has this."""

    def covers(self, module: str) -> bool:
        """Whether a linear layer, by its name within the model, is stored so."""
        if self.only and self.only not in module:
            return False
        return not any(name in module or module in name for name in self.skipped)

    def bytes_of(self, rows: int, columns: int) -> int:
        """Bytes of one matrix of `rows` outputs and `columns` inputs, whole groups."""
        groups = -(-rows // (self.rows or rows)) * -(-columns // (self.columns or columns))
        numbers = -(-rows * columns * self.bits // 8)
        zeros = -(-groups * self.bits // 8) if self.zeros else 0
        return numbers + int(groups * self.scale) + zeros + self.index * columns


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


def quantised_of(config: Mapping[str, Any]) -> Quantised | None:
    """How config.json says that linear layers are stored; None: as everything else."""
    said = config.get("quantization_config")
    if said is None:
        return None
    method = said.get("quant_method") if isinstance(said, Mapping) else None
    reader = _METHODS.get(method) if isinstance(method, str) else None
    if reader is None:
        raise UnknownShape(
            f"quantization_config states the method {method!r}, whose bytes are not known here; known are {', '.join(_METHODS)}"
        )
    return reader(said)


def _fp8(said: Mapping[str, Any]) -> Quantised:
    """transformers, integrations/finegrained_fp8.py: one f32 for each block of weight_block_size, else for each matrix."""
    block = said.get("weight_block_size")
    rows, columns = 0, 0
    if block is not None:
        if not isinstance(block, list) or len(block) != 2:
            raise UnknownShape(
                "quantization_config states a weight_block_size that is no pair of whole numbers"
            )
        rows, columns = (_whole(size, "weight_block_size") for size in block)
    return Quantised("fp8", 8, rows, columns, 4, skipped=_skipped(said))


def _gptq(said: Mapping[str, Any]) -> Quantised:
    """AutoGPTQ, nn_modules/qlinear: scales of f16 and packed zero points for each group of inputs, one index an input."""
    return Quantised(*_packed(said), scale=2, zeros=True, index=4, skipped=_skipped(said))


def _awq(said: Mapping[str, Any]) -> Quantised:
    """AutoAWQ, awq/modules/linear/gemm.py: scales of f16 and packed zero points for each group of inputs."""
    return Quantised(
        *_packed(said), scale=2, zeros=bool(said.get("zero_point", True)), skipped=_skipped(said)
    )


def _packed(said: Mapping[str, Any]) -> tuple[str, int, int, int]:
    bits = said.get("bits", 4)
    if bits not in (4, 8):
        raise UnknownShape(f"quantization_config states {bits} bits: expected 4 or 8")
    group = said.get("group_size", 128)
    return f"int{bits}", bits, 1, 0 if group == -1 else _whole(group, "group_size")


def _bitsandbytes(said: Mapping[str, Any]) -> Quantised:
    """bitsandbytes, nn/modules.py: int8 with one f32 a row; 4 bits with one f32, or with double quantisation one byte
    and a f32 for 256 of them, for each 64 numbers (functional.py, quantize_4bit)."""
    skipped = (*_skipped(said), "lm_head")
    if said.get("load_in_8bit"):
        return Quantised("int8", 8, 1, 0, 4, skipped=skipped)
    if said.get("load_in_4bit"):
        scale = 1 + 4 / 256 if said.get("bnb_4bit_use_double_quant") else 4.0
        return Quantised("int4", 4, 1, 64, scale, skipped=skipped)
    raise UnknownShape("quantization_config of bitsandbytes states neither load_in_8bit nor load_in_4bit")


def _mxfp4(said: Mapping[str, Any]) -> Quantised:
    """OCP Microscaling: one byte for each 32 numbers of 4 bits; of gpt_oss only experts (modeling_gpt_oss.py)."""
    return Quantised("mxfp4", 4, 1, 32, 1, skipped=_skipped(said), only="mlp.experts")


def _compressed(said: Mapping[str, Any]) -> Quantised:
    """compressed-tensors, quantization/quant_args.py: one scheme for all linear layers; scales as wide as 2 bytes."""
    groups = said.get("config_groups")
    schemes = list(groups.values()) if isinstance(groups, Mapping) else []
    args = schemes[0].get("weights") if len(schemes) == 1 and isinstance(schemes[0], Mapping) else None
    if not isinstance(args, Mapping) or schemes[0].get("targets") != ["Linear"]:
        raise UnknownShape(
            "quantization_config of compressed-tensors has not one scheme for all linear layers"
        )
    strategy, stored = args.get("strategy"), f"{args.get('type')}{args.get('num_bits')}"
    if stored not in _COMPRESSED:
        raise UnknownShape(f"quantization_config states weights as {stored[:40]}, which are not known here")
    if strategy not in ("tensor", "channel", "group"):
        raise UnknownShape(
            f"quantization_config states the strategy {str(strategy)[:40]}, whose scales are not known here"
        )
    name, bits = _COMPRESSED[stored]
    columns = _whole(args.get("group_size"), "group_size") if strategy == "group" else 0
    return Quantised(
        name, bits, 0 if strategy == "tensor" else 1, columns, 2,
        zeros=args.get("symmetric") is False, skipped=_names(said.get("ignore")),
    )  # fmt: skip


_COMPRESSED = {"float8": ("fp8", 8), "int8": ("int8", 8), "int4": ("int4", 4)}
"""type and num_bits -> (format, bits)."""

_METHODS = {
    "fp8": _fp8,
    "gptq": _gptq,
    "awq": _awq,
    "bitsandbytes": _bitsandbytes,
    "mxfp4": _mxfp4,
    "compressed-tensors": _compressed,
}


def _skipped(said: Mapping[str, Any]) -> tuple[str, ...]:
    return _names(said.get("modules_to_not_convert")) or _names(said.get("llm_int8_skip_modules"))


def _names(said: Any) -> tuple[str, ...]:
    """Modules by their name within a layer; one that names a single layer, or a pattern, cannot be told here."""
    names = said if isinstance(said, Sequence) and not isinstance(said, str) else ()
    found = []
    for name in names:
        if not isinstance(name, str) or _LAYER.search(name) or name.startswith("re:"):
            raise UnknownShape(
                f"quantization_config leaves {name!r} as it is: layers that differ are not told apart here"
            )
        found.append(name.replace("model.layers.*.", "").removeprefix("model."))
    return tuple(found)


def _whole(value: Any, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UnknownShape(f"quantization_config states {key} {value!r}: expected a whole number from 1 up")
    return value
