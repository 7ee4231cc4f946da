"""Layers that are not all alike, and layers without K and V: counts that publishers give, states, kinds by layer."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.shaping.hf_shape import shape_of
from hio_validate.shaping.refusal import CannotShape, UnknownShape

from .test_hf_shape import DELTA, GLM, K2, OSS, PUBLISHED, V3, config, elements

NEXT = PUBLISHED["Qwen3 Next 80B A3B, its draft layer aside"][1]
QWEN_3_8 = PUBLISHED["Qwen3.8 27B, vision and its draft layer aside"][1]
SMALL = PUBLISHED["Granite 4.0 H Small"][1]
NANO = PUBLISHED["Nemotron Nano 9B v2"][1]
SCOUT = PUBLISHED["Llama 4 Scout, vision aside"][1]


def attention(said: dict[str, Any]) -> list[Any]:
    return list(shape_of(said).as_document()["attention"])


def whole_layer(said: dict[str, Any]) -> int:
    """Numbers of one layer that attends."""
    one, two = (
        elements(shape_of({**said, "num_hidden_layers": layers, "full_attention_interval": 1}))
        for layers in (1, 2)
    )
    return two - one


def test_the_files_of_qwen3_next_have_one_draft_layer_more() -> None:
    """81,324,862,720 numbers: beside the model a layer that attends, a product of both inputs, and three norms."""
    assert elements(shape_of(NEXT)) + whole_layer(NEXT) + 2 * 2048**2 + 3 * 2048 == 81_324_862_720
    assert (
        "layers for multi-token prediction, which config.json does not tell of" in shape_of(NEXT).unknown[-1]
    )


def test_the_files_of_qwen3_8_have_a_vision_tower_more() -> None:
    """27,781,427,952 numbers with one draft layer; the tower's, after modeling_qwen3_5.py, are 460,730,096."""
    found = shape_of({**QWEN_3_8, "mtp_num_hidden_layers": 1})
    assert sum(part.elements for part in found.parts) + 460_730_096 == 27_781_427_952
    assert found.draft_layers == 1
    assert elements(found, "draft") == whole_layer(QWEN_3_8) + 2 * 5120**2 + 3 * 5120


def test_a_mixture_of_qwen3_5() -> None:
    """Qwen3.6 35B A3B: 35,951,822,704 numbers with one draft layer; its vision tower has 446,571,248 of them."""
    text = config(
        "qwen3_5_moe_text", 40, 2048, 0, 16, 2, 248320, **DELTA, linear_num_value_heads=32, num_experts=256,
        num_experts_per_tok=8, moe_intermediate_size=512, shared_expert_intermediate_size=512, mtp_num_hidden_layers=1,
    )  # fmt: skip
    del text["intermediate_size"]
    found = shape_of({"model_type": "qwen3_5_moe", "text_config": text, "tie_word_embeddings": False})
    assert sum(part.elements for part in found.parts) + 446_571_248 == 35_951_822_704


def test_the_files_of_llama_4_scout_have_a_vision_tower_more() -> None:
    """108,641,793,536 numbers; those of the tower and its projector, after modeling_llama4.py, are 871,932,416."""
    assert elements(shape_of(SCOUT)) + 871_932_416 == 108_641_793_536


INDEXED = {key: value for key, value in V3.items() if key != "model_type"} | {
    "model_type": "deepseek_v32", "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048,
}  # fmt: skip
GLM_5 = config(
    "glm_moe_dsa", 78, 6144, 12288, 64, 64, 154880, head_dim=64, q_lora_rank=2048, kv_lora_rank=512, qk_nope_head_dim=192,
    qk_rope_head_dim=64, v_head_dim=256, n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8,
    moe_intermediate_size=2048, first_k_dense_replace=3, moe_layer_freq=1, topk_method="noaux_tc", num_nextn_predict_layers=1,
    index_head_dim=128, index_n_heads=32, index_topk=2048,
)  # fmt: skip


def test_layers_that_attend_to_what_an_indexer_chooses() -> None:
    """DeepSeek-V3.2: 685,355,329,792 numbers with the tables that its files hold again for the draft layer, and V3.2-Exp
    with its scales 685,396,921,376; GLM 5.1: 753,864,139,008."""
    found = shape_of(INDEXED)
    assert sum(part.elements for part in found.parts) + 2 * 129_280 * 7168 == 685_355_329_792
    scales = sum(part.bytes - part.elements for part in found.parts if part.type == "fp8") // 4
    assert 685_355_329_792 + scales == 685_396_921_376
    assert sum(part.elements for part in shape_of(GLM_5).parts) == 753_864_139_008
    assert {(each.key, each.window) for each in found.attention} == {(576, 2048)}
    assert any("2048 tokens that an indexer chooses" in each for each in found.unknown)


