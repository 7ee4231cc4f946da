"""The tensors that a GGUF file lists, and the numbers of its architecture; no tensor is read.

Invariant: as gguf.py, memory and time are bounded by the header; a tensor that does not lie within the file, or
within another one, is refused. Format: ggml/include/gguf.h and ggml/src/gguf.cpp of llama.cpp.
"""

from __future__ import annotations

import io
import math
import re
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from hio_validate.costs.formats import BLOCKS
from hio_validate.observe.gguf import Facts, Reader, read_pairs
from hio_validate.observe.refusal import Unobservable

TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
    20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}  # fmt: skip
"""enum ggml_type of llama.cpp's ggml/include/ggml.h -> its name; costs/formats.py has the sizes of blocks.

Held against gguf-py/gguf/constants.py by tests/observe/test_observe_gguf_tensors.py.
"""

_NUMBERS = re.compile(
    r"general\.(architecture|name|alignment)|split\.(no|count|tensors\.count)"
    r"|[^.]+\.(block_count|embedding_length|context_length|vocab_size|nextn_predict_layers"
    r"|attention\.(head_count|head_count_kv|key_length|value_length|key_length_mla|value_length_mla|key_length_swa"
    r"|value_length_swa|kv_lora_rank|sliding_window|sliding_window_pattern|shared_kv_layers|indexer\.top_k)"
    r"|ssm\.(conv_kernel|inner_size|state_size|group_count)|kda\.head_dim|wkv\.head_size|token_shift_count|shortconv\.l_cache"
    r"|expert_count|expert_used_count|expert_shared_count)"
)
_MOST_TENSORS = 1 << 20
_MOST_NUMBERS = 4_096
_LONGEST_NAME = 256
_MOST_DIMENSIONS = 4
_SMALLEST_INFO = 8 + 4 + 8 + 4 + 8
_PIECE = 1 << 20
_DEFAULT_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor, as it is listed: `dimensions` of numbers, the first one contiguous."""

    name: str
    type: str
    dimensions: tuple[int, ...]
    elements: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What one file lists: numbers of its architecture, those of them that are one a layer, its tensors."""

    facts: Facts
    by_layer: dict[str, tuple[int, ...]]
    tensors: tuple[Tensor, ...]


def contents(file: BinaryIO) -> Contents:
    """The tensors of one GGUF file. Raises Unobservable for what is no GGUF, is truncated or hostile."""
    size = file.seek(0, io.SEEK_END)
    reader = _Numbers(file, size)
    facts = read_pairs(reader)
    count = facts["tensor_count"]
    if not isinstance(count, int) or count > _MOST_TENSORS:
        raise Unobservable(f"the GGUF header claims {count} tensors: at most {_MOST_TENSORS} are read")
    reader.left(count, _SMALLEST_INFO, "tensors")
    alignment = facts.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise Unobservable(f"general.alignment is {alignment}: expected a power of two")
    tensors = _tensors(reader, count, alignment)
    begin = _padded(reader.position, alignment)
    end = begin + (tensors[-1][1] + tensors[-1][0].bytes if tensors else 0)
    if tensors and end > size:
        raise Unobservable(
            f"the file has {size} bytes and its tensors end at byte {end}: it was cut; fetch it again"
        )
    return Contents(facts, reader.by_layer, tuple(tensor for tensor, _ in tensors))


def _tensors(reader: _Numbers, count: int, alignment: int) -> list[tuple[Tensor, int]]:
    """Tensors with their offsets, each where the one before it ends, as the writer's own reader expects."""
    found: list[tuple[Tensor, int]] = []
    names: set[str] = set()
    expected = 0
    for _ in range(count):
        tensor, offset = reader.tensor()
        if tensor.name in names:
            raise Unobservable(f"the GGUF header lists the tensor {tensor.name!r} twice")
        if offset != expected:
            raise Unobservable(
                f"the tensor {tensor.name!r} stands at {offset}: expected {expected}, where the one before it ends"
            )
        names.add(tensor.name)
        found.append((tensor, offset))
        expected = _padded(offset + tensor.bytes, alignment)
    return found


def _padded(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment


class _Numbers(Reader):
    """Keeps the numbers of the architecture, also where they are one a layer."""

    digested = None

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.by_layer: dict[str, tuple[int, ...]] = {}

    def keeps(self, key: str) -> bool:
        return _NUMBERS.fullmatch(key) is not None

    def numbers(self, code: str, count: int, key: str) -> None:
        if code in "fd" or not self.keeps(key):
            return super().numbers(code, count, key)
        if count > _MOST_NUMBERS:
            raise Unobservable(
                f"the GGUF header gives {key!r} {count} numbers: at most {_MOST_NUMBERS} are read"
            )
        raw = self.take(count * struct.calcsize("=" + code), key)
        self.by_layer[key] = struct.unpack(f"{self.order}{count}{code}", raw)
        return None

    def strings(self, count: int, key: str, digest: Any) -> None:
        """Passes over them in pieces: a vocabulary has some hundred thousand, and none is wanted here."""
        word, piece, at = struct.Struct(f"{self.order}Q"), b"", 0
        for _ in range(count):
            if len(piece) - at < word.size:
                piece, at = piece[at:] + self.file.read(_PIECE), 0
            if len(piece) < word.size:
                raise Unobservable(f"the GGUF header ends within {key!r}")
            length = word.unpack_from(piece, at)[0]
            self.left(length + word.size, 1, key)
            at += word.size + length
            self.position += word.size + length
            if at > len(piece):
                self.file.seek(self.position)
                piece, at = b"", 0
        self.file.seek(self.position)

    def tensor(self) -> tuple[Tensor, int]:
        """One tensor's entry and its offset within the data."""
        length = self.number("Q", "tensor name")
        if not 0 < length <= _LONGEST_NAME:
            raise Unobservable(f"the GGUF header has a tensor name of {length} bytes")
        name = self.take(length, "tensor name").decode("utf-8", "backslashreplace")
        rank = self.number("I", name)
        if not 0 < rank <= _MOST_DIMENSIONS:
            raise Unobservable(f"the tensor {name!r} has {rank} dimensions: expected 1 to {_MOST_DIMENSIONS}")
        dimensions = tuple(self.number("Q", name) for _ in range(rank))
        number, offset = self.number("I", name), self.number("Q", name)
        if number not in TYPES:
            raise Unobservable(f"the tensor {name!r} has the type {number}, whose size is not known here")
        kind = TYPES[number]
        block, size = BLOCKS[kind.lower()]
        elements = math.prod(dimensions)
        if not elements or dimensions[0] % block:
            raise Unobservable(
                f"the tensor {name!r} has rows of {dimensions[0]}: {kind} has blocks of {block}"
            )
        return Tensor(name, kind, dimensions, elements, elements // block * size), offset
