"""Shapes from GGUF headers: roles, layers by how they attend, experts, drafts; what is not told is said."""

from __future__ import annotations

import io
from typing import Any

import pytest

from hio_validate.observe.gguf_shape import shape_of
from hio_validate.observe.gguf_tensors import contents
from hio_validate.observe.gguf_windows import NOT_WINDOWED, WINDOWED
from hio_validate.observe.refusal import Unobservable
from hio_validate.shaping.read_shape import ReadShape

from .gguf_writer import Array
from .little_gguf import F32, HEADS, KV, Q4_0, SIZE, WIDTH, WORDS, T, llama_pairs, llama_tensors, model


def shape(pairs: dict[str, Any], tensors: list[T]) -> ReadShape:
    return shape_of([contents(io.BytesIO(model(pairs, tensors)))])


def attention(pairs: dict[str, Any], tensors: list[T]) -> Any:
    return shape(pairs, tensors).as_document()["attention"]


def array(kind: str, *values: Any) -> tuple[str, Array]:
    return ("arr", Array(kind, list(values)))


def test_a_small_llama_whole() -> None:
    found = shape(llama_pairs(), llama_tensors())
    assert found.as_document() == {
        "architecture": "llama", "layers": 2, "embedding": 64, "heads": 4, "vocabulary": 96, "context": 512, "tied": False,
        "attention": [{"layers": 2, "kv_heads": 2, "key_size": 16, "value_size": 16}],
        "weights": [
            {"role": "embedding", "type": "Q8_0", "elements": 6144, "bytes": 6528, "tensors": 1},
            {"role": "norm", "type": "F32", "elements": 320, "bytes": 1280, "tensors": 5},
            {"role": "attention", "type": "Q4_0", "elements": 24576, "bytes": 13824, "tensors": 8},
            {"role": "feed-forward", "type": "Q4_0", "elements": 49152, "bytes": 27648, "tensors": 6},
            {"role": "output", "type": "Q8_0", "elements": 6144, "bytes": 6528, "tensors": 1},
        ],
    }  # fmt: skip


def test_the_parts_are_all_tensors() -> None:
    tensors = llama_tensors()
    found = shape(llama_pairs(), tensors)
    assert sum(part.bytes for part in found.parts) == sum(each.bytes for each in tensors)
    assert len(found.parts) == len(tensors)


def test_without_an_output_the_table_is_read_again() -> None:
    assert shape(llama_pairs(), llama_tensors(output=False)).tied is True


WINDOW = {"attention__sliding_window": 512}


@pytest.mark.parametrize(
    ("architecture", "windows"),
    [
        ("gemma3", [512, 512, 512, 512, 512, None, 512, 512]),
        ("gemma3n", [512, 512, 512, 512, None, 512, 512, 512]),
        ("gemma2", [512, None, 512, None, 512, None, 512, None]),
        ("gpt-oss", [512, None, 512, None, 512, None, 512, None]),
        ("cohere2", [512, 512, 512, None, 512, 512, 512, None]),
        ("llama4", [8192, 8192, 8192, None, 8192, 8192, 8192, None]),
        ("smallthinker", [None, 4096, 4096, 4096, None, 4096, 4096, 4096]),
        ("cohere2moe", [None, 512, 512, 512, None, 512, 512, 512]),
        ("exaone-moe", [512, 512, 512, None, 512, 512, 512, None]),
        ("gemma-embedding", [512, 512, 512, 512, 512, None, 512, 512]),
        ("laguna", [None, 512, 512, 512, None, 512, 512, 512]),
        ("lfm2", [512] * 8),
        ("mellum", [512, 512, 512, None, 512, 512, 512, None]),
        ("modern-bert", [None, 512, 512, None, 512, 512, None, 512]),
        ("muse-glimmer", [512, 512, 512, None, 512, 512, 512, None]),
        ("afmoe", [512, 512, 512, None, 512, 512, 512, None]),
        ("olmo2", [512, 512, 512, None, 512, 512, 512, None]),
        ("plamo3", [512, 512, 512, 512, 512, 512, 512, None]),
        ("exaone4", [None] * 8),
        ("llama", [None] * 8),
        ("phi3", [None] * 8),
        ("qwen3next", [None] * 8),
    ],
)
def test_which_layers_look_back_a_window(architecture: str, windows: list[int | None]) -> None:
    found = shape(llama_pairs(8, architecture, **WINDOW), llama_tensors(8))
    assert [each.window for each in found.attention] == windows
    assert not found.unknown
    chunked = [each.chunked and each.window is not None for each in found.attention]
    assert chunked == [architecture == "llama4" and window is not None for window in windows]


