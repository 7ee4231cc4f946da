"""What a config.json leaves to the code that reads it, by `model_type`.

Source: transformers, src/transformers/models/<model_type>/configuration_*.py (defaults) and modeling_*.py (tensors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Mixture:
    """Keys of a mixture of experts, and what its layers have beside the experts."""

    count: str
    width: str
    """Key of an expert's width."""
    shared: Literal["none", "count", "width", "one", "beside", "wide"] = "none"
    """Shared experts: none; `n_shared_experts` of an expert's width; one of `shared_expert_intermediate_size`, with a
    gate; one of an expert's width; a feed-forward of `shared_intermediate_size` in every layer; one of
    `moe_shared_expert_intermediate_size`."""
    places: Literal["all", "step", "after-dense", "listed"] = "all"
    """Which layers: all; by decoder_sparse_step and mlp_only_layers; by first_k_dense_replace and moe_layer_freq; by
    moe_layers or interleave_moe_layer_step."""
    router_bias: bool = False
    """Router and experts have biases."""
    correction: bool = False
    """The router has one correction an expert (topk_method noaux_tc)."""
    may_have_none: bool = False
    """Whether the same code is built without experts, where the count is 0 or absent."""


@dataclass(frozen=True, slots=True)
class Mamba:
    """Keys of a Mamba2 mixer."""

    heads: str = "mamba_num_heads"
    head_size: str = "mamba_head_dim"
    state: str = "ssm_state_size"
    groups: str = "n_groups"
    kernel: str = "conv_kernel"
    conv_bias: str = "use_conv_bias"
    proj_bias: str = "use_bias"


@dataclass(frozen=True, slots=True)
class Family:
    """How one `model_type` is built."""

    tied: bool = False
    """Default of tie_word_embeddings."""
    norms: int = 2
    """Norms of the model's width a layer."""
    qkv_bias: bool | None = None
    """None: as attention_bias says (default: no)."""
    output_bias: bool | None = False
    """None: as attention_bias says."""
    head_norms: bool | None = False
    """Q and K are normalised a head; None: as use_qk_norm says (default: no)."""
    sinks: bool = False
    """One number a head beside the scores."""
    latent: bool = False
    """Multi-head latent attention: the compressed latent is kept."""
    whole_norms: bool = False
    """Q and K are normalised over all heads together."""
    norm_bias: bool = False
    """Norms have a bias, as LayerNorm has."""
    gated_query: bool = False
    """Q's product gives a gate as wide as Q, too."""
    dense: str = "intermediate_size"
    """Key of the width of a feed-forward that is no expert's."""
    gated: bool = True
    """A feed-forward has a gate beside up and down."""
    one_block: bool = False
    """A layer is a mixer or a feed-forward, not both, by hybrid_override_pattern or layers_block_type."""
    mixer: Literal["none", "delta", "mamba"] = "none"
    """What mixes tokens in layers that do not attend."""
    mamba: Mamba = Mamba()
    drafts: str | None = "num_nextn_predict_layers"
    """Key of the number of layers for multi-token prediction; None: config.json does not tell of those that the published
    weights have."""
    indexer: bool = False
    """An indexer chooses the index_topk tokens that a layer attends to."""
    windows: Literal["none", "all", "alternate", "pattern", "upper", "chunks"] = "none"
    """Which layers look back a window where layer_types is absent.

    all: every layer, where sliding_window is a number; alternate: the first of every two; pattern: all but the last of
    sliding_window_pattern; upper: from max_window_layers on, where use_sliding_window; chunks: layers with rotary positions
    (no_rope_layers), within chunks of attention_chunk_size.
    """
    mixture: Mixture | None = None
    defaults: Mapping[str, int] = field(default_factory=dict)
    """What is meant where a key is absent; without one here, the key has to be there."""


_DEEPSEEK = Mixture("n_routed_experts", "moe_intermediate_size", "count", "after-dense")
_DEEPSEEK_V3 = Mixture("n_routed_experts", "moe_intermediate_size", "count", "after-dense", correction=True)

_DELTA = {
    "num_key_value_heads": 4, "head_dim": 256, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
}  # fmt: skip

