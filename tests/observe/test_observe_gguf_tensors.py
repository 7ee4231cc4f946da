"""The tensors a GGUF header lists: read back, held against llama.cpp's own package, and refused where they cannot be."""

from __future__ import annotations

import io
import os
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.formats import BLOCKS
from hio_validate.observe.gguf_tensors import TYPES, Tensor, contents
from hio_validate.observe.refusal import Unobservable

from .gguf_writer import Array, gguf
from .little_gguf import F16, F32, Q4_0, Q8_0, T, llama_pairs, llama_tensors, model

PAIRS = llama_pairs()
WHOLE = model(PAIRS, llama_tensors())
LAB = Path(os.environ.get("HIO_LAB", "/opt/hio-lab"), "model/gemma-3-270m-q4-k-m.gguf")


def read(raw: bytes) -> Any:
    return contents(io.BytesIO(raw))


def test_tensors_as_they_are_listed() -> None:
    found = read(model(PAIRS, [T("a", (64, 3), Q4_0), T("b", (5,), F32)]))
    assert found.tensors == (
        Tensor("a", "Q4_0", (64, 3), 192, 192 // 32 * 18),
        Tensor("b", "F32", (5,), 5, 20),
    )
    assert found.facts["llama.block_count"] == 2


def test_a_big_endian_file_lists_the_same() -> None:
    assert read(model(PAIRS, llama_tensors(), order=">")) == read(WHOLE)


def test_numbers_one_a_layer_are_kept() -> None:
    pairs = llama_pairs(
        attention__head_count_kv=("arr", Array("u32", [2, 0])), scale=("arr", Array("f32", [1.0]))
    )
    assert read(model(pairs, llama_tensors())).by_layer == {"llama.attention.head_count_kv": (2, 0)}


def test_the_sizes_of_types_are_those_of_the_format_s_own_package() -> None:
    constants = pytest.importorskip("gguf.constants")
    theirs = {int(kind): (kind.name, *size) for kind, size in constants.GGML_QUANT_SIZES.items()}
    theirs[9] = ("Q8_1", 32, 36)  # 40 in packages before it was mended; ggml-common.h has said 36 for longer
    ours = {number: (name, *BLOCKS[name.lower()]) for number, name in TYPES.items()}
    assert {number: ours.get(number) for number in theirs} == theirs


@pytest.mark.skipif(not LAB.exists(), reason="no model file on this machine")
def test_a_real_file_lists_what_the_format_s_own_reader_lists() -> None:
    reader = pytest.importorskip("gguf").GGUFReader(LAB)
    with LAB.open("rb") as file:
        begun = time.process_time()
        found = contents(file)
        assert time.process_time() - begun < 5  # the header alone; its 262,144 words are passed over
    assert [(each.name, each.type, each.dimensions, each.elements, each.bytes) for each in found.tensors] == [
        (each.name, each.tensor_type.name, tuple(int(size) for size in each.shape), int(each.n_elements), int(each.n_bytes))
        for each in reader.tensors
    ]  # fmt: skip


def _info(name: bytes, rank: int, dimensions: tuple[int, ...], kind: int, offset: int) -> bytes:
    return (
        struct.pack("<Q", len(name)) + name + struct.pack("<I", rank)
        + struct.pack(f"<{len(dimensions)}Q", *dimensions) + struct.pack("<IQ", kind, offset)
    )  # fmt: skip


HUGE = 1 << 62
HOSTILE = {
    "no GGUF": (b"PK\x03\x04" + bytes(100), "not a GGUF file"),
    "nothing": (b"", "magic"),
    "two alike": (model(PAIRS, [T("a", (4,), F32), T("a", (4,), F32)]), "lists the tensor 'a' twice"),
    "one within another": (
        model(PAIRS, [T("a", (64,), F32), T("b", (64,), F32, offset=0)]),
        "'b' stands at 0: expected 256",
    ),
    "a gap": (model(PAIRS, [T("a", (64,), F32), T("b", (64,), F32, offset=1 << 40)]), "expected 256"),
    "data cut": (WHOLE[:-1], "it was cut; fetch it again"),
    "more tensors than fit": (gguf(PAIRS, tensors=1 << 20) + bytes(64), "'tensors' do not fit in the file"),
    "more tensors than anybody has": (gguf(PAIRS, tensors=HUGE) + bytes(64), "tensors: at most 1048576"),
    "a name without end": (gguf(PAIRS, 1) + struct.pack("<Q", HUGE) + bytes(99), "a tensor name of"),
    "a name of nothing": (gguf(PAIRS, 1) + bytes(64), "a tensor name of 0 bytes"),
    "no dimensions": (gguf(PAIRS, 1) + _info(b"a", 0, (), F32, 0) + bytes(64), "has 0 dimensions"),
    "many dimensions": (gguf(PAIRS, 1) + _info(b"a", 9, (1,), F32, 0) + bytes(64), "has 9 dimensions"),
    "an empty one": (gguf(PAIRS, 1) + _info(b"a", 1, (0,), F32, 0) + bytes(64), "rows of 0"),
    "a huge one": (gguf(PAIRS, 1) + _info(b"a", 2, (HUGE, HUGE), F32, 0) + bytes(64), "it was cut"),
    "half a block": (gguf(PAIRS, 1) + _info(b"a", 1, (33,), Q8_0, 0) + bytes(64), "Q8_0 has blocks of 32"),
    "an unknown type": (gguf(PAIRS, 1) + _info(b"a", 1, (4,), 99, 0) + bytes(64), "the type 99"),
    "an alignment of three": (
        model({**PAIRS, "general.alignment": ("u32", 3)}, llama_tensors()),
        "general.alignment is 3: expected a power of two",
    ),
    "many numbers": (
        model(llama_pairs(attention__head_count=("arr", Array("u8", [1] * 5000))), llama_tensors()),
        "5000 numbers",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_is_refused_in_one_sentence(name: str) -> None:
    raw, said = HOSTILE[name]
    tracemalloc.start()
    try:
        with pytest.raises(Unobservable) as refused:
            read(raw)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert said in refused.value.reason
    assert "\n" not in refused.value.reason


@given(st.integers(0, len(WHOLE) - 1))
def test_every_cut_is_refused(length: int) -> None:
    with pytest.raises(Unobservable):
        read(WHOLE[:length])


@given(st.binary(min_size=1, max_size=40), st.integers(0, len(WHOLE) - 1))
def test_noise_is_contents_or_one_sentence(noise: bytes, at: int) -> None:
    raw = bytearray(WHOLE)
    raw[at : at + len(noise)] = noise
    try:
        found = read(bytes(raw))
    except Unobservable as refused:
        assert "\n" not in refused.reason
    else:
        assert sum(each.bytes for each in found.tensors) <= len(raw)


@given(st.lists(st.text(max_size=300), max_size=40), st.integers(0, 3))
def test_words_of_any_length_are_passed_over(words: list[str], before: int) -> None:
    pairs = {
        "tokenizer.ggml.tokens": ("str", "x"),
        **PAIRS,
        "tokenizer.ggml.merges": ("arr", Array("str", words)),
    }
    pairs |= {f"llama.expert_{key}": ("u32", 1) for key in ("count", "used_count", "shared_count")[:before]}
    pairs["tokenizer.ggml.tokens"] = ("arr", Array("str", ["é" * 70_000, *words]))
    found = read(model(pairs, [T("a", (4, 2), F16)]))
    assert [each.name for each in found.tensors] == ["a"]
    assert found.facts["llama.block_count"] == 2
    assert not any(key.startswith("tokenizer.") for key in found.facts)


@given(
    st.lists(
        st.tuples(st.sampled_from([F32, F16, Q4_0, Q8_0]), st.integers(1, 6), st.integers(1, 5)),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from("<>"),
)
def test_what_is_written_is_listed(made: list[tuple[int, int, int]], order: str) -> None:
    tensors = [T(f"t{number}", (32 * wide, high), kind) for number, (kind, wide, high) in enumerate(made)]
    found = read(model(PAIRS, tensors, order))
    assert [(each.name, each.dimensions, each.bytes) for each in found.tensors] == [
        (each.name, each.dimensions, each.bytes) for each in tensors
    ]