@pytest.mark.parametrize(
    ("architecture", "stated", "window"),
    [
        ("gemma2", {}, 4096), ("gemma2", WINDOW, 512), ("llama4", {}, 8192), ("smallthinker", {}, None), ("gemma3", {}, None),
        ("smallthinker", WINDOW, 4096), ("llama4", {"attention__sliding_window": 0}, None), ("exaone-moe", {}, 128),
    ],
)  # fmt: skip
def test_a_window_that_is_compiled_in(architecture: str, stated: dict[str, int], window: int | None) -> None:
    assert (
        shape(llama_pairs(2, architecture, **stated), llama_tensors())
        .attention[1 if architecture == "smallthinker" else 0]
        .window
        == window
    )


def test_a_pattern_that_holds_for_one_size_only() -> None:
    """src/models/exaone4.cpp: the 32B model, of 64 layers, has windows; the 1.2B model has none."""
    large = shape(llama_pairs(64, "exaone4"), llama_tensors(64)).attention
    assert [each.window for each in large] == [4096, 4096, 4096, None] * 16


def test_a_pattern_of_nothing_is_all_layers() -> None:
    """src/llama-hparams.cpp, set_swa_pattern: a period of 0 is every layer, one of 1 is none."""
    of = lambda every: llama_pairs(2, "gemma3", **WINDOW, attention__sliding_window_pattern=every)  # noqa: E731
    assert [each.window for each in shape(of(0), llama_tensors()).attention] == [512, 512]
    assert [each.window for each in shape(of(1), llama_tensors()).attention] == [None, None]


def test_no_architecture_is_in_both_tables() -> None:
    assert not set(WINDOWED) & NOT_WINDOWED


def test_layers_that_attend_in_a_way_that_is_not_known_are_said() -> None:
    """deepseek4 makes K and V by attn_kv, and compresses them: what is kept follows from no number of the header."""
    named = [
        T(each.name.replace("attn_k.", "attn_kv."), each.dimensions, each.type) if ".attn_k." in each.name else each
        for each in llama_tensors()
    ]  # fmt: skip
    found = shape(llama_pairs(2, "deepseek4"), named)
    assert [each.kv_heads for each in found.attention] == [0, 0]
    assert "2 of 2 layers attend by tensors that are not known here" in found.unknown[0]


def test_keys_of_an_indexer_are_said() -> None:
    more = T("blk.0.indexer.k_proj.weight", (WIDTH, SIZE), F32)
    found = shape(llama_pairs(), [*llama_tensors(), more])
    assert found.unknown == ("keys that an indexer keeps to choose what is attended to are not counted",)


LATENT = {
    "attention__head_count": HEADS, "attention__head_count_kv": 1, "attention__key_length": 12,
    "attention__key_length_mla": 24, "attention__value_length_mla": 16, "attention__indexer__top_k": 2048,
}  # fmt: skip


@pytest.mark.parametrize(
    ("architecture", "chosen"), [("deepseek32", 2048), ("glm-dsa", 2048), ("hy-v4", None)]
)
def test_what_an_indexer_chooses_is_read_and_all_is_kept(architecture: str, chosen: int | None) -> None:
    """Of an architecture whose choice is not known here the whole context counts, which is the most."""
    tensors = [*llama_tensors(), T("blk.0.indexer.attn_k.weight", (WIDTH, SIZE), F32)]
    kept = attention(llama_pairs(2, architecture, **LATENT), tensors)[0]
    assert kept["layers"] == 2
    assert (kept.get("window"), kept.get("chosen", False)) == (chosen, chosen is not None)