@pytest.mark.parametrize(
    "said",
    [
        {"indexer_types": ["full"] * 3 + (["shared"] * 3 + ["full"]) * 18 + ["shared"] * 3},
        {"index_topk_pattern": "FFF" + "SSSF" * 18 + "SSS"},
        {"index_topk_freq": 4, "index_skip_topk_offset": 3},
    ],
    ids=["by layer", "by letter", "by number"],
)
def test_layers_that_take_what_another_one_s_indexer_chose(said: dict[str, Any]) -> None:
    """GLM 5.3: 753,329,940,480 numbers, 57 indexers fewer than GLM 5.1."""
    found = shape_of({**GLM_5, **said})
    assert sum(part.elements for part in found.parts) == 753_329_940_480


ACTIVE = {
    "gpt-oss 20B": (3.61, OSS),
    "gpt-oss 120B": (5.13, {**OSS, "num_hidden_layers": 36, "num_local_experts": 128}),
    "DeepSeek V3": (37, V3),
    "Kimi K2": (32, K2),
    "GLM 4.5 Air": (12, GLM),
    "Mixtral 8x7B": (13, PUBLISHED["Mixtral 8x7B"][1]),
    "Qwen3 30B A3B": (3, PUBLISHED["Qwen3 30B A3B"][1]),
    "Qwen3 Next 80B A3B": (3, NEXT),
    "MiniMax M2": (10, PUBLISHED["MiniMax M2"][1]),
    "Llama 4 Scout": (17, SCOUT),
    "Phi 3.5 MoE": (6.6, PUBLISHED["Phi 3.5 MoE"][1]),
    "Granite 4.0 H Small": (9, SMALL),
}
"""Model -> (thousand millions of parameters that a token passes, as its publisher says; its dimensions)."""


@pytest.mark.parametrize("name", ACTIVE)
def test_the_parameters_that_a_token_passes_are_those_that_are_published(name: str) -> None:
    """Publishers count the tables of embedding and output, one of them, or none."""
    published, said = ACTIVE[name]
    found = shape_of(said)
    assert found.experts is not None
    passed = elements(found, "attention", "feed-forward", "norm")
    passed += elements(found, "experts") * found.experts.active // found.experts.count
    table, output = elements(found, "embedding"), elements(found, "output")
    digits = len(str(published).partition(".")[2])
    assert published in {
        round(each / 1e9, digits) for each in (passed, passed + output, passed + output + table)
    }


# 32 heads of 128 x 128, and three columns of 2 * 16 * 128 + 32 * 128 numbers before the convolution
_OF_NEXT = 32 * 128 * 128 + 3 * 8192
# 128 heads of 64 x 128, and three columns of 8192 + 2 * 128
_OF_SMALL = 8192 * 128 + 3 * 8448
# 128 heads of 80 x 128, and three columns of 10240 + 2 * 8 * 128
_OF_NANO = 10240 * 128 + 3 * 12288
# 48 heads of 128 x 128, and three columns of 2 * 16 * 128 + 48 * 128
_OF_QWEN_3_8 = 48 * 128 * 128 + 3 * 10240


@pytest.mark.parametrize(
    ("said", "carrying", "attending", "state", "without"),
    [
        (NEXT, 36, (12, 2, 256), _OF_NEXT, 0),
        (SMALL, 36, (4, 8, 128), _OF_SMALL, 0),
        (NANO, 27, (4, 8, 128), _OF_NANO, 25),
        (QWEN_3_8, 48, (16, 4, 256), _OF_QWEN_3_8, 0),
    ],
    ids=["qwen3-next", "granite", "nemotron-h", "qwen3.8"],
)
def test_layers_that_carry_a_state_of_fixed_size(
    said: dict[str, Any], carrying: int, attending: tuple[int, int, int], state: int, without: int
) -> None:
    """The sizes are those of the published configurations; layers of a feed-forward alone keep nothing."""
    layers, heads, size = attending
    nothing = {"kv_heads": 0, "key_size": 0, "value_size": 0}
    found = attention(said)
    assert {"layers": carrying, **nothing, "state": state} in found
    assert {"layers": layers, "kv_heads": heads, "key_size": size, "value_size": size} in found
    assert [each["layers"] for each in found if not each["kv_heads"] and "state" not in each] == (
        [without] if without else []
    )
    assert not any("carry a state" in each for each in shape_of(said).unknown)


