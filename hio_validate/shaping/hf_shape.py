"""The shape of a model from the config.json of a checkpoint: its tensors computed from its dimensions.

Invariant: a dimension that neither config.json nor its reader's code gives is never guessed; a `model_type` whose
tensors are not known here is refused. Source: hf_families.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hio_validate.shaping.hf_bytes import dtype_of, quantised_of
from hio_validate.shaping.hf_config import Config, Stored
from hio_validate.shaping.hf_families import FAMILIES, NESTED, SAME_AS, Family
from hio_validate.shaping.hf_layers import Layer, experts_in, layers_of
from hio_validate.shaping.hf_mixers import state_of
from hio_validate.shaping.hf_tensors import draft_of, parts_of
from hio_validate.shaping.read_shape import NOTHING, ExpertCounts, Keeps, ReadShape
from hio_validate.shaping.refusal import CannotShape, UnknownShape

_MOST_LAYERS = 4_096


def shape_of(config: Mapping[str, Any], dtype: str | None = None) -> ReadShape:
    """The shape that a config.json says. `dtype`: the number format, where config.json does not say it.

    Raises UnknownShape for a model_type or a quantisation that is not known here, CannotShape for what cannot be.
    """
    text, name, family = _text_model(config)
    read = Config(text, family)
    if (read.maybe("num_hidden_layers") or 0) > _MOST_LAYERS:
        raise CannotShape(
            f"config.json states {read.maybe('num_hidden_layers')} layers: at most {_MOST_LAYERS} are read"
        )
    kinds = layers_of(read)
    layers, heads, width = len(kinds), read.number("num_attention_heads"), read.number("hidden_size")
    merged = {
        **config,
        **{key: text[key] for key in ("torch_dtype", "dtype", "quantization_config") if key in text},
    }
    plain, size = dtype_of(merged, dtype)
    stored = Stored(plain, size, quantised_of(merged, layers, size))
    tied = _tied(config, text, family)
    kept = _kept(read, heads, width)
    parts = list(parts_of(read, stored, kinds, kept, tied))
    draft = (read.maybe(family.drafts) or 0) if family.drafts else 0
    if draft:
        parts.extend(draft_of(read, stored, kinds[-1].feed, kept, draft))
    _say_what_is_not_counted(read)
    if text is not config:
        read.unknown.append("what is beside the text model (vision, sound) is not counted")
    return ReadShape(
        format="hf-config", layers=layers, parts=tuple(parts), attention=tuple(
            _of_layer(read, each, kept) for each in kinds
        ),
        architecture=name,
        embedding=width, heads=heads, vocabulary=read.number("vocab_size"),
        context=read.maybe("max_position_embeddings"), tied=tied, experts=_experts(read, kinds), draft_layers=draft,
        unknown=tuple(read.unknown),
    )  # fmt: skip


def _of_layer(read: Config, layer: Layer, kept: Keeps) -> Keeps:
    """What one layer keeps: K and V, a state, or nothing."""
    if layer.mixer == "attention":
        return replace(kept, window=layer.window, chunked=layer.chunked, chosen=read.family.indexer)
    return NOTHING if layer.mixer == "none" else replace(NOTHING, state=state_of(read))


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


def _kept(read: Config, heads: int, width: int) -> Keeps:
    """What a layer that attends keeps of a token."""
    if read.family.latent:
        rotary = read.number("qk_rope_head_dim")
        expanded = read.number("qk_nope_head_dim") + rotary, read.number("v_head_dim")
        return Keeps(1, read.number("kv_lora_rank") + rotary, 0, expanded=expanded)
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
    return Keeps(kv_heads, size, size)


def _say_what_is_not_counted(read: Config) -> None:
    if read.family.indexer:
        read.unknown.append(
            f"layers attend to {read.number('index_topk')} tokens that an indexer chooses, which stands as a window; its keys, "
            f"{read.number('index_head_dim')} numbers a token and layer, are not counted"
        )
    if read.family.drafts is None:
        read.unknown.append(
            "layers for multi-token prediction, which config.json does not tell of, are not counted"
        )


def _experts(read: Config, kinds: Sequence[Layer]) -> ExpertCounts | None:
    mixture = read.family.mixture
    if mixture is None:
        return None
    count = experts_in(read, mixture)
    if not count or all(each.feed != "mixture" for each in kinds):
        return None
    active = read.number("num_experts_per_tok")
    if active > count:
        raise CannotShape(f"config.json states {active} experts a token of {count}: expected at most {count}")
    shared = (
        (read.maybe("n_shared_experts") or 0) if mixture.shared == "count" else int(mixture.shared != "none")
    )
    return ExpertCounts(count, active, shared)