def test_a_file_with_the_key_and_without_an_indexer_reads_all() -> None:
    kept = attention(llama_pairs(2, "deepseek32", **LATENT), llama_tensors())[0]
    assert "window" not in kept and "chosen" not in kept


STATES: dict[str, tuple[str, dict[str, int], int]] = {
    # tests/shaping has the same sizes from a config.json: 32 heads of 128 x 128, three columns of 8192
    "qwen3next": ("ssm_a", {"ssm__inner_size": 4096, "ssm__state_size": 128, "ssm__group_count": 16,
                                "ssm__conv_kernel": 4}, 4096 * 128 + 3 * 8192),
    "mamba": ("ssm_in.weight", {"ssm__inner_size": 128, "ssm__state_size": 16, "ssm__conv_kernel": 4},
              128 * 16 + 3 * 128),
    "rwkv6": ("time_mix_w0.weight", {"wkv__head_size": 64}, WIDTH * (2 + 64)),
    "arwkv7": ("time_mix_w0.weight", {"wkv__head_size": 64, "token_shift_count": 1}, WIDTH * (1 + 64)),
    "lfm2": ("shortconv.conv.weight", {"shortconv__l_cache": 3}, WIDTH * 2),
    "kimi-linear": ("ssm_conv1d_q.weight", {"kda__head_dim": 16, "ssm__conv_kernel": 4},
                    3 * 3 * HEADS * 16 + 16 * 16 * HEADS),
}  # fmt: skip


@pytest.mark.parametrize("architecture", STATES)
def test_the_state_that_a_layer_carries(architecture: str) -> None:
    """n_embd_r + n_embd_s of llama.cpp's src/llama-hparams.cpp."""
    name, keys, numbers = STATES[architecture]
    tensors = [each for each in llama_tensors() if not each.name.startswith("blk.0.attn_")]
    found = shape(llama_pairs(2, architecture, **keys), [*tensors, T(f"blk.0.{name}", (SIZE, 2), F32)])
    assert [each.state for each in found.attention] == [numbers, 0]
    assert [each.kv_heads for each in found.attention] == [0, KV]
    assert not any("state" in each for each in found.unknown)


def test_a_layer_that_attends_and_carries_a_state_has_both() -> None:
    keys = STATES["mamba"][1]
    tensors = [*llama_tensors(), T("blk.0.ssm_in.weight", (WIDTH, 8), F32)]
    found = shape(llama_pairs(2, "falcon-h1", **keys), tensors)
    assert [(each.kv_heads, each.state) for each in found.attention] == [(KV, 128 * 16 + 3 * 128), (KV, 0)]


def test_a_pattern_in_the_file_goes_before_the_compiled_one() -> None:
    every = llama_pairs(4, "gemma3", **WINDOW, attention__sliding_window_pattern=2)
    assert [each.window for each in shape(every, llama_tensors(4)).attention] == [512, None, 512, None]
    told = llama_pairs(
        4, "gemma4", **WINDOW, attention__sliding_window_pattern=array("bool", True, True, False, True),
        attention__key_length=32, attention__value_length=32, attention__key_length_swa=16, attention__value_length_swa=8,
        attention__shared_kv_layers=1,
    )  # fmt: skip
    found = shape(told, llama_tensors(4))
    assert [(each.window, each.key, each.value) for each in found.attention] == [
        (512, 16, 8), (512, 16, 8), (None, 32, 32), (None, 0, 0),
    ]  # fmt: skip
    assert "1 of 4 layers read the K/V of earlier ones again" in found.unknown[0]


