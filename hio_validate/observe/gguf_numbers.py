"""The numbers that a GGUF header gives of its architecture, checked: one for the model, or one a layer."""

from __future__ import annotations

from dataclasses import dataclass

from hio_validate.observe.gguf_tensors import Contents
from hio_validate.observe.refusal import Unobservable


@dataclass(frozen=True)
class Numbers:
    """Numbers of one architecture, by the end of their keys."""

    architecture: str
    contents: Contents

    def number(self, key: str) -> int | None:
        value = self.contents.facts.get(f"{self.architecture}.{key}")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise Unobservable(f"{self.architecture}.{key} is {value!r}: expected a whole number")
        return value

    def each(self, key: str, layers: int) -> tuple[int, ...] | None:
        """One number a layer, from an array or from one number for all."""
        found = self.contents.by_layer.get(f"{self.architecture}.{key}")
        if found is None:
            one = self.number(key)
            return None if one is None else (one,) * layers
        if len(found) < layers or min(found, default=0) < 0:
            raise Unobservable(
                f"{self.architecture}.{key} has {len(found)} numbers: expected one, 0 or more, for each of {layers} layers"
            )
        return found[:layers]
