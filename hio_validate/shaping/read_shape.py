"""What a model file or a configuration says of a model's shape, before it is a document of a service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["embedding", "output", "attention", "feed-forward", "experts", "norm", "draft", "other"]


@dataclass(frozen=True, slots=True)
class Keeps:
    """What one layer keeps a token: `kv_heads` times `key` and `value` numbers; `window` tokens back, None: all,
    or `chunked`: to where the chunk of so many tokens begins.

    `expanded`: of a latent, the numbers of K and of V a head of Q that it stands for, None: not told.
    """

    kv_heads: int
    key: int
    value: int
    window: int | None = None
    chunked: bool = False
    expanded: tuple[int, int] | None = None
    chosen: bool = False
    """Of all that is kept `window` tokens are read, which an indexer chooses."""
    state: int = 0
    """Numbers of a state of fixed size that it carries for a sequence."""


NOTHING = Keeps(0, 0, 0)

_EXPANDED = ("expanded_key_size", "expanded_value_size")


@dataclass(frozen=True, slots=True)
class Part:
    """Tensors of one role and one number format."""

    role: Role
    type: str
    elements: int
    bytes: int
    tensors: int = 1


@dataclass(frozen=True, slots=True)
class ExpertCounts:
    """Experts of a layer, those of them that a token passes through, and those that every token does."""

    count: int
    active: int
    shared: int = 0


@dataclass(frozen=True, slots=True)
class ReadShape:
    """A model's shape without the service that it belongs to. `layers` counts no draft layers."""

    format: Literal["gguf", "hf-config"]
    layers: int
    parts: tuple[Part, ...]
    attention: tuple[Keeps, ...]
    """One a layer."""
    architecture: str | None = None
    embedding: int | None = None
    heads: int | None = None
    vocabulary: int | None = None
    context: int | None = None
    tied: bool | None = None
    experts: ExpertCounts | None = None
    draft_layers: int = 0
    unknown: tuple[str, ...] = field(default=())

    def as_document(self) -> dict[str, Any]:
        """The keys of shape/v1 that follow from it, in its order."""
        known = {
            "architecture": self.architecture, "layers": self.layers, "embedding": self.embedding,
            "heads": self.heads, "vocabulary": self.vocabulary, "context": self.context, "tied": self.tied,
        }  # fmt: skip
        found: dict[str, Any] = {key: value for key, value in known.items() if value is not None}
        found["attention"] = _grouped(self.attention)
        if self.experts:
            found["experts"] = {"count": self.experts.count, "active": self.experts.active}
            found["experts"] |= {"shared": self.experts.shared} if self.experts.shared else {}
        found["weights"] = _summed(self.parts)
        if self.draft_layers:
            found["draft_layers"] = self.draft_layers
        if self.unknown:
            found["unknown"] = list(self.unknown)
        return found


def _grouped(layers: Iterable[Keeps]) -> list[dict[str, int | bool]]:
    """Layers that keep alike, counted, in the order in which the first of each stands."""
    counts: dict[Keeps, int] = {}
    for each in layers:
        counts[each] = counts.get(each, 0) + 1
    return [
        {"layers": count, "kv_heads": each.kv_heads, "key_size": each.key, "value_size": each.value}
        | (dict(zip(_EXPANDED, each.expanded, strict=True)) if each.expanded else {})
        | ({"window": each.window} if each.window else {})
        | ({"chosen": True} if each.window and each.chosen else {})
        | ({"state": each.state} if each.state else {})
        | ({"chunked": True} if each.window and each.chunked else {})
        for each, count in counts.items()
    ]


def _summed(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Parts of one role and format together, in the order in which the first of each stands."""
    sums: dict[tuple[str, str], list[int]] = {}
    for part in parts:
        row = sums.setdefault((part.role, part.type), [0, 0, 0])
        row[0], row[1], row[2] = row[0] + part.elements, row[1] + part.bytes, row[2] + part.tensors
    return [
        {"role": role, "type": kind, "elements": elements, "bytes": size, "tensors": tensors}
        for (role, kind), (elements, size, tensors) in sums.items()
        if elements
    ]