def test_a_window_of_an_architecture_that_is_not_known_is_said() -> None:
    found = shape(llama_pairs(2, "novel", **WINDOW), llama_tensors())
    assert [each.window for each in found.attention] == [None, None]
    assert found.unknown == (
        "which layers look back 512 tokens only: counted as looking back at all, which is the most",
    )


def test_heads_one_a_layer() -> None:
    pairs = llama_pairs(
        attention__head_count=array("u32", 4, 8), attention__head_count_kv=array("u32", 2, 0), attention__key_length=16,
        attention__value_length=16,
    )  # fmt: skip
    found = shape(pairs, llama_tensors())
    assert found.heads == 8
    assert [each.kv_heads for each in found.attention] == [2, 0]


def test_heads_that_nobody_divides_are_all_of_them() -> None:
    pairs = llama_pairs()
    del pairs["llama.attention.head_count_kv"]
    assert attention(pairs, llama_tensors()) == [
        {"layers": 2, "kv_heads": 4, "key_size": 16, "value_size": 16}
    ]


def test_a_latent_is_kept_once_where_the_file_is_made_for_it() -> None:
    sizes = {"attention__key_length": 576, "attention__value_length": 512, "attention__kv_lora_rank": 512}
    compressed = llama_pairs(
        2, "deepseek2", **sizes, attention__key_length_mla=192, attention__head_count_kv=1
    )
    latent = {"layers": 2, "kv_heads": 1, "key_size": 576, "value_size": 0}
    assert attention(compressed, llama_tensors()) == [latent]
    told = {**compressed, "deepseek2.attention.value_length_mla": ("u32", 128)}
    expanded = {"expanded_key_size": 192, "expanded_value_size": 128}
    assert attention(told, llama_tensors()) == [{**latent, **expanded}]
    whole = llama_pairs(
        2, "deepseek2", **{**sizes, "attention__key_length": 192, "attention__value_length": 128}
    )
    assert attention(whole, llama_tensors()) == [
        {"layers": 2, "kv_heads": KV, "key_size": 192, "value_size": 128}
    ]


def test_recurrent_layers_keep_no_kv() -> None:
    tensors = [each for each in llama_tensors() if not each.name.startswith("blk.0.attn_")]
    tensors += [T("blk.0.attn_qkv.weight", (WIDTH, WIDTH), Q4_0), T("blk.0.ssm_a", (SIZE,), F32)]
    found = shape(llama_pairs(2, "qwen3next"), tensors)
    assert [each.kv_heads for each in found.attention] == [0, 2]
    assert [each.state for each in found.attention] == [0, 0]
    assert found.unknown == (
        "1 of 2 layers carry a state of fixed size, which the file does not tell: it is not counted",
    )
    assert {part.role for part in found.parts if part.elements == SIZE} == {"attention"}


def test_fused_attention_keeps_kv() -> None:
    tensors = [each for each in llama_tensors() if ".attn_k." not in each.name]
    tensors += [T(f"blk.{layer}.attn_qkv.weight", (WIDTH, WIDTH), Q4_0) for layer in range(2)]
    assert attention(llama_pairs(2, "phi3"), tensors)[0]["layers"] == 2


def test_a_model_without_attention_needs_no_heads() -> None:
    pairs = llama_pairs(1, "mamba")
    del pairs["mamba.attention.head_count"], pairs["mamba.attention.head_count_kv"]
    found = shape(
        pairs, [T("token_embd.weight", (WIDTH, WORDS), F32), T("blk.0.ssm_in.weight", (WIDTH, 8), F32)]
    )
    assert (found.heads, [each.kv_heads for each in found.attention]) == (None, [0])


def test_a_gemma3n_keeps_kv_in_its_first_twenty_layers() -> None:
    tensors = [*llama_tensors(30, output=False), T("per_layer_token_embd.weight", (96, WORDS), Q4_0)]
    found = shape(llama_pairs(30, "gemma3n", **WINDOW), tensors)
    assert [each.kv_heads for each in found.attention] == [KV] * 20 + [0] * 10
    roles = {part.elements: part.role for part in found.parts}
    assert (roles[WIDTH * WORDS], roles[96 * WORDS], found.tied) == ("output", "embedding", False)


