"""Model files: one file, shards, a config.json; a file that is none of these, or a part, is refused in a sentence."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from hio_validate.observe.hashing import HashCache, sha256_of
from hio_validate.observe.model_shape import read
from hio_validate.observe.refusal import Unobservable
from hio_validate.shaping.refusal import CannotShape, UnknownShape

from .little_gguf import llama_pairs, llama_tensors, model

WHOLE = model(llama_pairs(), llama_tensors())
CONFIG = {
    "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
    "vocab_size": 96, "torch_dtype": "float16",
}  # fmt: skip


def put(folder: Path, name: str, content: bytes | str) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def shards(folder: Path, count: int = 3, stem: str = "m") -> list[str]:
    """A model of two layers in `count` files."""
    tensors = llama_tensors()
    parts = [tensors[number::count] for number in range(count)]
    split = {"split.count": ("u16", count), "split.tensors.count": ("i32", len(tensors))}
    return [
        put(
            folder,
            f"{stem}-{number + 1:05d}-of-{count:05d}.gguf",
            model({**(llama_pairs() if not number else {}), **split, "split.no": ("u16", number)}, part),
        )
        for number, part in enumerate(parts)
    ]


def why_not(path: str, dtype: str | None = None) -> str:
    with pytest.raises((Unobservable, CannotShape)) as refused:
        read(path, dtype=dtype)
    assert "\n" not in refused.value.reason
    return refused.value.reason


def test_one_file(tmp_path: Path) -> None:
    path = put(tmp_path, "m.gguf", WHOLE)
    found = read(path)
    assert (found.path, found.size, found.sha256, found.config) == (path, len(WHOLE), None, None)
    assert found.shape.layers == 2


def test_a_digest_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, "m.gguf", WHOLE)
    assert (
        read(path, hasher=lambda file: sha256_of(file, HashCache(None))).sha256 == sha256(WHOLE).hexdigest()
    )


@pytest.mark.parametrize("given", [0, 2])
def test_any_shard_stands_for_the_model(tmp_path: Path, given: int) -> None:
    files = shards(tmp_path)
    found = read(files[given])
    whole = read(put(tmp_path, "whole.gguf", WHOLE))
    assert found.path == files[0]
    assert sorted(found.shape.parts, key=repr) == sorted(whole.shape.parts, key=repr)
    assert found.shape.attention == whole.shape.attention


def test_a_missing_shard_is_said(tmp_path: Path) -> None:
    files = shards(tmp_path)
    os.unlink(files[1])
    assert why_not(files[0]) == (
        "1 of its 3 shards are missing, the first one m-00002-of-00003.gguf: fetch them all"
    )


def test_a_shard_of_another_model_is_said(tmp_path: Path) -> None:
    files, others = shards(tmp_path), shards(tmp_path, 2, "n")
    os.replace(others[1], files[1])
    assert "a header says that it is shard 2 of 2, and by name it is 2 of 3" in why_not(files[0])


def test_shards_that_list_a_tensor_twice_or_too_few_are_said(tmp_path: Path) -> None:
    split = {"split.count": ("u16", 2), "split.tensors.count": ("i32", 99)}
    first = put(tmp_path, "m-00001-of-00002.gguf", model({**llama_pairs(), **split}, llama_tensors()))
    put(tmp_path, "m-00002-of-00002.gguf", model({**split, "split.no": ("u16", 1)}, llama_tensors()[:1]))
    assert why_not(first) == "two shards list the tensor 'token_embd.weight': they are not of one model"
    put(tmp_path, "m-00002-of-00002.gguf", model({**split, "split.no": ("u16", 1)}, []))
    assert why_not(first) == "the shards list 21 tensors: the first one says 99"


def test_a_renamed_shard_is_no_model(tmp_path: Path) -> None:
    os.rename(shards(tmp_path)[0], tmp_path / "m.gguf")
    assert "a header says that it is shard 1 of 3, and by name it is 1 of 1" in why_not(
        str(tmp_path / "m.gguf")
    )


def test_which_shard_is_wrong_is_said(tmp_path: Path) -> None:
    files = shards(tmp_path)
    raw = Path(files[1]).read_bytes()
    put(tmp_path, "m-00002-of-00003.gguf", raw[:-1])
    assert why_not(files[0]).startswith("its shard m-00002-of-00003.gguf: the file has ")
    put(tmp_path, "m-00002-of-00003.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert "its shard m-00002-of-00003.gguf is a Git LFS pointer" in why_not(files[0])


def test_a_config(tmp_path: Path) -> None:
    raw = json.dumps(CONFIG).encode()
    found = read(put(tmp_path, "config.json", raw))
    assert (found.size, found.sha256, found.config) == (len(raw), sha256(raw).hexdigest(), raw)
    assert found.shape.architecture == "llama"


HOSTILE = {
    "nothing": ("m.gguf", b"", "neither a GGUF file nor a config.json"),
    "another format": ("m.safetensors", b"\x08" + bytes(99), "give the config.json beside them"),
    "a pointer": ("m.gguf", b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
    "a pointer for a config": (
        "config.json",
        b"version https://git-lfs.github.com/spec/v1\n",
        "it is a Git LFS pointer",
    ),
    "a cut header": ("m.gguf", WHOLE[:100], "GGUF header"),
    "a cut file": ("m.gguf", WHOLE[:-1], "it was cut"),
    "cut JSON": ("config.json", b'{"model_type": ', "it is no JSON"),
    "no text": ("config.json", b"\xff\xfe{}", "it is no JSON"),
    "a key twice": ("config.json", b'{"a": 1, "a": 2}', "it states the key 'a' twice"),
    "a list": ("config.json", b"[1]", "it is JSON, and no object"),
    "deep": ("config.json", b"[" * 100_000, "it is no JSON"),
    "long": ("config.json", b" " * (5 << 20), "more than 4 MiB"),
    "shard zero": ("m-00000-of-00003.gguf", WHOLE, "named shard 0 of 3"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    file, raw, said = HOSTILE[name]
    assert said in why_not(put(tmp_path, file, raw))


def test_a_folder_and_a_pipe_are_no_model(tmp_path: Path) -> None:
    assert "it is a folder" in why_not(str(tmp_path))
    os.mkfifo(tmp_path / "m.gguf")
    with pytest.raises(OSError, match="not a regular file"):
        read(str(tmp_path / "m.gguf"))


def test_an_unknown_kind_is_told_apart_from_a_wrong_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownShape):
        read(put(tmp_path, "config.json", json.dumps({**CONFIG, "model_type": "novel"})))
