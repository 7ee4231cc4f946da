"""The tensors of a checkpoint, by role, from its dimensions.

Source: transformers, src/transformers/models/<model_type>/modeling_*.py; tests/shaping holds them against published counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.shaping.hf_config import Config, Stored
from hio_validate.shaping.hf_families import Mixture
from hio_validate.shaping.hf_layers import Feed, Layer
from hio_validate.shaping.hf_mixers import delta, mamba
from hio_validate.shaping.read_shape import Keeps, Part


def parts_of(
    read: Config, stored: Stored, layers: Sequence[Layer], keeps: Keeps, tied: bool
) -> Iterator[Part]:
    """All tensors, draft layers aside. `keeps`: what a layer that attends keeps."""
    width, vocabulary = read.number("hidden_size"), read.number("vocab_size")
    yield stored.plain("embedding", vocabulary * width)
    for layer in layers:
        yield from _layer(read, stored, layer, keeps)
    yield _norms(read, stored, 1)
    if not tied:
        yield stored.plain("output", vocabulary * width)
        if read.flag("lm_head_bias"):
            yield stored.plain("output", vocabulary)


def _norms(read: Config, stored: Stored, count: int) -> Part:
    """Norms of the model's width."""
    numbers = 2 if read.family.norm_bias else 1
    return stored.plain("norm", count * numbers * read.number("hidden_size"), count * numbers)


def _layer(read: Config, stored: Stored, layer: Layer, keeps: Keeps) -> Iterator[Part]:
    family = read.family
    yield _norms(read, stored, family.norms)
    if layer.mixer == "attention":
        yield from _latent(read, stored) if family.latent else _heads(read, stored, keeps)
        if layer.indexer:
            yield from _indexer(read, stored)
    elif layer.mixer != "none":
        yield from (delta if layer.mixer == "delta" else mamba)(read, stored)
    if layer.feed == "mixture" and family.mixture:
        yield from _mixture(read, stored, family.mixture)
    if family.mixture and family.mixture.shared == "beside":
        yield from _feed(read, stored, "mlp", read.number("shared_intermediate_size"))
    elif layer.feed == "dense":
        inner, width = read.number(family.dense), read.number("hidden_size")
        yield from _feed(read, stored, "mlp", inner)
        if read.flag("mlp_bias"):
            yield stored.plain(
                "feed-forward", (2 if family.gated else 1) * inner + width, 3 if family.gated else 2
            )


def _heads(read: Config, stored: Stored, keeps: Keeps) -> Iterator[Part]:
    family, width = read.family, read.number("hidden_size")
    heads = read.number("num_attention_heads")
    queries, kept = heads * keeps.key, keeps.kv_heads * keeps.key
    asked = queries * (2 if family.gated_query else 1)
    yield stored.linear("attention", "self_attn.q_proj", asked, width)
    yield stored.linear("attention", "self_attn.k_proj", kept, width, 2)
    yield stored.linear("attention", "self_attn.o_proj", width, queries)
    stated = read.flag("attention_bias")
    if family.qkv_bias if family.qkv_bias is not None else stated:
        yield stored.plain("attention", asked + 2 * kept, 3)
    if family.output_bias if family.output_bias is not None else stated:
        yield stored.plain("attention", width)
    if family.head_norms if family.head_norms is not None else read.flag("use_qk_norm"):
        yield stored.plain("norm", 2 * keeps.key, 2)
    if family.whole_norms:
        yield stored.plain("norm", queries + kept, 2)
    if family.sinks:
        yield stored.plain("attention", heads)


def _latent(read: Config, stored: Stored) -> Iterator[Part]:
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


def _indexer(read: Config, stored: Stored) -> Iterator[Part]:
    """Keys and queries by which the tokens to attend to are chosen: modeling_deepseek_v32.py, DeepseekV32Indexer.

    The weights of its heads are not quantised where the rest is: DeepSeek-V3.2-Exp's files have no scales for them.
    """
    width, heads, size = (
        read.number("hidden_size"),
        read.number("index_n_heads"),
        read.number("index_head_dim"),
    )
    yield stored.linear("attention", "self_attn.indexer.wq_b", heads * size, read.number("q_lora_rank"))
    yield stored.linear("attention", "self_attn.indexer.wk", size, width)
    yield stored.plain("norm", 2 * size, 2)
    yield stored.plain("attention", heads * width)


def _mixture(read: Config, stored: Stored, mixture: Mixture) -> Iterator[Part]:
    """One layer's experts; its router and shared experts are passed by every token, as a feed-forward."""
    width, count, inner = read.number("hidden_size"), read.number(mixture.count), read.number(mixture.width)
    latent = read.maybe("moe_latent_size") or 0
    entered = latent or width
    yield stored.linear(
        "experts", "mlp.experts.up_proj", inner, entered, (2 if read.family.gated else 1) * count
    )
    yield stored.linear("experts", "mlp.experts.down_proj", entered, inner, count)
    yield stored.plain("feed-forward", count * width)
    if latent:
        yield stored.plain("feed-forward", 2 * latent * width, 2)
    if mixture.router_bias:
        yield stored.plain("feed-forward", count)
        yield stored.plain("experts", count * (2 * inner + width), 2)
    if mixture.correction and read.said.get("topk_method", "noaux_tc") == "noaux_tc":
        yield Part("feed-forward", "f32", count, count * 4)
    yield from _shared(read, stored, mixture, inner)


def _shared(read: Config, stored: Stored, mixture: Mixture, inner: int) -> Iterator[Part]:
    """Experts that every token passes, beside those that it chooses."""
    if mixture.shared == "count":
        shared = (read.maybe("n_shared_experts") or 0) * inner
        if shared:
            yield from _feed(read, stored, "mlp.shared_experts", shared)
    elif mixture.shared == "width":
        yield from _feed(read, stored, "mlp.shared_expert", read.number("shared_expert_intermediate_size"))
        yield stored.plain("feed-forward", read.number("hidden_size"))
    elif mixture.shared == "one":
        yield from _feed(read, stored, "mlp.shared_expert", inner)
    elif mixture.shared == "wide":
        yield from _feed(
            read, stored, "mlp.shared_experts", read.number("moe_shared_expert_intermediate_size")
        )


def _feed(read: Config, stored: Stored, module: str, inner: int) -> Iterator[Part]:
    """A feed-forward: up and, where it is gated, a gate; then down."""
    width = read.number("hidden_size")
    yield stored.linear("feed-forward", f"{module}.up_proj", inner, width, 2 if read.family.gated else 1)
    yield stored.linear("feed-forward", f"{module}.down_proj", width, inner)


def draft_of(read: Config, stored: Stored, feed: Feed, keeps: Keeps, layers: int) -> Iterator[Part]:
    """Layers for multi-token prediction: each attends, and feeds forward as the last layer does, three norms, and the product of both inputs.

    Source: DeepSeek-V3, README_WEIGHTS.md: embedding and head are the main model's, and not counted again. The product is
    not quantised where the rest is: the files have as many numbers of fp8 as all other matrices, and not one more.
    """
    width = read.number("hidden_size")
    made = [
        *_layer(read, stored, Layer("attention", feed, indexer=read.family.indexer), keeps),
        stored.plain("norm", 3 * width, 3),
    ]
    made.append(stored.plain("draft", 2 * width * width))
    read.unknown.append(
        "whether the checkpoint stores embedding and head again for draft layers; they count once"
    )
    for part in made:
        yield Part("draft", part.type, part.elements * layers, part.bytes * layers, part.tensors * layers)