def test_experts_with_router_and_shared_ones() -> None:
    more = [
        T("blk.1.ffn_gate_inp.weight", (WIDTH, 8), F32), T("blk.1.exp_probs_b.bias", (9,), F32),
        T("blk.1.ffn_up_exps.weight", (WIDTH, 32, 8), Q4_0), T("blk.1.ffn_up_shexp.weight", (WIDTH, 31), Q4_0),
        T("blk.1.ffn_norm_exps.weight", (7,), F32),
    ]  # fmt: skip
    found = shape(
        llama_pairs(2, "qwen2moe", expert_count=8, expert_used_count=2, expert_shared_count=1),
        llama_tensors() + more,
    )
    assert found.as_document()["experts"] == {"count": 8, "active": 2, "shared": 1}
    roles = {part.elements: part.role for part in found.parts}
    assert [roles[size] for size in (WIDTH * 8, 9, WIDTH * 32 * 8, WIDTH * 31, 7)] == [
        "feed-forward", "feed-forward", "experts", "feed-forward", "norm",
    ]  # fmt: skip


def test_draft_layers_are_the_last_ones_and_no_layers_of_the_model() -> None:
    tensors = [*llama_tensors(3), T("blk.2.nextn.eh_proj.weight", (2 * WIDTH, WIDTH), Q4_0)]
    found = shape(llama_pairs(3, "glm4moe", nextn_predict_layers=1), tensors)
    assert (found.layers, found.draft_layers, len(found.attention)) == (2, 1, 2)
    assert sum(part.role == "draft" for part in found.parts) == 10


def test_a_file_of_draft_layers_alone_is_a_model() -> None:
    found = shape(llama_pairs(2, "gemma4-assistant", nextn_predict_layers=2), llama_tensors())
    assert (found.layers, found.draft_layers, {part.role for part in found.parts} & {"draft"}) == (
        2,
        0,
        set(),
    )


PAIRS = llama_pairs()
WRONG = {
    "no architecture": ({"llama.block_count": ("u32", 2)}, "general.architecture is None"),
    "a projector": (
        {"general.architecture": ("str", "clip")},
        "clip.block_count is missing: it is no language model",
    ),
    "no layers": (llama_pairs(0), "llama.block_count is 0"),
    "more layers than anybody has": (llama_pairs(10**6), "expected 1 to 4096"),
    "more draft": (llama_pairs(2, nextn_predict_layers=3), "with 3 draft layers among them"),
    "a number that is text": (llama_pairs(block_count=("str", "two")), "llama.block_count is 'two'"),
    "a negative one": (llama_pairs(attention__head_count=("i32", -4)), "is -4: expected a whole number"),
    "fewer heads than layers": (llama_pairs(attention__head_count=array("u32", 4)), "has 1 numbers"),
    "more active than there are": (llama_pairs(expert_count=2, expert_used_count=3), "is 3 of 2 experts"),
    "none active": (llama_pairs(expert_count=2), "is None of 2 experts"),
    "no head size": ({k: v for k, v in PAIRS.items() if "embedding" not in k}, "key_length is missing"),
    "no heads": ({k: v for k, v in PAIRS.items() if "head_count" not in k}, "head_count is missing"),
    "no latent": (llama_pairs(attention__key_length_mla=192), "key_length is missing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_contradicts_itself_is_refused_in_one_sentence(name: str) -> None:
    pairs, said = WRONG[name]
    with pytest.raises(Unobservable) as refused:
        shape(pairs, llama_tensors())
    assert said in refused.value.reason
    assert "\n" not in refused.value.reason


def test_a_vocabulary_alone_is_no_model() -> None:
    with pytest.raises(Unobservable, match="lists no tensors"):
        shape(PAIRS, [])
