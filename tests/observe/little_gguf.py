"""Small GGUF models for tests: a header with tensors, and data of the right length."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from .gguf_writer import gguf

F32, F16, Q4_0, Q8_0, Q4_K = 0, 1, 2, 8, 12
_SIZES = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q8_0: (32, 34), Q4_K: (256, 144)}


@dataclass(frozen=True)
class T:
    """A tensor: name, dimensions, number of its type; `offset` where it is told wrongly."""

    name: str
    dimensions: tuple[int, ...]
    type: int = F16
    offset: int | None = None

    @property
    def bytes(self) -> int:
        block, size = _SIZES[self.type]
        return prod(self.dimensions) // block * size


def model(pairs: Mapping[str, tuple[str, Any]], tensors: Sequence[T], order: str = "<") -> bytes:
    """A whole file. Offsets are padded to 32 bytes."""
    raw, offset = gguf(pairs, tensors=len(tensors), order=order), 0
    for each in tensors:
        name = each.name.encode()
        raw += struct.pack(f"{order}Q", len(name)) + name + struct.pack(f"{order}I", len(each.dimensions))
        raw += struct.pack(f"{order}{len(each.dimensions)}Q", *each.dimensions)
        raw += struct.pack(f"{order}IQ", each.type, offset if each.offset is None else each.offset)
        offset += -(-each.bytes // 32) * 32
    end = offset - (-tensors[-1].bytes % 32) if tensors else 0
    return raw + bytes(-len(raw) % 32) + bytes(end)


def numbers(architecture: str, **keys: Any) -> dict[str, tuple[str, Any]]:
    """Pairs of one architecture; a dot in a key is written as two underscores."""
    found: dict[str, tuple[str, Any]] = {"general.architecture": ("str", architecture)}
    for key, value in keys.items():
        found[f"{architecture}.{key.replace('__', '.')}"] = (
            value if isinstance(value, tuple) else ("u32", value)
        )
    return found


WIDTH, HEADS, KV, SIZE, INNER, WORDS = 64, 4, 2, 16, 128, 96


def llama_tensors(layers: int = 2, output: bool = True) -> list[T]:
    """The tensors of a small llama."""
    found = [T("token_embd.weight", (WIDTH, WORDS), Q8_0)]
    for layer in range(layers):
        found += [
            T(f"blk.{layer}.attn_norm.weight", (WIDTH,), F32),
            T(f"blk.{layer}.attn_q.weight", (WIDTH, HEADS * SIZE), Q4_0),
            T(f"blk.{layer}.attn_k.weight", (WIDTH, KV * SIZE), Q4_0),
            T(f"blk.{layer}.attn_v.weight", (WIDTH, KV * SIZE), Q4_0),
            T(f"blk.{layer}.attn_output.weight", (HEADS * SIZE, WIDTH), Q4_0),
            T(f"blk.{layer}.ffn_norm.weight", (WIDTH,), F32),
            T(f"blk.{layer}.ffn_up.weight", (WIDTH, INNER), Q4_0),
            T(f"blk.{layer}.ffn_gate.weight", (WIDTH, INNER), Q4_0),
            T(f"blk.{layer}.ffn_down.weight", (INNER, WIDTH), Q4_0),
        ]
    found.append(T("output_norm.weight", (WIDTH,), F32))
    return [*found, T("output.weight", (WIDTH, WORDS), Q8_0)] if output else found


def llama_pairs(layers: int = 2, architecture: str = "llama", **more: Any) -> dict[str, tuple[str, Any]]:
    """Its numbers."""
    keys = {
        "block_count": layers, "embedding_length": WIDTH, "context_length": 512,
        "attention__head_count": HEADS, "attention__head_count_kv": KV,
    }  # fmt: skip
    return numbers(architecture, **{**keys, **more})
