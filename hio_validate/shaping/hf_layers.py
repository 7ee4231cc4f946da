"""The layers of a model by what config.json says of each: how it mixes tokens, how far it looks back, what it feeds forward.

Source: transformers 5.23.0, src/transformers/models/<model_type>/configuration_*.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hio_validate.shaping.hf_config import Config
from hio_validate.shaping.hf_families import Mixture
from hio_validate.shaping.refusal import CannotShape, UnknownShape

Mixer = Literal["attention", "delta", "mamba", "none"]
Feed = Literal["dense", "mixture", "none"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. `window`: tokens that its attention looks back, None: all; `chunked`: to where the chunk begins."""

    mixer: Mixer
    feed: Feed
    window: int | None = None
    chunked: bool = False
    indexer: bool = False
    """It has an indexer of its own."""


def layers_of(read: Config) -> list[Layer]:
    """The layers in their order. Raises CannotShape, UnknownShape for a kind that is not known here."""
    if read.family.one_block:
        return [_block(kind) for kind in _blocks(read)]
    count = read.number("num_hidden_layers")
    feeds: list[Feed] = ["mixture" if _is_mixture(read, layer) else "dense" for layer in range(count)]
    if read.family.indexer:
        chosen = read.number("index_topk")
        return [
            Layer("attention", feed, chosen, indexer=own)
            for own, feed in zip(_indexers(read, count), feeds, strict=True)
        ]
    chunked = read.family.windows == "chunks"
    return [
        Layer(mixer, feed, window, chunked and window is not None)
        for (mixer, window), feed in zip(_mixers(read, count), feeds, strict=True)
    ]


def _blocks(read: Config) -> list[Any]:
    """Kinds of layers that have one block each: a list, or before that a letter for each (hybrid_override_pattern)."""
    said = read.said.get("layers_block_type") or read.said.get("layer_types")
    pattern = read.said.get("hybrid_override_pattern")
    kinds = said if isinstance(said, list) else list(pattern) if isinstance(pattern, str) else []
    stated = read.maybe("num_hidden_layers")
    if not kinds or (stated is not None and stated != len(kinds)):
        raise CannotShape(
            f"config.json states {stated} layers and names the kinds of {len(kinds)}: expected one for each layer"
        )
    return kinds


_BLOCKS: dict[str, Layer] = {
    **dict.fromkeys(("M", "mamba", "linear_attention"), Layer("mamba", "none")),
    **dict.fromkeys(("*", "attention", "full_attention"), Layer("attention", "none")),
    **dict.fromkeys(("-", "mlp"), Layer("none", "dense")),
    **dict.fromkeys(("E", "moe"), Layer("none", "mixture")),
}


def _block(kind: Any) -> Layer:
    found = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise UnknownShape(f"a layer is of the kind {str(kind)[:40]!r}, whose tensors are not known here")
    return found


def _mixers(read: Config, count: int) -> list[tuple[Mixer, int | None]]:
    kinds = read.said.get("layer_types") or read.said.get("layers_block_type")
    if isinstance(kinds, list) and len(kinds) >= count:  # what is beyond them is of draft layers
        return [_mixer(read, kind) for kind in kinds[:count]]
    if kinds is not None:
        raise CannotShape(
            f"config.json states {count} layers, and layer_types is no list with one kind for each of them"
        )
    if read.family.mixer == "delta":
        every = read.number("full_attention_interval")
        return [("delta" if (layer + 1) % every else "attention", None) for layer in range(count)]
    if read.family.mixer != "none":
        return [(read.family.mixer, None)] * count
    return [("attention", window) for window in _windows(read, count)]


def _indexers(read: Config, count: int) -> list[bool]:
    """Which layers have an indexer of their own; the others take what the last one before them chose.

    Source: models/glm_moe_dsa/configuration_glm_moe_dsa.py: indexer_types, index_topk_pattern, or each index_topk_freq-th
    layer from index_skip_topk_offset on.
    """
    said = read.said.get("indexer_types") or read.said.get("index_topk_pattern")
    if said is not None:
        kinds = list(said) if isinstance(said, (list, str)) else []
        if len(kinds) < count or any(kind not in ("full", "shared", "F", "S") for kind in kinds):
            raise CannotShape(
                f"config.json states {count} layers, and whether each has an indexer (full) or takes another one's (shared) is not told"
            )
        return [kind in ("full", "F") for kind in kinds[:count]]
    every, offset = read.maybe("index_topk_freq") or 1, read.maybe("index_skip_topk_offset")
    offset = 2 if offset is None else offset
    return [max(layer - offset + 1, 0) % every == 0 for layer in range(count)]


def _mixer(read: Config, kind: Any) -> tuple[Mixer, int | None]:
    if kind in ("full_attention", "attention"):
        return "attention", None
    if kind in ("linear_attention", "mamba") and read.family.mixer != "none":
        return read.family.mixer, None
    if kind not in ("sliding_attention", "chunked_attention"):
        raise UnknownShape(f"layer_types names {str(kind)[:40]!r}, whose tensors are not known here")
    return "attention", read.number(
        "sliding_window" if kind == "sliding_attention" else "attention_chunk_size"
    )


def _windows(read: Config, layers: int) -> list[int | None]:
    """How far each layer looks back, where layer_types does not say it; None: all."""
    how = read.family.windows
    if how == "none" or (how == "upper" and not read.flag("use_sliding_window")):
        return [None] * layers
    if how == "chunks":
        return _chunks(read, layers)
    window = read.maybe("sliding_window")
    if not window:
        return [None] * layers
    if how == "all":
        return [window] * layers
    if how == "upper":
        first = read.maybe("max_window_layers") or 0
        return [window if layer >= first else None for layer in range(layers)]
    every = read.number("sliding_window_pattern") if how == "pattern" else 2
    return [None if (layer + 1) % every == 0 else window for layer in range(layers)]


def _chunks(read: Config, layers: int) -> list[int | None]:
    """Layers with rotary positions attend within chunks: by no_rope_layers (0: without), else all but each last one."""
    chunk, said = read.number("attention_chunk_size"), read.said.get("no_rope_layers")
    if isinstance(said, list) and len(said) == layers:
        return [chunk if rotary else None for rotary in said]
    every = read.number("no_rope_layer_interval")
    return [chunk if (layer + 1) % every else None for layer in range(layers)]


def _is_mixture(read: Config, layer: int) -> bool:
    mixture = read.family.mixture
    if mixture is None or not experts_in(read, mixture):
        return False
    if mixture.places == "step":
        step = read.number("decoder_sparse_step")
        return layer not in _listed(read, "mlp_only_layers") and (layer + 1) % step == 0
    if mixture.places == "after-dense":
        first, every = read.maybe("first_k_dense_replace") or 0, read.number("moe_layer_freq")
        return layer >= first and layer % every == 0
    if mixture.places == "listed":
        listed = read.said.get("moe_layers")
        return (
            layer in listed
            if isinstance(listed, list)
            else (layer + 1) % read.number("interleave_moe_layer_step") == 0
        )
    return True


def experts_in(read: Config, mixture: Mixture) -> int:
    """Experts of a layer; 0 where the same model_type is built without, too, and says so."""
    return (read.maybe(mixture.count) or 0) if mixture.may_have_none else read.number(mixture.count)


def _listed(read: Config, key: str) -> list[Any]:
    said = read.said.get(key)
    return said if isinstance(said, list) else []
