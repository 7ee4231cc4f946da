"""The shape of a model from the config.json of a checkpoint: its tensors computed from its dimensions.

Invariant: a dimension that neither config.json nor its reader's code gives is never guessed; a `model_type` whose
tensors are not known here is refused. Source: hf_families.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hio_validate.shaping.hf_bytes import Quantised, dtype_of, quantised_of
from hio_validate.shaping.hf_families import FAMILIES, NESTED, SAME_AS, Family, Mixture
from hio_validate.shaping.read_shape import ExpertCounts, Keeps, Part, ReadShape, Role
from hio_validate.shaping.refusal import CannotShape, UnknownShape

_MOST = 1 << 40
_MOST_LAYERS = 4_096


@dataclass
class _Config:
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
class _Stored:
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


def shape_of(config: Mapping[str, Any], dtype: str | None = None) -> ReadShape:
    """The shape that a config.json says. `dtype`: the number format, where config.json does not say it.

    Raises UnknownShape for a model_type or a quantisation that is not known here, CannotShape for what cannot be.
    """
    text, name, family = _text_model(config)
    read = _Config(text, family)
    layers, heads, width = (
        read.number(key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    if layers > _MOST_LAYERS:
        raise CannotShape(f"config.json states {layers} layers: at most {_MOST_LAYERS} are read")
    merged = {
        **config,
        **{key: text[key] for key in ("torch_dtype", "dtype", "quantization_config") if key in text},
    }
    stored = _Stored(*dtype_of(merged, dtype), quantised_of(merged))
    tied = _tied(config, text, family)
    keeps = _attention(read, layers, heads, width)
    parts = list(_parts(read, stored, layers, keeps[0], tied))
    draft = read.maybe("num_nextn_predict_layers") or 0
    if draft:
        parts.extend(_draft(read, stored, keeps[0], draft))
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
            f"the tensors of model_type {str(name)[:60]!r} are not known here; known are {', '.join(sorted(FAMILIES))}; "
            "read its GGUF file, or write the shape by hand"
        )
    return text, name, family


def _tied(config: Mapping[str, Any], text: Mapping[str, Any], family: Family) -> bool:
    for said in (text, config):
        if isinstance(said.get("tie_word_embeddings"), bool):
            return bool(said["tie_word_embeddings"])
    return family.tied


def _attention(read: _Config, layers: int, heads: int, width: int) -> list[Keeps]:
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


def _windows(read: _Config, layers: int) -> list[int | None]:
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


def _window_of(read: _Config, kind: Any) -> int | None:
    if kind == "full_attention":
        return None
    if kind not in ("sliding_attention", "chunked_attention"):
        raise UnknownShape(f"layer_types names {str(kind)[:40]!r}, whose tensors are not known here")
    return read.number("sliding_window" if kind == "sliding_attention" else "attention_chunk_size")


def _parts(read: _Config, stored: _Stored, layers: int, keeps: Keeps, tied: bool) -> Iterator[Part]:
    """All tensors, draft layers aside."""
    width, vocabulary = read.number("hidden_size"), read.number("vocab_size")
    yield stored.plain("embedding", vocabulary * width)
    for layer in range(layers):
        yield from _layer(read, stored, layer, keeps)
    yield stored.plain("norm", width)
    if not tied:
        yield stored.plain("output", vocabulary * width)


def _layer(read: _Config, stored: _Stored, layer: int, keeps: Keeps) -> Iterator[Part]:
    family, width = read.family, read.number("hidden_size")
    yield stored.plain("norm", family.norms * width, family.norms)
    yield from _latent(read, stored) if family.latent else _heads(read, stored, keeps)
    mixture = family.mixture
    if mixture and _is_mixture(read, mixture, layer):
        yield from _mixture(read, stored, mixture)
    else:
        yield from _gated(stored, "mlp", read.number("intermediate_size"), width)
        if read.flag("mlp_bias"):
            yield stored.plain("feed-forward", 2 * read.number("intermediate_size") + width, 3)


def _heads(read: _Config, stored: _Stored, keeps: Keeps) -> Iterator[Part]:
    family, width = read.family, read.number("hidden_size")
    heads = read.number("num_attention_heads")
    queries, kept = heads * keeps.key, keeps.kv_heads * keeps.key
    yield stored.linear("attention", "self_attn.q_proj", queries, width)
    yield stored.linear("attention", "self_attn.k_proj", kept, width, 2)
    yield stored.linear("attention", "self_attn.o_proj", width, queries)
    stated = read.flag("attention_bias")
    if family.qkv_bias if family.qkv_bias is not None else stated:
        yield stored.plain("attention", queries + 2 * kept, 3)
    if family.output_bias if family.output_bias is not None else stated:
        yield stored.plain("attention", width)
    if family.head_norms if family.head_norms is not None else read.flag("use_qk_norm"):
        yield stored.plain("norm", 2 * keeps.key, 2)
    if family.sinks:
        yield stored.plain("attention", heads)


def _latent(read: _Config, stored: _Stored) -> Iterator[Part]:
    """Multi-head latent attention: modeling_deepseek_v3.py, DeepseekV3Attention."""
    width, heads = read.number("hidden_size"), read.number("num_attention_heads")
    plain, rope = read.number("qk_nope_head_dim"), read.number("qk_rope_head_dim")
    value, rank, query_rank = (
        read.number("v_head_dim"),
        read.number("kv_lora_rank"),
        read.maybe("q_lora_rank"),
    )
    query = heads * (plain + rope)
    if query_rank:
        yield stored.linear("attention", "self_attn.q_a_proj", query_rank, width)
        yield stored.plain("norm", query_rank)
        yield stored.linear("attention", "self_attn.q_b_proj", query, query_rank)
    else:
        yield stored.linear("attention", "self_attn.q_proj", query, width)
    yield stored.linear("attention", "self_attn.kv_a_proj_with_mqa", rank + rope, width)
    yield stored.plain("norm", rank)
    yield stored.linear("attention", "self_attn.kv_b_proj", heads * (plain + value), rank)
    yield stored.linear("attention", "self_attn.o_proj", width, heads * value)
    if read.flag("attention_bias"):
        yield stored.plain("attention", (query_rank or 0) + rank + rope + width, 3 if query_rank else 2)


def _is_mixture(read: _Config, mixture: Mixture, layer: int) -> bool:
    if mixture.places == "step":
        step = read.number("decoder_sparse_step")
        return layer not in _dense(read) and (layer + 1) % step == 0
    if mixture.places == "after-dense":
        first, every = read.maybe("first_k_dense_replace") or 0, read.number("moe_layer_freq")
        return layer >= first and layer % every == 0
    return True


def _dense(read: _Config) -> list[Any]:
    said = read.said.get("mlp_only_layers")
    return said if isinstance(said, list) else []


def _mixture(read: _Config, stored: _Stored, mixture: Mixture) -> Iterator[Part]:
    """One layer's experts; its router and shared experts are passed by every token, as a feed-forward."""
    width, count, inner = read.number("hidden_size"), read.number(mixture.count), read.number(mixture.width)
    yield stored.linear("experts", "mlp.experts.up_proj", inner, width, 2 * count)
    yield stored.linear("experts", "mlp.experts.down_proj", width, inner, count)
    yield stored.plain("feed-forward", count * width)
    if mixture.router_bias:
        yield stored.plain("feed-forward", count)
        yield stored.plain("experts", count * (2 * inner + width), 2)
    if mixture.correction and read.said.get("topk_method", "noaux_tc") == "noaux_tc":
        yield Part("feed-forward", "f32", count, count * 4)
    if mixture.shared == "count":
        shared = (read.maybe("n_shared_experts") or 0) * inner
        if shared:
            yield from _gated(stored, "mlp.shared_experts", shared, width)
    elif mixture.shared == "width":
        yield from _gated(stored, "mlp.shared_expert", read.number("shared_expert_intermediate_size"), width)
        yield stored.plain("feed-forward", width)


