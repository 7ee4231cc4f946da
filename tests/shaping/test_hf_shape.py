"""Shapes from config.json: computed tensors against the counts that the models' publishers give."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.shaping.hf_families import FAMILIES
from hio_validate.shaping.hf_shape import shape_of
from hio_validate.shaping.read_shape import ReadShape
from hio_validate.shaping.refusal import CannotShape, UnknownShape


def config(
    kind: str, layers: int, width: int, inner: int, heads: int, kv_heads: int, words: int, **more: Any
) -> dict[str, Any]:
    return {
        "model_type": kind, "num_hidden_layers": layers, "hidden_size": width, "intermediate_size": inner,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "vocab_size": words, "torch_dtype": "bfloat16", **more,
    }  # fmt: skip


GEMMA, QWEN_MOE = {"head_dim": 256}, {"decoder_sparse_step": 1, "moe_intermediate_size": 768}
LATENT = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
V3 = config(
    "deepseek_v3", 61, 7168, 18432, 128, 128, 129280, **LATENT, q_lora_rank=1536, n_routed_experts=256, n_shared_experts=1,
    num_experts_per_tok=8, moe_intermediate_size=2048, first_k_dense_replace=3, moe_layer_freq=1, topk_method="noaux_tc",
    num_nextn_predict_layers=1, quantization_config={"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
)  # fmt: skip
OSS = config(
    "gpt_oss", 24, 2880, 2880, 64, 8, 201088, head_dim=64, num_local_experts=32, num_experts_per_tok=4, sliding_window=128,
    attention_bias=True,
    quantization_config={
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"],
    },
)  # fmt: skip
GLM = config(
    "glm4_moe", 46, 4096, 10944, 96, 8, 151552, head_dim=128, n_routed_experts=128, n_shared_experts=1, num_experts_per_tok=8,
    moe_intermediate_size=1408, first_k_dense_replace=1, attention_bias=True, num_nextn_predict_layers=1,
)  # fmt: skip
K2 = {
    **V3, "model_type": "kimi_k2", "num_attention_heads": 64, "num_key_value_heads": 64, "vocab_size": 163840,
    "n_routed_experts": 384, "first_k_dense_replace": 1, "num_nextn_predict_layers": 0,
}  # fmt: skip
LLAMA = config(
    "llama", 32, 4096, 14336, 32, 8, 128256, tie_word_embeddings=False, max_position_embeddings=131072
)

DELTA = {
    "head_dim": 256, "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
    "linear_value_head_dim": 128, "linear_num_key_heads": 16, "tie_word_embeddings": False,
}  # fmt: skip

PUBLISHED = {
    "Llama 3.1 8B": (8_030_261_248, LLAMA),
    "Llama 3.2 1B": (
        1_235_814_400,
        config("llama", 16, 2048, 8192, 32, 8, 128256, head_dim=64, tie_word_embeddings=True),
    ),
    "Mistral 7B v0.1": (7_241_732_096, config("mistral", 32, 4096, 14336, 32, 8, 32000, sliding_window=4096)),
    "Qwen2.5 7B": (7_615_616_512, config("qwen2", 28, 3584, 18944, 28, 4, 152064)),
    "Qwen3 8B": (8_190_735_360, config("qwen3", 36, 4096, 12288, 32, 8, 151936, head_dim=128)),
    "Qwen3 30B A3B": (
        30_532_122_624,
        config("qwen3_moe", 48, 2048, 6144, 32, 4, 151936, head_dim=128, num_experts=128, num_experts_per_tok=8, **QWEN_MOE),
    ),
    "Qwen1.5 MoE A2.7B": (
        14_315_784_192,
        config(
            "qwen2_moe", 24, 2048, 5632, 16, 16, 151936, num_experts=60, num_experts_per_tok=4,
            moe_intermediate_size=1408, shared_expert_intermediate_size=5632, decoder_sparse_step=1,
        ),
    ),
    "Gemma 2 9B": (9_241_705_984, config("gemma2", 42, 3584, 14336, 16, 8, 256000, **GEMMA)),
    "Gemma 2 27B": (27_227_128_320, config("gemma2", 46, 4608, 36864, 32, 16, 256000, head_dim=128)),
    "Gemma 3 270M": (268_098_176, config("gemma3_text", 18, 640, 2048, 4, 1, 262144, sliding_window=512, **GEMMA)),
    "Gemma 3 1B": (999_885_952, config("gemma3_text", 26, 1152, 6912, 4, 1, 262144, sliding_window=512, **GEMMA)),
    "Mixtral 8x7B": (
        46_702_792_704,
        config("mixtral", 32, 4096, 14336, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2),
    ),
    "Phi 3 mini": (3_821_079_552, config("phi3", 32, 3072, 8192, 32, 32, 32064, sliding_window=2047)),
    "Phi 4 mini": (
        3_836_021_760,
        config("phi3", 32, 3072, 8192, 24, 8, 200064, tie_word_embeddings=True, sliding_window=262144),
    ),
    "Phi 4": (14_659_507_200, config("phi3", 40, 5120, 17920, 40, 10, 100352, sliding_window=None)),
    "DeepSeek V2 Lite": (
        15_706_484_224,
        config(
            "deepseek_v2", 27, 2048, 10944, 16, 16, 102400, **LATENT, q_lora_rank=None, n_routed_experts=64, n_shared_experts=2,
            num_experts_per_tok=6, moe_intermediate_size=1408, first_k_dense_replace=1, moe_layer_freq=1,
        ),
    ),
    "DeepSeek V3, draft layer aside": (671_026_419_200, V3),
    "Kimi K2": (1_026_408_232_448, K2),
    "Mistral Small 24B": (23_572_403_200, config("mistral", 40, 5120, 32768, 32, 8, 131072, head_dim=128, sliding_window=None)),
    "Qwen3 Next 80B A3B, its draft layer aside": (
        79_674_391_296,
        config(
            "qwen3_next", 48, 2048, 5120, 16, 2, 151936, **DELTA, linear_num_value_heads=32, num_experts=512,
            num_experts_per_tok=10, moe_intermediate_size=512, shared_expert_intermediate_size=512, decoder_sparse_step=1,
            mlp_only_layers=[],
        ),
    ),
    "Qwen3.8 27B, vision and its draft layer aside": (
        26_895_998_464,
        config("qwen3_5_text", 64, 5120, 17408, 24, 4, 248320, **DELTA, linear_num_value_heads=48),
    ),
    "MiniMax M2": (
        228_689_764_864,
        config("minimax_m2", 62, 3072, 1536, 48, 8, 200064, head_dim=128, num_local_experts=256, num_experts_per_tok=8),
    ),
    "Llama 4 Scout, vision aside": (
        107_769_861_120,
        config(
            "llama4_text", 48, 5120, 8192, 40, 8, 202048, head_dim=128, intermediate_size_mlp=16384, num_local_experts=16,
            num_experts_per_tok=1, interleave_moe_layer_step=1, no_rope_layers=[], attention_chunk_size=8192,
        ),
    ),
    "Phi 3.5 MoE": (
        41_873_153_344,
        config(
            "phimoe", 32, 4096, 6400, 32, 8, 32064, num_local_experts=16, num_experts_per_tok=2, attention_bias=True,
            lm_head_bias=True, sliding_window=131072,
        ),
    ),
    "Granite 4.0 H Small": (
        32_207_337_984,
        config(
            "granitemoehybrid", 40, 4096, 768, 32, 8, 100352, num_local_experts=72, num_experts_per_tok=10,
            shared_intermediate_size=1536, mamba_n_heads=128, mamba_d_head=64, mamba_d_state=128, mamba_n_groups=1,
            mamba_d_conv=4, mamba_expand=2, mamba_conv_bias=True, mamba_proj_bias=False, tie_word_embeddings=True,
            layer_types=["attention" if layer in (5, 15, 25, 35) else "mamba" for layer in range(40)],
        ),
    ),
    "Nemotron Nano 9B v2": (
        8_888_227_328,
        config(
            "nemotron_h", 56, 4480, 15680, 40, 8, 131072, head_dim=128, ssm_state_size=128, conv_kernel=4, n_groups=8,
            mamba_num_heads=128, mamba_head_dim=80, use_conv_bias=True, use_bias=False,
            hybrid_override_pattern="M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
        ),
    ),
    "gpt-oss 20B": (20_914_757_184, OSS),
    "gpt-oss 120B": (116_829_156_672, {**OSS, "num_hidden_layers": 36, "num_local_experts": 128}),
}  # fmt: skip
"""Model -> (parameters as its publisher's weights have them, its dimensions)."""


def elements(found: ReadShape, *roles: str) -> int:
    return sum(
        part.elements for part in found.parts if (part.role in roles if roles else part.role != "draft")
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_parameters_are_those_of_the_published_weights(name: str) -> None:
    count, said = PUBLISHED[name]
    assert elements(shape_of(said)) == count


def test_every_family_is_held_against_a_published_count() -> None:
    held = {said["model_type"] for _, said in PUBLISHED.values()}
    assert set(FAMILIES) - held == {"gemma", "glm4_moe", "qwen3_5_moe_text", "deepseek_v32", "glm_moe_dsa"}


def test_gemma_is_held_too() -> None:
    """Gemma 2B has 2,506,172,416 parameters."""
    assert elements(shape_of(config("gemma", 18, 2048, 16384, 8, 1, 256000, head_dim=256))) == 2_506_172_416


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (110_468_824_832, {}),
        (
            358_337_791_296,
            {
                "num_hidden_layers": 92, "hidden_size": 5120, "intermediate_size": 12288, "moe_intermediate_size": 1536,
                "n_routed_experts": 160, "first_k_dense_replace": 3, "use_qk_norm": True,
            },
        ),
    ],
    ids=["GLM 4.5 Air", "GLM 4.5"],
)  # fmt: skip
def test_a_draft_layer_counts_without_the_tables_that_its_checkpoint_stores_again(
    count: int, more: dict[str, Any]
) -> None:
    """The files of GLM 4.6, of the dimensions of 4.5, do not: 356,785,898,816."""
    said = {**GLM, **more}
    found = shape_of(said)
    assert sum(part.elements for part in found.parts) == count - 2 * 151552 * said["hidden_size"]
    assert found.draft_layers == 1
    assert count - 2 * 151552 * 5120 == 356_785_898_816 or not more


