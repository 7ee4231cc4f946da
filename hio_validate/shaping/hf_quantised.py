"""How matrices of a quantised checkpoint are stored, and which of them are left as they are.

Invariant: what is left out for some layers only is refused, unless no linear layer that is counted here has that name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from hio_validate.shaping.refusal import UnknownShape

LINEAR = (
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "self_attn.q_a_proj", "self_attn.q_b_proj",
    "self_attn.kv_a_proj_with_mqa", "self_attn.kv_b_proj", "self_attn.indexer.wq_b", "self_attn.indexer.wk", "linear_attn.in_proj_qkvz", "linear_attn.in_proj_ba", "linear_attn.out_proj", "mamba.in_proj", "mamba.out_proj", "mlp.up_proj", "mlp.down_proj", "mlp.experts.up_proj",
    "mlp.experts.down_proj", "mlp.shared_experts.up_proj", "mlp.shared_experts.down_proj", "mlp.shared_expert.up_proj",
    "mlp.shared_expert.down_proj",
)  # fmt: skip
"""Names, within a layer, of the linear layers that hf_tensors.py and hf_mixers.py count; gate stands with up, v with k."""

_LAYER = re.compile(r"(?:^|.*\.)layers\.(?P<number>\d+|\*)\.(?P<rest>.+)")
_PLAIN_PATTERN = re.compile(r"\^?(?:[A-Za-z_]|\\\.|\.\*|\.|\((?:[A-Za-z_]+\|)*[A-Za-z_]+\)|\$)+")
_MOST_ANY = 4


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is stored as everything else: names of modules within a layer, or patterns of their whole name."""

    names: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()

    def has(self, module: str) -> bool:
        """Whether a linear layer, by its name within a layer, is left as it is."""
        inside = f".{module}."
        if any(f".{name}." in inside or module in name for name in self.names):
            return True
        return any(pattern.match(f"model.layers.0.{module}") for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Quantised:
    """How the matrices of linear layers are stored: `bits` a number, and for each group what scales it.

    `rows` x `columns` numbers share one scale (0: as many as there are) of `scale` bytes, with a zero point of `bits`
    bits where `zeros`, packed into words of 4 bytes along the rows; `index` bytes a column tell its group; `fixed` bytes
    a matrix are beside it.
    """

    type: str
    bits: int
    rows: int
    columns: int
    scale: float
    zeros: bool = False
    index: int = 0
    fixed: int = 0
    skipped: Skipped = Skipped()
    only: str | None = None
    """Only modules whose name has this."""

    def covers(self, module: str) -> bool:
        """Whether a linear layer, by its name within a layer, is stored so."""
        if self.only and self.only not in module:
            return False
        return not self.skipped.has(module)

    def bytes_of(self, rows: int, columns: int) -> int:
        """Bytes of one matrix of `rows` outputs and `columns` inputs, whole groups."""
        high, wide = -(-rows // (self.rows or rows)), -(-columns // (self.columns or columns))
        numbers = -(-rows * columns * self.bits // 8)
        zeros = wide * -(-high * self.bits // 32) * 4 if self.zeros else 0
        return numbers + ceil(high * wide * self.scale) + zeros + self.index * columns + self.fixed


def skipped_of(said: Mapping[str, Any], layers: int, *more: str) -> Skipped:
    """What a quantisation_config leaves as it is: modules_to_not_convert, else llm_int8_skip_modules."""
    told = said.get("modules_to_not_convert") or said.get("llm_int8_skip_modules")
    return skipped_names(told, layers, *more)


def skipped_names(said: Any, layers: int, *more: str) -> Skipped:
    """Modules by their name within a layer; one that stands for each layer by its number counts as one name.

    Raises UnknownShape for what holds for some layers only, and for a pattern that is more than names, dots and `.*`.
    """
    names: dict[str, None] = dict.fromkeys(more)
    numbered: dict[str, set[str]] = {}
    patterns = []
    for name in said if isinstance(said, Sequence) and not isinstance(said, str) else ():
        if not isinstance(name, str):
            raise UnknownShape(
                f"quantization_config leaves {str(name)[:60]!r} as it is: expected the name of a module"
            )
        if name.startswith("re:"):
            patterns.append(_pattern(name))
        elif match := _LAYER.fullmatch(name):
            numbered.setdefault(match["rest"], set()).add(match["number"])
        else:
            names[name.removeprefix("model.")] = None
    for name, where in numbered.items():
        if "*" in where or {str(number) for number in range(layers)} <= where:
            names[name] = None
        elif any(Skipped((name,)).has(module) for module in LINEAR):
            raise UnknownShape(
                f"quantization_config leaves {name!r} of some layers as it is: layers that differ are not told apart here"
            )
    return Skipped(tuple(names), tuple(patterns))


def _pattern(name: str) -> re.Pattern[str]:
    """A pattern of which matching takes no time to speak of: no repetition but `.*`, and few of these."""
    said = name.removeprefix("re:")
    if not _PLAIN_PATTERN.fullmatch(said) or said.count(".*") > _MOST_ANY:
        raise UnknownShape(
            f"quantization_config leaves {name[:60]!r} as it is: layers that differ are not told apart here"
        )
    return re.compile(said)


def block_of(said: Any, key: str) -> tuple[int, int]:
    """Rows and columns that share a scale. Raises UnknownShape."""
    if not isinstance(said, list) or len(said) != 2:
        raise UnknownShape(f"quantization_config states a {key} that is no pair of whole numbers")
    return whole(said[0], key), whole(said[1], key)


def whole(value: Any, key: str) -> int:
    """A whole number from 1 up. Raises UnknownShape."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UnknownShape(
            f"quantization_config states {key} {repr(value)[:40]}: expected a whole number from 1 up"
        )
    return value
