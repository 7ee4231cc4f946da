"""Reads the header of a GGUF file: what the model says of itself, without its tensors.

Invariant: memory stays bounded whatever the header claims; every count and length is checked against what
is left of the file before anything of that size is read. Format: ggml/include/gguf.h of llama.cpp, versions
2 and 3.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from hio_validate.observe.refusal import Unobservable

Facts = dict[str, str | bool | int | float]

MAGIC = b"GGUF"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "b", 10: "Q", 11: "q", 12: "d"}
_BOOL, _STRING, _ARRAY = 7, 8, 9
_MOST_PAIRS = 65_536
_LONGEST_KEY = 65_535
_LONGEST_KEPT_TEXT = 4_096
_MOST_STRINGS = 4_000_000
_LARGEST_HEADER_BYTES = 256 << 20
_CHUNK = 1 << 16
_LARGEST_SAFE_INTEGER = 1 << 53
"""Beyond it YAML readers differ, so a document states it as text."""

_KEPT = re.compile(
    r"general\.(architecture|name|basename|size_label|finetune|version|file_type|quantization_version|type|sampling\..+)"
    r"|tokenizer\.ggml\.(model|pre)|split\.(no|count|tensors\.count)|[^.]+\.context_length"
)
_TEMPLATE = re.compile(r"tokenizer\.chat_template(\..+)?")
_TOKENS = "tokenizer.ggml.tokens"

QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
    36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}  # fmt: skip
"""general.file_type -> name: enum llama_ftype of llama.cpp's include/llama.h."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Place of a file in a split model, by its name: `stem-00001-of-00003.gguf`."""

    stem: str
    number: int
    count: int


def shard_of(path: str) -> Shard | None:
    """The shard a file is by its name, None for a whole model."""
    match = _SHARD.fullmatch(path)
    if match is None or int(match["count"]) < 2:
        return None
    return Shard(match["stem"], int(match["number"]), int(match["count"]))


def why_not_a_model(path: str, head: bytes) -> str | None:
    """Why a file cannot stand for a model (contract 1.6), in one sentence; None if nothing speaks against it.

    `head` are its first bytes, at least 64 where the file has them.
    """
    if head.startswith(LFS_POINTER):
        return "a Git LFS pointer, not the model it points to: fetch it with `git lfs pull`"
    shard = shard_of(path)
    if shard:
        return f"shard {shard.number} of {shard.count} alone is not the model"
    return None


def header_facts(file: BinaryIO) -> Facts:
    """Facts of a GGUF header under its own key names.

    Beside the keys kept as they are: `version`, `tensor_count`, `quantisation`,
    `tokenizer.ggml.tokens.sha256` (over length and bytes of each token, as a little-endian file stores them),
    `tokenizer.ggml.tokens.count` and `tokenizer.chat_template.sha256`.

    Raises Unobservable for what is no GGUF, is truncated or hostile.
    """
    facts = read_pairs(Reader(file, file.seek(0, io.SEEK_END)))
    kind = facts.get("general.file_type")
    if isinstance(kind, int):
        facts["quantisation"] = QUANTISATIONS.get(kind & ~1024, f"file type {kind}")
    return facts


def read_pairs(reader: Reader) -> Facts:
    """Reads a header up to its tensors, and gives the pairs that the reader keeps. Raises Unobservable."""
    facts: Facts = {}
    seen: set[str] = set()
    pairs = reader.begin(facts)
    for _ in range(pairs):
        key = reader.key()
        if key in seen:
            raise Unobservable(f"the GGUF header states {key!r} twice")
        seen.add(key)
        reader.value(key, facts)
    return facts


