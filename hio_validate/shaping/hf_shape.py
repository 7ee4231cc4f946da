"""The shape of a model from the config.json of a checkpoint: its tensors computed from its dimensions.

Invariant: a dimension that neither config.json nor its reader's code gives is never guessed; a `model_type` whose
tensors are not known here is refused. Source: hf_families.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.shaping.hf_bytes import dtype_of, quantised_of
from hio_validate.shaping.hf_config import Config, Stored
from hio_validate.shaping.hf_families import FAMILIES, NESTED, SAME_AS, Family
from hio_validate.shaping.hf_tensors import draft_of, parts_of
from hio_validate.shaping.read_shape import ExpertCounts, Keeps, ReadShape
from hio_validate.shaping.refusal import CannotShape, UnknownShape

_MOST_LAYERS = 4_096


def shape_of(config: Mapping[str, Any], dtype: str | None = None) -> ReadShape:
    """The shape that a config.json says. `dtype`: the number format, where config.json does not say it.

    Raises UnknownShape for a model_type or a quantisation that is not known here, CannotShape for what cannot be.
    """
    text, name, family = _text_model(config)
    read = Config(text, family)
    layers, heads, width = (
        read.number(key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    if layers > _MOST_LAYERS:
        raise CannotShape(f"config.json states {layers} layers: at most {_MOST_LAYERS} are read")
    merged = {
        **config,
        **{key: text[key] for key in ("torch_dtype", "dtype", "quantization_config") if key in text},
    }
    plain, size = dtype_of(merged, dtype)
    stored = Stored(plain, size, quantised_of(merged, layers, size))
    tied = _tied(config, text, family)
    keeps = _attention(read, layers, heads, width)
    parts = list(parts_of(read, stored, layers, keeps[0], tied))
    draft = read.maybe("num_nextn_predict_layers") or 0
    if draft:
        parts.extend(draft_of(read, stored, keeps[0], draft))
    if text is not config:
        read.unknown.append("what is beside the text model (vision, sound) is not counted")
    return ReadShape(
        format="hf-config", layers=layers, parts=tuple(parts), attention=tuple(keeps), architecture=name,
        embedding=width, heads=heads, vocabulary=read.number("vocab_size"),
        context=read.maybe("max_position_embeddings"), tied=tied, experts=_experts(read), draft_layers=draft,
        unknown=tuple(read.unknown),
    )  # fmt: skip


def _text_model(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, Family]:
    """The keys of the text model, its model_type, and how that is built."""
    name = config.get("model_type")
    if not isinstance(name, str):
        raise CannotShape("it states no model_type: expected the config.json of a checkpoint")
    text: Any = config
    if name in NESTED:
        text = config.get("text_config")
        if not isinstance(text, Mapping):
            raise CannotShape(f"config.json of {name} has no text_config, which says its text model")
        name = text.get("model_type", NESTED[name])
    family = FAMILIES.get(SAME_AS.get(name, name)) if isinstance(name, str) else None
    if family is None:
        raise UnknownShape(
            f"the tensors of model_type {str(name)[:60]!r} are not known here; known are {', '.join(sorted({*FAMILIES, *SAME_AS, *NESTED}))}; "
            "read its GGUF file, or write the shape by hand"
        )
    return text, name, family


def _tied(config: Mapping[str, Any], text: Mapping[str, Any], family: Family) -> bool:
    for said in (text, config):
        if isinstance(said.get("tie_word_embeddings"), bool):
            return bool(said["tie_word_embeddings"])
    return family.tied


def _attention(read: Config, layers: int, heads: int, width: int) -> list[Keeps]:
    """What each layer keeps."""
    if read.family.latent:
        latent = read.number("kv_lora_rank") + read.number("qk_rope_head_dim")
        return [Keeps(1, latent, 0)] * layers
    kv_heads = read.maybe("num_key_value_heads") or heads
    size = read.maybe("head_dim")
    if not size:
        if width % heads:
            raise CannotShape(
                f"config.json states no head_dim, and {heads} heads do not divide {width} numbers"
            )
        size = width // heads
    if heads % kv_heads:
        raise CannotShape(
            f"config.json states {heads} heads that share {kv_heads} of K and V: expected a multiple"
        )
    return [Keeps(kv_heads, size, size, window) for window in _windows(read, layers)]


def _windows(read: Config, layers: int) -> list[int | None]:
    """How far each layer looks back; None: all."""
    kinds = read.said.get("layer_types")
    if isinstance(kinds, list) and len(kinds) == layers:
        return [_window_of(read, kind) for kind in kinds]
    how = read.family.windows
    if how == "none" or (how == "upper" and not read.flag("use_sliding_window")):
        return [None] * layers
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


def _window_of(read: Config, kind: Any) -> int | None:
    if kind == "full_attention":
        return None
    if kind not in ("sliding_attention", "chunked_attention"):
        raise UnknownShape(f"layer_types names {str(kind)[:40]!r}, whose tensors are not known here")
    return read.number("sliding_window" if kind == "sliding_attention" else "attention_chunk_size")


def _experts(read: Config) -> ExpertCounts | None:
    mixture = read.family.mixture
    if mixture is None:
        return None
    count, active = read.number(mixture.count), read.number("num_experts_per_tok")
    if active > count:
        raise CannotShape(f"config.json states {active} experts a token of {count}: expected at most {count}")
    shared = {"none": 0, "count": read.maybe("n_shared_experts") or 0, "width": 1}[mixture.shared]
    return ExpertCounts(count, active, shared)
