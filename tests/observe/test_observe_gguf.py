"""GGUF headers: what is written reads back, and no header costs more than its file."""

from __future__ import annotations

import hashlib
import io
import struct
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.gguf import Shard, header_facts, shard_of, why_not_a_model
from hio_validate.observe.refusal import Unobservable

from .gguf_writer import Array, gguf

MODEL: dict[str, tuple[str, Any]] = {
    "general.architecture": ("str", "tiny"),
    "general.name": ("str", "Tiny 1"),
    "general.file_type": ("u32", 15),
    "tiny.context_length": ("u32", 4096),
    "tiny.block_count": ("u32", 2),
    "general.sampling.temp": ("f32", 0.5),
    "tokenizer.ggml.model": ("str", "gpt2"),
    "tokenizer.ggml.tokens": ("arr", Array("str", ["<s>", "hé", ""])),
    "tokenizer.ggml.scores": ("arr", Array("f32", [1.0, 2.0, 3.0])),
    "tokenizer.chat_template": ("str", "{{ messages }}"),
    "tokenizer.chat_template.tool_use": ("str", "{{ tools }}"),
    "split.count": ("u16", 2),
}


def facts(raw: bytes) -> dict[str, Any]:
    return header_facts(io.BytesIO(raw))


def test_the_facts_of_a_model() -> None:
    tokens = b"".join(len(raw).to_bytes(8, "little") + raw for raw in (b"<s>", "hé".encode(), b""))
    assert facts(gguf(MODEL, tensors=7) + b"tensors") == {
        "version": 3,
        "tensor_count": 7,
        "general.architecture": "tiny",
        "general.name": "Tiny 1",
        "general.file_type": 15,
        "quantisation": "Q4_K_M",
        "tiny.context_length": 4096,
        "general.sampling.temp": 0.5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens.sha256": hashlib.sha256(tokens).hexdigest(),
        "tokenizer.ggml.tokens.count": 3,
        "tokenizer.chat_template.sha256": hashlib.sha256(b"{{ messages }}").hexdigest(),
        "tokenizer.chat_template.tool_use.sha256": hashlib.sha256(b"{{ tools }}").hexdigest(),
        "split.count": 2,
    }


def test_a_big_endian_file_says_the_same() -> None:
    assert facts(gguf(MODEL, order=">")) == facts(gguf(MODEL))


@pytest.mark.parametrize(("number", "name"), [(0, "F32"), (1024 + 7, "Q8_0"), (99, "file type 99")])
def test_quantisation_names(number: int, name: str) -> None:
    assert facts(gguf({"general.file_type": ("u32", number)}))["quantisation"] == name


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.one_of(
    st.tuples(st.just("u8"), st.integers(0, 255)),
    st.tuples(st.just("i16"), st.integers(-(2**15), 2**15 - 1)),
    st.tuples(st.just("u32"), st.integers(0, 2**32 - 1)),
    st.tuples(st.just("i64"), st.integers(-(2**53), 2**53)),
    st.tuples(st.just("f32"), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    st.tuples(st.just("f64"), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just("bool"), st.booleans()),
    st.tuples(st.just("str"), TEXT),
)
ARRAYS = st.one_of(
    st.builds(Array, st.just("str"), st.lists(TEXT, max_size=5)),
    st.builds(Array, st.just("u32"), st.lists(st.integers(0, 9), max_size=5)),
    st.builds(Array, st.just("bool"), st.lists(st.booleans(), max_size=5)),
).map(lambda array: ("arr", array))
NAMES = st.text("abc", min_size=1, max_size=5)


@given(
    st.dictionaries(NAMES, VALUES),
    st.dictionaries(NAMES, VALUES | ARRAYS),
    st.sampled_from("<>"),
    st.integers(2, 3),
)
def test_what_is_written_reads_back(
    kept: dict[str, Any], others: dict[str, Any], order: str, version: int
) -> None:
    named = {f"general.sampling.{name}": value for name, value in kept.items()}
    found = facts(gguf({**others, **named}, version=version, order=order))
    assert found == {
        "version": version,
        "tensor_count": 0,
        **{name: value for name, (_, value) in named.items()},
    }


@given(st.data())
def test_every_cut_is_refused_with_a_sentence(data: st.DataObject) -> None:
    whole = gguf(MODEL)
    length = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(Unobservable, match="GGUF"):
        facts(whole[:length])


@given(st.binary(max_size=200), st.integers(0, 400))
def test_noise_is_facts_or_one_sentence(noise: bytes, at: int) -> None:
    whole = bytearray(gguf(MODEL))
    whole[at : at + len(noise)] = noise
    try:
        facts(bytes(whole))
    except Unobservable as refused:
        assert "\n" not in refused.reason


HUGE = 2**62


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "do not fit"),
        (b"PK\3\4" + bytes(40), "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, HUGE), f"claims {HUGE} pairs"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", HUGE) + bytes(40),
            f"key of {HUGE} bytes",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"k", 13) + bytes(40),
            "unknown type 13",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIQ", 1, b"k", 8, HUGE) + bytes(40),
            "do not fit",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 8, HUGE) + bytes(40),
            "strings in 'k'",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 4, HUGE) + bytes(40),
            "do not fit",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 9, 1) + bytes(40),
            "nests an array",
        ),
    ],
)
def test_hostile_headers_are_refused_cheaply(raw: bytes, told: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Unobservable, match=told):
            facts(raw)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_key_stated_twice_is_refused() -> None:
    once = gguf({"general.name": ("str", "a")})
    twice = once[:16] + struct.pack("<Q", 2) + once[24:] * 2
    with pytest.raises(Unobservable, match=r"states 'general\.name' twice"):
        facts(twice)


def test_numbers_no_document_can_carry_are_text_or_left_out() -> None:
    found = facts(gguf({"general.sampling.a": ("u64", 2**63), "general.sampling.b": ("f32", float("nan"))}))
    assert found["general.sampling.a"] == str(2**63)
    assert "general.sampling.b" not in found


def test_a_pointer_and_a_shard_are_no_model() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n"
    assert "Git LFS pointer" in (why_not_a_model("m.gguf", pointer) or "")
    assert why_not_a_model("/m-00001-of-00003.gguf", b"GGUF") == "shard 1 of 3 alone is not the model"
    assert why_not_a_model("/m-00001-of-00001.gguf", b"GGUF") is None
    assert why_not_a_model("/m.gguf", b"GGUF") is None
    assert shard_of("/a/m-00002-of-00003.gguf") == Shard("/a/m", 2, 3)
