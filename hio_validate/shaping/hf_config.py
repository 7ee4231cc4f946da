"""The keys of a config.json with what its reader's code means where one is absent, and how its tensors are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hio_validate.shaping.hf_families import Family
from hio_validate.shaping.hf_quantised import Quantised
from hio_validate.shaping.read_shape import Part, Role
from hio_validate.shaping.refusal import CannotShape

_MOST = 1 << 40


@dataclass
class Config:
    """The keys of a text model, with what its reader's code means where one is absent."""

    said: Mapping[str, Any]
    family: Family
    unknown: list[str] = field(default_factory=list)

    def number(self, key: str) -> int:
        """A dimension, from 1 up. Raises CannotShape."""
        found = self.maybe(key)
        if not found:
            raise CannotShape(f"config.json does not say {key}: expected a whole number from 1 up")
        return found

    def maybe(self, key: str) -> int | None:
        """A whole number, None where there is none. Raises CannotShape for what is no number."""
        value = self.said.get(key)
        if value is None and key in self.family.defaults and key not in self.said:
            value = self.family.defaults[key]
            note = f"{key} is not stated; {value} is what transformers takes for this model_type"
            if note not in self.unknown:
                self.unknown.append(note)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
            raise CannotShape(f"config.json states {key} {str(value)[:40]!r}: expected a whole number")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.said.get(key, default)
        if not isinstance(value, bool):
            raise CannotShape(f"config.json states {key} {str(value)[:40]!r}: expected true or false")
        return value


@dataclass(frozen=True)
class Stored:
    """How tensors are stored, which makes their bytes."""

    type: str
    size: int
    quantised: Quantised | None

    def plain(self, role: Role, elements: int, tensors: int = 1) -> Part:
        return Part(role, self.type, elements, elements * self.size, tensors)

    def linear(self, role: Role, module: str, rows: int, columns: int, tensors: int = 1) -> Part:
        """`tensors` matrices of `rows` outputs and `columns` inputs each."""
        quantised = self.quantised
        if quantised is None or not quantised.covers(module):
            return self.plain(role, rows * columns * tensors, tensors)
        return Part(
            role,
            quantised.type,
            rows * columns * tensors,
            quantised.bytes_of(rows, columns) * tensors,
            tensors,
        )