def test_the_bytes_of_gpt_oss_20b_are_those_of_its_index() -> None:
    """model.safetensors.index.json of the published weights: total_size 13761264768."""
    found = shape_of(OSS)
    assert sum(part.bytes for part in found.parts) == 13_761_264_768
    assert {part.type for part in found.parts if part.role == "experts"} == {"mxfp4", "bf16"}
    assert {part.type for part in found.parts if part.role == "attention"} == {"bf16"}


def test_the_tensors_of_deepseek_v3_are_as_many_as_published() -> None:
    found = shape_of(V3)
    assert sum(part.tensors for part in found.parts if part.role != "draft") == 45_395
    assert found.draft_layers == 1
    assert found.layers == 61
    assert 11.5e9 < elements(found, "draft") < 11.7e9  # README_WEIGHTS.md: 11.5B of its own
    assert found.as_document()["experts"] == {"count": 256, "active": 8, "shared": 1}
    assert "whether the checkpoint stores embedding and head again" in found.unknown[-1]


def test_the_numbers_of_deepseek_v3_are_those_of_its_files() -> None:
    """The headers of its safetensors files, as the Hugging Face hub counts them: BF16 3,918,786,560, F8_E4M3
    680,571,043,840, F32 41,555,600. They have the tables of embedding and output again for the draft layer."""
    numbers: dict[str, int] = {}
    scales = 0
    for part in shape_of(V3).parts:
        numbers[part.type] = numbers.get(part.type, 0) + part.elements
        scales += (part.bytes - part.elements) // 4 if part.type == "fp8" else 0
    assert numbers["fp8"] == 680_571_043_840
    assert numbers["bf16"] + 2 * 129_280 * 7168 == 3_918_786_560
    assert numbers["f32"] + scales == 41_555_600


