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
    shared: Literal["none", "count", "width"] = "none"
    """Shared experts: none, `n_shared_experts` of an expert's width, or one of `shared_expert_intermediate_size`."""
    places: Literal["all", "step", "after-dense"] = "all"
    """Which layers: all; by decoder_sparse_step and mlp_only_layers; by first_k_dense_replace and moe_layer_freq."""
    router_bias: bool = False
    """Router and experts have biases."""
    correction: bool = False
    """The router has one correction an expert (topk_method noaux_tc)."""


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
    windows: Literal["none", "all", "alternate", "pattern", "upper"] = "none"
    """Which layers look back a window where layer_types is absent.

    all: every layer, where sliding_window is a number; alternate: the first of every two; pattern: all but the last of
    sliding_window_pattern; upper: from max_window_layers on, where use_sliding_window.
    """
    mixture: Mixture | None = None
    defaults: Mapping[str, int] = field(default_factory=dict)
    """What is meant where a key is absent; without one here, the key has to be there."""


_DEEPSEEK = Mixture("n_routed_experts", "moe_intermediate_size", "count", "after-dense")

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
        qkv_bias=None, output_bias=None, latent=True,
        mixture=Mixture("n_routed_experts", "moe_intermediate_size", "count", "after-dense", correction=True),
        defaults={"first_k_dense_replace": 3, "moe_layer_freq": 1},
    ),
}  # fmt: skip
"""`model_type` of a text model -> how it is built."""

SAME_AS = {"kimi_k2": "deepseek_v3"}
"""`model_type` that is read by another one's code (modeling_deepseek.py beside the weights says so)."""

NESTED = {"gemma3": "gemma3_text", "mistral3": "mistral"}
"""`model_type` that puts its text model into text_config -> the text model's type where it does not say it."""
