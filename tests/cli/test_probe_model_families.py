"""hio probe model of whole configurations, with the keys that their publishers write: kept, judged, and as many numbers
as published.

Keys and values: config.json of deepseek-ai/DeepSeek-V3.2, Qwen/Qwen3.6-35B-A3B, moonshotai/Kimi-K2.5 and -K2-Thinking,
MiniMaxAI/MiniMax-M2, nvidia/NVIDIA-Nemotron-Nano-9B-v2 and ibm-granite/granite-4.0-h-small on the Hugging Face hub.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shaping.test_hf_layers import NANO, SMALL
from tests.small_repo import ROOM, SERVICE, committed

from .console import hio, one_sentence

V3_2: dict[str, Any] = {
    "architectures": ["DeepseekV32ForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 0,
    "eos_token_id": 1, "ep_size": 1, "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
    "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048, "initializer_range": 0.02, "intermediate_size": 18432,
    "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v32", "moe_intermediate_size": 2048,
    "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": True,
    "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "quantization_config": {
        "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "scale_fmt": "ue8m0", "weight_block_size": [128, 128],
    },
    "rms_norm_eps": 1e-06, "rope_scaling": {"beta_fast": 32, "factor": 40, "type": "yarn"}, "rope_theta": 10000,
    "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "tie_word_embeddings": False, "topk_group": 4,
    "topk_method": "noaux_tc", "torch_dtype": "bfloat16", "use_cache": True, "v_head_dim": 128, "vocab_size": 129280,
}  # fmt: skip
QWEN: dict[str, Any] = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"], "image_token_id": 248056, "model_type": "qwen3_5_moe",
    "text_config": {
        "attention_bias": False, "attn_output_gate": True, "dtype": "bfloat16", "full_attention_interval": 4, "head_dim": 256,
        "hidden_act": "silu", "hidden_size": 2048, "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 10,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32", "max_position_embeddings": 262144,
        "model_type": "qwen3_5_moe_text", "moe_intermediate_size": 512, "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False, "num_attention_heads": 16, "num_experts": 256, "num_experts_per_tok": 8,
        "num_hidden_layers": 40, "num_key_value_heads": 2, "output_router_logits": False, "pad_token_id": None,
        "partial_rotary_factor": 0.25, "rms_norm_eps": 1e-06, "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False, "use_cache": True, "vocab_size": 248320,
    },
    "tie_word_embeddings": False, "transformers_version": "4.57.1", "vision_config": {"depth": 27, "hidden_size": 1152},
}  # fmt: skip
THINKING: dict[str, Any] = {
    **{key: value for key, value in V3_2.items() if not key.startswith("index_")},
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2", "num_attention_heads": 64, "num_key_value_heads": 64,
    "vocab_size": 163840, "n_routed_experts": 384, "first_k_dense_replace": 1, "num_nextn_predict_layers": 0, "n_group": 1,
    "quantization_config": {
        "config_groups": {
            "group_0": {
                "input_activations": None, "output_activations": None, "targets": ["Linear"],
                "weights": {
                    "actorder": None, "block_structure": None, "dynamic": False, "group_size": 32, "num_bits": 4,
                    "observer": "minmax", "observer_kwargs": {}, "strategy": "group", "symmetric": True, "type": "int",
                },
            },
        },
        "format": "pack-quantized",
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"],
        "kv_cache_scheme": None, "quant_method": "compressed-tensors", "quantization_status": "compressed",
    },
}  # fmt: skip
MINIMAX: dict[str, Any] = {
    "architectures": ["MiniMaxM2ForCausalLM"], "attn_type_list": [1] * 62, "head_dim": 128, "hidden_size": 3072,
    "intermediate_size": 1536, "max_position_embeddings": 196608, "model_type": "minimax_m2", "mtp_transformer_layers": 1,
    "num_attention_heads": 48, "num_experts_per_tok": 8, "num_hidden_layers": 62, "num_key_value_heads": 8,
    "num_local_experts": 256, "num_mtp_modules": 3, "qk_norm_type": "per_layer", "rope_theta": 5000000, "rotary_dim": 64,
    "quantization_config": {
        "activation_scheme": "dynamic", "fmt": "float8_e4m3fn", "quant_method": "fp8", "weight_block_size": [128, 128],
        "modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"],
    },
    "scoring_func": "sigmoid", "shared_intermediate_size": 0, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    "use_mtp": True, "use_qk_norm": True, "use_routing_bias": True, "vocab_size": 200064,
}  # fmt: skip

WHOLE = {
    "DeepSeek-V3.2": (685_355_329_792 - 2 * 129_280 * 7168, V3_2),
    "Qwen3.6-35B-A3B": (35_951_822_704 - 446_571_248, QWEN),
    "Kimi-K2-Thinking": (1_026_408_232_448, THINKING),
    "Kimi-K2.5": (
        1_026_408_232_448,
        {"model_type": "kimi_k25", "dtype": "bfloat16", "text_config": THINKING},
    ),
    "MiniMax-M2": (228_689_764_864, MINIMAX),
    "Nemotron-Nano-9B-v2": (8_888_227_328, NANO),
    "granite-4.0-h-small": (32_207_337_984, SMALL),
}
"""Model -> (numbers that are published, tables that a file holds twice and vision aside; its config.json)."""


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_configuration_is_kept_and_right(tmp_path: Path, name: str) -> None:
    count, said = WHOLE[name]
    repo, config = committed(tmp_path / "repo"), tmp_path / name / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps(said))
    answer = json.loads(hio(repo, "probe", "model", config, "--format", "json").out)
    assert sum(each["elements"] for each in answer["shape"]["weights"]) == count
    assert hio(repo, "probe", "model", config, "--service", SERVICE, "--write").code == 0
    judged = hio(repo, "validate", f"{ROOM}/shapes/{name}.yaml")
    assert (judged.code, judged.err) == (0, "")


REFUSED = {
    "another model": ({**MINIMAX, "model_type": "minimax_m9"}, "the tensors of model_type 'minimax_m9' are not known here"),
    "another quantisation": ({**MINIMAX, "quantization_config": {"quant_method": "mxfp8"}}, "the method 'mxfp8'"),
    "a layer of another kind": (
        {**QWEN, "text_config": {**QWEN["text_config"], "layer_types": ["indexed_attention"] * 40}}, "'indexed_attention'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_one_sentence(tmp_path: Path, name: str) -> None:
    said, sentence = REFUSED[name]
    (tmp_path / "config.json").write_text(json.dumps(said))
    answer = hio(tmp_path, "probe", "model", "config.json")
    assert (answer.code, answer.out) == (3, "")
    assert sentence in one_sentence(answer)