class Reader:
    """A position in a header; refuses to read past the end of the file."""

    digested: str | None = _TOKENS
    """The array of strings whose digest and count are kept."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size, self.position, self.order = file, min(size, _LARGEST_HEADER_BYTES), 0, "<"
        file.seek(0)

    def keeps(self, key: str) -> bool:
        """Whether a value is worth keeping; what is not is passed over."""
        return _KEPT.fullmatch(key) is not None

    def begin(self, facts: Facts) -> int:
        """Magic, version and counts; returns the number of key-value pairs."""
        magic = self.take(4, "magic")
        if magic != MAGIC:
            raise Unobservable("not a GGUF file")
        (version,) = struct.unpack("<I", self.take(4, "version"))
        if version & 0xFFFF == 0:
            self.order, version = ">", int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise Unobservable(f"GGUF version {version} is not one that is read here (2, 3)")
        tensors: int = self.number("Q", "number of tensors")
        pairs: int = self.number("Q", "number of pairs")
        if pairs > _MOST_PAIRS:
            raise Unobservable(f"the GGUF header claims {pairs} pairs: at most {_MOST_PAIRS} are read")
        self.left(pairs, 13, "pairs")
        facts["version"], facts["tensor_count"] = version, _safe(tensors)
        return pairs

    def take(self, count: int, what: str) -> bytes:
        self.left(count, 1, what)
        raw = self.file.read(count)
        if len(raw) != count:
            raise Unobservable(f"the GGUF header ends within {what!r}")
        self.position += count
        return raw

    def left(self, count: int, at_least: int, what: str) -> None:
        """Refuses `count` items of `at_least` bytes each where the file does not have as many."""
        if count * at_least > self.size - self.position:
            raise Unobservable(f"the GGUF header is cut or wrong: {count} of {what!r} do not fit in the file")

    def number(self, code: str, what: str) -> Any:
        return struct.unpack(self.order + code, self.take(struct.calcsize("=" + code), what))[0]

    def key(self) -> str:
        length = self.number("Q", "key")
        if not 0 < length <= _LONGEST_KEY:
            raise Unobservable(f"the GGUF header has a key of {length} bytes")
        return self.take(length, "key").decode("utf-8", "backslashreplace")

    def value(self, key: str, facts: Facts) -> None:
        kind = self.number("I", key)
        if kind == _STRING:
            self.text(key, facts)
        elif kind == _ARRAY:
            self.array(key, facts)
        else:
            value = self.scalar(kind, key)
            if self.keeps(key) and not (isinstance(value, float) and not math.isfinite(value)):
                facts[key] = value

    def scalar(self, kind: int, key: str) -> bool | int | float | str:
        if kind not in _SCALARS:
            raise Unobservable(f"the GGUF header gives {key!r} the unknown type {kind}")
        value = self.number(_SCALARS[kind], key)
        if kind == _BOOL:
            return bool(value)
        return value if isinstance(value, float) else _safe(value)

    def text(self, key: str, facts: Facts) -> None:
        length = self.number("Q", key)
        self.left(length, 1, key)
        if _TEMPLATE.fullmatch(key):
            digest = hashlib.sha256()
            self.through(length, key, digest)
            facts[f"{key}.sha256"] = digest.hexdigest()
        elif self.keeps(key) and length <= _LONGEST_KEPT_TEXT:
            facts[key] = self.take(length, key).decode("utf-8", "backslashreplace")
        else:
            self.through(length, key)

    def through(self, count: int, what: str, digest: Any = None) -> None:
        """Reads `count` bytes piece by piece, into `digest` if there is one."""
        while count:
            piece = self.take(min(count, _CHUNK), what)
            count -= len(piece)
            if digest:
                digest.update(piece)

    def array(self, key: str, facts: Facts) -> None:
        kind, count = self.number("I", key), self.number("Q", key)
        if kind == _ARRAY:
            raise Unobservable(f"the GGUF header nests an array in {key!r}")
        if kind != _STRING:
            if kind not in _SCALARS:
                raise Unobservable(f"the GGUF header gives {key!r} elements of the unknown type {kind}")
            self.left(count, struct.calcsize("=" + _SCALARS[kind]), key)
            self.numbers(_SCALARS[kind], count, key)
            return
        if count > _MOST_STRINGS:
            raise Unobservable(f"the GGUF header claims {count} strings in {key!r}, more than are read")
        self.left(count, 8, key)
        digest = hashlib.sha256() if key == self.digested else None
        self.strings(count, key, digest)
        if digest:
            facts[f"{key}.sha256"], facts[f"{key}.count"] = digest.hexdigest(), count

    def numbers(self, code: str, count: int, key: str) -> None:
        """The elements of an array of numbers, which all fit in the file."""
        self.through(count * struct.calcsize("=" + code), key)

    def strings(self, count: int, key: str, digest: Any) -> None:
        for _ in range(count):
            length = self.number("Q", key)
            self.left(length, 1, key)
            if digest:
                digest.update(length.to_bytes(8, "little"))
            self.through(length, key, digest)


def _safe(value: int) -> int | str:
    return value if abs(value) <= _LARGEST_SAFE_INTEGER else str(value)