def test_the_bytes_of_kimi_k2_are_those_of_its_files_without_their_buffers() -> None:
    """The tensors of its files take 1,029,173,256,720 bytes: 112 bytes a layer more than its weights do. These are 56
    numbers a layer of buffers, which later revisions of the same weights have more of."""
    assert sum(part.bytes for part in shape_of(K2).parts) == 1_029_173_256_720 - 61 * 112


def test_blocks_of_fp8_have_a_scale_each() -> None:
    found = shape_of(V3)
    experts = [part for part in found.parts if part.role == "experts"]
    assert {part.type for part in experts} == {"fp8"}
    assert sum(part.bytes for part in experts) == elements(found, "experts") * (128 * 128 + 4) // (128 * 128)
    assert {part.type for part in found.parts if part.role == "embedding"} == {"bf16"}


def attention(said: dict[str, Any]) -> list[Any]:
    return list(shape_of(said).as_document()["attention"])


def test_a_latent_is_kept_once() -> None:
    assert attention(V3) == [
        {
            "layers": 61, "kv_heads": 1, "key_size": 576, "value_size": 0,
            "expanded_key_size": 192, "expanded_value_size": 128,
        }
    ]  # fmt: skip


def test_heads_that_are_shared() -> None:
    assert attention(LLAMA) == [{"layers": 32, "kv_heads": 8, "key_size": 128, "value_size": 128}]
    alone = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    assert attention(alone)[0]["kv_heads"] == 32