FAMILIES: dict[str, Family] = {
    "llama": Family(output_bias=None),
    "mistral": Family(qkv_bias=False, windows="all", defaults={"num_key_value_heads": 8}),
    "qwen2": Family(qkv_bias=True, windows="upper", defaults={"num_key_value_heads": 32, "max_window_layers": 28}),
    "qwen3": Family(
        output_bias=None, head_norms=True, windows="upper",
        defaults={"num_key_value_heads": 32, "head_dim": 128, "max_window_layers": 28},
    ),
    "gemma": Family(tied=True, output_bias=None, defaults={"num_key_value_heads": 16, "head_dim": 256}),
    "gemma2": Family(
        tied=True, norms=4, output_bias=None, windows="alternate",
        defaults={"num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096},
    ),
    "gemma3_text": Family(
        tied=True, norms=4, output_bias=None, head_norms=True, windows="pattern",
        defaults={
            "vocab_size": 262_208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
            "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096,
            "sliding_window_pattern": 6, "max_position_embeddings": 131_072,
        },
    ),
    "phi3": Family(qkv_bias=False, windows="all"),
    "mixtral": Family(
        qkv_bias=False, windows="all", mixture=Mixture("num_local_experts", "intermediate_size"),
        defaults={"num_key_value_heads": 8},
    ),
    "qwen2_moe": Family(
        qkv_bias=True, windows="upper",
        mixture=Mixture("num_experts", "moe_intermediate_size", "width", "step"),
        defaults={"num_key_value_heads": 16, "max_window_layers": 28, "decoder_sparse_step": 1},
    ),
    "qwen3_moe": Family(
        output_bias=None, head_norms=True, windows="upper",
        mixture=Mixture("num_experts", "moe_intermediate_size", "none", "step"),
        defaults={"num_key_value_heads": 4, "max_window_layers": 28, "decoder_sparse_step": 1},
    ),
    "gpt_oss": Family(
        qkv_bias=True, output_bias=True, sinks=True, windows="alternate",
        mixture=Mixture("num_local_experts", "intermediate_size", router_bias=True),
        defaults={"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128, "num_experts_per_tok": 4},
    ),
    "glm4_moe": Family(
        qkv_bias=None, head_norms=None,
        mixture=Mixture("n_routed_experts", "moe_intermediate_size", "count", "after-dense", correction=True),
        defaults={"num_key_value_heads": 8, "head_dim": 128, "first_k_dense_replace": 1, "moe_layer_freq": 1},
    ),
    "deepseek_v2": Family(
        qkv_bias=None, output_bias=None, latent=True, mixture=_DEEPSEEK, defaults={"first_k_dense_replace": 0, "moe_layer_freq": 1},
    ),
    "deepseek_v3": Family(
        qkv_bias=None, output_bias=None, latent=True, mixture=_DEEPSEEK_V3,
        defaults={"first_k_dense_replace": 3, "moe_layer_freq": 1},
    ),
    "deepseek_v32": Family(
        qkv_bias=None, output_bias=None, latent=True, indexer=True, mixture=_DEEPSEEK_V3,
        defaults={"first_k_dense_replace": 3, "moe_layer_freq": 1, "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 64},
    ),
    "glm_moe_dsa": Family(
        qkv_bias=None, output_bias=None, latent=True, indexer=True, mixture=_DEEPSEEK_V3,
        defaults={"first_k_dense_replace": 3, "moe_layer_freq": 1, "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 32},
    ),
    "qwen3_next": Family(
        qkv_bias=None, output_bias=None, head_norms=True, gated_query=True, mixer="delta", drafts=None,
        mixture=Mixture("num_experts", "moe_intermediate_size", "width", "step"),
        defaults={**_DELTA, "num_key_value_heads": 2, "decoder_sparse_step": 1},
    ),
    "qwen3_5_text": Family(
        qkv_bias=None, output_bias=None, head_norms=True, gated_query=True, mixer="delta", drafts="mtp_num_hidden_layers", defaults=_DELTA,
    ),
    "qwen3_5_moe_text": Family(
        qkv_bias=None, output_bias=None, head_norms=True, gated_query=True, mixer="delta", drafts="mtp_num_hidden_layers",
        mixture=Mixture("num_experts", "moe_intermediate_size", "width"),
        defaults={**_DELTA, "num_key_value_heads": 2},
    ),
    "minimax_m2": Family(
        qkv_bias=False, whole_norms=True,
        mixture=Mixture("num_local_experts", "intermediate_size", correction=True),
        defaults={"num_key_value_heads": 8, "head_dim": 128},
    ),
    "llama4_text": Family(
        output_bias=None, windows="chunks", dense="intermediate_size_mlp",
        mixture=Mixture("num_local_experts", "intermediate_size", "one", "listed", may_have_none=True),
        defaults={
            "num_key_value_heads": 8, "head_dim": 128, "attention_chunk_size": 8192, "no_rope_layer_interval": 4,
            "interleave_moe_layer_step": 1, "num_experts_per_tok": 1, "num_local_experts": 16,
        },
    ),
    "phimoe": Family(
        output_bias=None, norm_bias=True, mixture=Mixture("num_local_experts", "intermediate_size"),
        defaults={"num_key_value_heads": 8, "num_local_experts": 16, "num_experts_per_tok": 2},
    ),
    "granitemoehybrid": Family(
        output_bias=None, mixer="mamba",
        mixture=Mixture("num_local_experts", "intermediate_size", "beside", may_have_none=True),
        mamba=Mamba(
            "mamba_n_heads", "mamba_d_head", "mamba_d_state", "mamba_n_groups", "mamba_d_conv", "mamba_conv_bias", "mamba_proj_bias",
        ),
        defaults={"mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2, "num_local_experts": 8, "num_experts_per_tok": 2},
    ),
    "nemotron_h": Family(
        norms=1, gated=False, one_block=True, mixer="mamba", qkv_bias=False,
        mixture=Mixture("n_routed_experts", "moe_intermediate_size", "wide", correction=True, may_have_none=True),
        defaults={"num_key_value_heads": 8, "head_dim": 128, "n_groups": 8, "conv_kernel": 4, "ssm_state_size": 128},
    ),
}  # fmt: skip
"""`model_type` of a text model -> how it is built."""

SAME_AS = {"kimi_k2": "deepseek_v3"}
"""`model_type` that is read by another one's code (modeling_deepseek.py beside the weights says so)."""

NESTED = {
    "gemma3": "gemma3_text", "kimi_k25": "kimi_k2", "llama4": "llama4_text", "mistral3": "mistral", "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
}  # fmt: skip
"""`model_type` that puts its text model into text_config -> the text model's type where it does not say it."""
