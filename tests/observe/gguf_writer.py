"""Writes small GGUF headers for tests, by the format's description in ggml/include/gguf.h."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CODES = {
    "u8": 0,
    "i8": 1,
    "u16": 2,
    "i16": 3,
    "u32": 4,
    "i32": 5,
    "f32": 6,
    "bool": 7,
    "str": 8,
    "arr": 9,
    "u64": 10,
    "i64": 11,
    "f64": 12,
}
FORMATS = {
    "u8": "B",
    "i8": "b",
    "u16": "H",
    "i16": "h",
    "u32": "I",
    "i32": "i",
    "f32": "f",
    "bool": "?",
    "u64": "Q",
    "i64": "q",
    "f64": "d",
}


@dataclass(frozen=True)
class Array:
    """An array of elements of one type."""

    kind: str
    values: list[Any]


def gguf(pairs: Mapping[str, tuple[str, Any]], tensors: int = 0, version: int = 3, order: str = "<") -> bytes:
    """A header of (type, value) by key."""
    head = b"GGUF" + struct.pack(f"{order}IQQ", version, tensors, len(pairs))
    return head + b"".join(
        _text(key, order) + _value(kind, value, order) for key, (kind, value) in pairs.items()
    )


def _value(kind: str, value: Any, order: str) -> bytes:
    if isinstance(value, Array):
        begin = struct.pack(f"{order}IIQ", CODES["arr"], CODES[value.kind], len(value.values))
        return begin + b"".join(_scalar(value.kind, each, order) for each in value.values)
    return struct.pack(f"{order}I", CODES[kind]) + _scalar(kind, value, order)


def _scalar(kind: str, value: Any, order: str) -> bytes:
    return _text(value, order) if kind == "str" else struct.pack(order + FORMATS[kind], value)


def _text(text: str, order: str) -> bytes:
    raw = text.encode()
    return struct.pack(f"{order}Q", len(raw)) + raw