@pytest.mark.parametrize(
    ("said", "windows"),
    [
        (config("gemma3_text", 7, 640, 2048, 4, 1, 99, sliding_window=512, **GEMMA), [512] * 5 + [None, 512]),
        (config("gemma2", 3, 640, 2048, 4, 1, 99, **GEMMA), [4096, None, 4096]),
        (config("gpt_oss", 3, 64, 64, 4, 1, 99, head_dim=16, num_local_experts=4), [128, None, 128]),
        (config("mistral", 2, 64, 64, 4, 1, 99, sliding_window=4096), [4096, 4096]),
        (config("mistral", 2, 64, 64, 4, 1, 99, sliding_window=None), [None, None]),
        (config("qwen2", 3, 64, 64, 4, 1, 99, sliding_window=32, max_window_layers=2), [None] * 3),
        (
            config(
                "qwen2", 3, 64, 64, 4, 1, 99, sliding_window=32, max_window_layers=2, use_sliding_window=True
            ),
            [None, None, 32],
        ),
        (
            config(
                "qwen3",
                2,
                64,
                64,
                4,
                1,
                99,
                sliding_window=32,
                layer_types=["full_attention", "sliding_attention"],
            ),
            [None, 32],
        ),
    ],
    ids=["gemma3", "gemma2", "gpt-oss", "mistral", "mistral without", "qwen2 off", "qwen2 on", "layer types"],
)
def test_which_layers_look_back_a_window(said: dict[str, Any], windows: list[int | None]) -> None:
    assert [each.window for each in shape_of(said).attention] == windows


def test_what_the_reader_s_code_takes_is_said() -> None:
    found = shape_of({**config("gemma2", 2, 64, 64, 4, 2, 99), "head_dim": 16})
    assert found.unknown == (
        "sliding_window is not stated; 4096 is what transformers takes for this model_type",
    )


def test_a_text_model_within_another_one() -> None:
    text = {
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "sliding_window": 1024,
    }
    found = shape_of({"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": text})
    assert elements(found) == 3_880_263_168  # Gemma 3 4B without its vision tower
    assert (found.architecture, found.tied, found.vocabulary) == ("gemma3_text", True, 262_208)
    assert "what is beside the text model (vision, sound) is not counted" in found.unknown


@pytest.mark.parametrize("said", [{}, {"tie_word_embeddings": True}], ids=["by the model_type", "stated"])
def test_whether_the_table_is_read_again(said: dict[str, Any]) -> None:
    made = {key: value for key, value in LLAMA.items() if key != "tie_word_embeddings"} | said
    found = shape_of(made)
    assert found.tied is bool(said)
    assert elements(found, "output") == (0 if said else 128256 * 4096)


UNKNOWN = {
    "a model": (config("mamba2", 1, 64, 64, 4, 4, 99), "model_type 'mamba2' are not known here; known are"),
    "a layer": (
        config("qwen3", 1, 64, 64, 4, 4, 99, head_dim=16, layer_types=["linear_attention"]),
        "'linear_attention'",
    ),
    "no number format": (
        {k: v for k, v in LLAMA.items() if k != "torch_dtype"},
        "say the number format, e.g. --dtype",
    ),
    "a strange one": ({**LLAMA, "torch_dtype": "float5"}, "'float5' is not one of float32"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known_is_never_guessed(name: str) -> None:
    said, sentence = UNKNOWN[name]
    with pytest.raises(UnknownShape) as refused:
        shape_of(said)
    assert sentence in refused.value.reason


def test_a_number_format_that_a_person_says() -> None:
    found = shape_of({k: v for k, v in LLAMA.items() if k != "torch_dtype"}, "float16")
    assert {part.type for part in found.parts} == {"f16"}


WRONG = {
    "no config": ({"vocab": 1}, "it states no model_type"),
    "no layers": ({**LLAMA, "num_hidden_layers": 0}, "does not say num_hidden_layers"),
    "many layers": ({**LLAMA, "num_hidden_layers": 10**9}, "at most 4096"),
    "text": ({**LLAMA, "hidden_size": "wide"}, "hidden_size 'wide': expected a whole number"),
    "truth": ({**LLAMA, "hidden_size": True}, "expected a whole number"),
    "huge": ({**LLAMA, "hidden_size": 1 << 80}, "expected a whole number"),
    "negative": ({**LLAMA, "vocab_size": -1}, "expected a whole number"),
    "heads that do not divide": ({**LLAMA, "num_attention_heads": 33}, "do not divide 4096"),
    "heads that do not share": ({**LLAMA, "num_key_value_heads": 7}, "32 heads that share 7"),
    "more active": ({**V3, "num_experts_per_tok": 999}, "999 experts a token of 256"),
    "no text model": ({"model_type": "gemma3", "text_config": 3}, "has no text_config"),
    "a flag": ({**LLAMA, "attention_bias": "no"}, "expected true or false"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_in_one_sentence(name: str) -> None:
    said, sentence = WRONG[name]
    with pytest.raises(CannotShape) as refused:
        shape_of(said)
    assert not isinstance(refused.value, UnknownShape)
    assert sentence in refused.value.reason
    assert "\n" not in refused.value.reason