def _gated(stored: _Stored, module: str, inner: int, width: int) -> Iterator[Part]:
    """A gated feed-forward: gate and up, then down."""
    yield stored.linear("feed-forward", f"{module}.up_proj", inner, width, 2)
    yield stored.linear("feed-forward", f"{module}.down_proj", width, inner)


def _experts(read: _Config) -> ExpertCounts | None:
    mixture = read.family.mixture
    if mixture is None:
        return None
    count, active = read.number(mixture.count), read.number("num_experts_per_tok")
    if active > count:
        raise CannotShape(f"config.json states {active} experts a token of {count}: expected at most {count}")
    shared = {"none": 0, "count": read.maybe("n_shared_experts") or 0, "width": 1}[mixture.shared]
    return ExpertCounts(count, active, shared)


def _draft(read: _Config, stored: _Stored, keeps: Keeps, layers: int) -> Iterator[Part]:
    """Layers for multi-token prediction: a layer as the last one, three norms, and the product of both inputs.

    Source: DeepSeek-V3, README_WEIGHTS.md: embedding and head are the main model's, and not counted again.
    """
    width = read.number("hidden_size")
    made = [
        *_layer(read, stored, read.number("num_hidden_layers"), keeps),
        stored.plain("norm", 3 * width, 3),
    ]
    made.append(stored.linear("draft", "eh_proj", width, 2 * width))
    read.unknown.append(
        "whether the checkpoint stores embedding and head again for draft layers; they count once"
    )
    for part in made:
        yield Part("draft", part.type, part.elements * layers, part.bytes * layers, part.tensors * layers)
