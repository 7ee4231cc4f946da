"""Bytes of a matrix that compressed-tensors stored (llm-compressor writes these).

Source: compressed-tensors 0.20.0, quantization/lifecycle/initialize.py (shapes and types of scales and zero points) and
compressors/{pack_quantized,naive_quantized,nvfp4,mxfp4}/base.py (what of them a file holds).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.shaping.hf_quantised import Quantised, Skipped, block_of, skipped_names, whole
from hio_validate.shaping.refusal import UnknownShape

_KNOWN = {"float8": ("fp8", 8), "int8": ("int8", 8), "int4": ("int4", 4), "float4": ("fp4", 4)}
"""type and num_bits -> (format, bits)."""


def compressed(said: Mapping[str, Any], layers: int, size: int) -> Quantised:
    """One scheme for all linear layers; scales are numbers of `size` bytes, as what is not quantised is.

    Integers of 4 bits, and whatever is said to be pack-quantized, have the shape of the matrix beside it (two numbers of
    8 bytes; Kimi K2 Thinking, which its makers packed themselves, has two of 4). 4 bits of floats: nvfp4 with a byte for
    16 numbers and a f32 a matrix, or mxfp4 with a byte for 32.
    """
    groups = said.get("config_groups")
    schemes = list(groups.values()) if isinstance(groups, Mapping) else []
    scheme = schemes[0] if len(schemes) == 1 and isinstance(schemes[0], Mapping) else {}
    args = scheme.get("weights")
    if not isinstance(args, Mapping) or scheme.get("targets") != ["Linear"]:
        raise UnknownShape(
            "quantization_config of compressed-tensors has not one scheme for all linear layers"
        )
    stored, strategy = f"{args.get('type')}{args.get('num_bits')}", args.get("strategy")
    if stored not in _KNOWN:
        raise UnknownShape(f"quantization_config states weights as {stored[:40]}, which are not known here")
    skipped, activations = skipped_names(said.get("ignore"), layers), scheme.get("input_activations")
    if stored == "float4":
        return _float4(args, activations, skipped)
    rows, columns = _shared(args, strategy)
    packed = stored == "int4" or said.get("format") == "pack-quantized"
    static = size if isinstance(activations, Mapping) and activations.get("dynamic") is False else 0
    name, bits = _KNOWN[stored]
    return Quantised(
        name, bits, rows, columns, size, zeros=args.get("symmetric") is False, fixed=(2 * 8 if packed else 0) + static,
        skipped=skipped,
    )  # fmt: skip


def _shared(args: Mapping[str, Any], strategy: Any) -> tuple[int, int]:
    """Rows and columns that share one scale."""
    if strategy == "tensor":
        return 0, 0
    if strategy == "channel":
        return 1, 0
    if strategy == "group":
        return 1, whole(args.get("group_size"), "group_size")
    if strategy == "block":
        return block_of(args.get("block_structure"), "block_structure")
    raise UnknownShape(
        f"quantization_config states the strategy {str(strategy)[:40]}, whose scales are not known here"
    )


def _float4(args: Mapping[str, Any], activations: Any, skipped: Skipped) -> Quantised:
    strategy, group = args.get("strategy"), whole(args.get("group_size"), "group_size")
    if strategy == "group" and group == 32:
        return Quantised("mxfp4", 4, 1, 32, 1, skipped=skipped)
    if strategy == "tensor_group" and group == 16:
        return Quantised(
            "fp4", 4, 1, 16, 1, fixed=8 if isinstance(activations, Mapping) else 4, skipped=skipped
        )
    raise UnknownShape(
        f"quantization_config states floats of 4 bits by {str(strategy)[:40]} of {group}, which are not known here"
    )