def test_layers_that_attend_within_chunks() -> None:
    told = {**SCOUT, "num_hidden_layers": 4}
    kept = [8192, 8192, 8192, None]
    assert [each.window for each in shape_of(told).attention] == kept
    assert [each.window for each in shape_of({**told, "no_rope_layers": [1, 0, 0, 1]}).attention] == [
        8192,
        None,
        None,
        8192,
    ]
    assert attention(told)[0] == {
        "layers": 3, "kv_heads": 8, "key_size": 128, "value_size": 128, "window": 8192, "chunked": True,
    }  # fmt: skip


def test_mixtures_in_some_layers_only() -> None:
    """Llama 4 Maverick has experts in every second layer: 400,711,848,960 numbers without vision."""
    maverick = {**SCOUT, "num_local_experts": 128, "interleave_moe_layer_step": 2}
    assert elements(shape_of(maverick)) == 400_711_848_960
    assert shape_of({**maverick, "moe_layers": list(range(1, 48, 2))}).parts == shape_of(maverick).parts


def test_a_granite_without_experts_is_none() -> None:
    found = shape_of({**SMALL, "num_local_experts": 0, "num_experts_per_tok": 0})
    assert found.experts is None
    assert elements(found, "experts") == 0
    assert elements(found, "feed-forward") == 40 * 3 * 4096 * 1536


def test_a_nemotron_with_experts() -> None:
    """Nemotron 3 Nano 30B A3B: 31,577,937,344 numbers, and for its routers a correction of 128 in each of 23 layers."""
    said = config(
        "nemotron_h", 52, 2688, 1856, 32, 2, 131072, head_dim=128, mamba_num_heads=64, mamba_head_dim=64, ssm_state_size=128,
        n_groups=8, conv_kernel=4, use_conv_bias=True, n_routed_experts=128, num_experts_per_tok=6, n_shared_experts=1,
        moe_intermediate_size=1856, moe_shared_expert_intermediate_size=3712,
        hybrid_override_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    )  # fmt: skip
    assert elements(shape_of(said)) == 31_577_937_344 + 23 * 128


def test_kinds_by_name_say_the_same_as_letters() -> None:
    names = {"M": "mamba", "*": "attention", "-": "mlp"}
    listed = {key: value for key, value in NANO.items() if key != "hybrid_override_pattern"}
    listed["layers_block_type"] = [names[letter] for letter in NANO["hybrid_override_pattern"]]
    assert shape_of(listed) == shape_of(NANO)
    del listed["num_hidden_layers"]
    assert shape_of(listed) == shape_of(NANO)


WRONG = {
    "letters of other layers": ({**NANO, "num_hidden_layers": 57}, CannotShape, "states 57 layers and names the kinds of 56"),
    "a letter": ({**NANO, "hybrid_override_pattern": "X" * 56}, UnknownShape, "of the kind 'X'"),
    "no kinds": ({**NANO, "hybrid_override_pattern": None}, CannotShape, "names the kinds of 0"),
    "kinds of other layers": ({**SMALL, "layer_types": ["mamba"]}, CannotShape, "no list with one kind for each"),
    "a state that no code has": ({**OSS, "layer_types": ["mamba"] * 24}, UnknownShape, "names 'mamba'"),
    "indexers of other layers": ({**GLM_5, "indexer_types": ["full", "shared"]}, CannotShape, "whether each has an indexer"),
    "heads that do not divide": ({**SMALL, "mamba_d_head": "auto", "mamba_n_heads": 7}, CannotShape, "expected a divisor"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_in_one_sentence(name: str) -> None:
    said, kind, sentence = WRONG[name]
    with pytest.raises(CannotShape) as refused:
        shape_of(said)
    assert type(refused.value) is kind
    assert sentence in refused.value.reason


def test_a_head_size_that_follows_from_the_width() -> None:
    assert shape_of({**SMALL, "mamba_d_head": "auto"}) == shape_of(SMALL)
