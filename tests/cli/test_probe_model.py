"""hio probe model: the page, JSON, the kept shape; nothing is replaced, and whatever is wrong is one sentence."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.observe.little_gguf import llama_pairs, llama_tensors, model
from tests.small_repo import FILES, ROOM, SERVICE, capture, committed, write

from .console import hio, one_sentence

WHOLE = model(llama_pairs(), llama_tensors())
DIGEST = sha256(WHOLE).hexdigest()
CONFIG = {
    "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
    "vocab_size": 96, "torch_dtype": "float16",
}  # fmt: skip
KEEP = ("--service", SERVICE, "--write")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "little.gguf"
    path.write_bytes(WHOLE)
    return path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "Little-2L" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(CONFIG))
    return path


def test_a_page_anywhere(tmp_path: Path, file: Path) -> None:
    said = hio(tmp_path, "probe", "model", file)
    assert said.code == 0
    assert said.out.startswith("little: 86.34 k weights in 55.81 kB")
    assert "2 layers over all tokens: 2 heads of K and V" in said.out
    assert "not said: --service SITE/NAME" in said.out
    assert said.out.endswith("\nnothing was kept; --write keeps it\n")
    assert max(map(len, said.out.splitlines())) <= 80


def test_a_kept_shape_is_right_and_says_what_was_read(repo: Path, file: Path) -> None:
    said = hio(repo, "probe", "model", file, *KEEP, "--hash")
    path = f"{ROOM}/shapes/little.yaml"
    assert said.code == 0 and said.out.startswith("little: 86.34 k weights"), "what was read is seen, too"
    assert said.out.endswith(f"\n\nwrote {path}\n")
    text = (repo / path).read_text()
    assert f"service: {SERVICE}\nsource:\n  format: gguf\n  sha256: {DIGEST}\n" in text
    assert "  - {role: feed-forward, type: Q4_0, elements: 49152, bytes: 27648, tensors: 6}\n" in text
    assert "unknown" not in text
    assert hio(repo, "validate", path).code == 0


def test_the_only_service_need_not_be_named(repo: Path, file: Path) -> None:
    assert hio(repo, "probe", "model", file, "--write").out.endswith(f"\nwrote {ROOM}/shapes/little.yaml\n")
    other = "manifests/services/lab/other/stacks/base.yaml"
    write(repo, {other: FILES[f"{ROOM}/stacks/base.yaml"]})
    said = hio(repo, "probe", "model", file, "--write", "--name", "again")
    assert (said.code, "several services have documents" in one_sentence(said)) == (2, True)


def test_a_kept_shape_is_never_replaced(repo: Path, file: Path) -> None:
    hio(repo, "probe", "model", file, *KEEP)
    before = (repo / ROOM / "shapes/little.yaml").read_bytes()
    said = hio(repo, "probe", "model", file, *KEEP, "--hash")
    assert said.code == 1
    assert "shapes/little.yaml exists and is never replaced; give another --name" in one_sentence(said)
    assert (repo / ROOM / "shapes/little.yaml").read_bytes() == before


def test_a_config_is_kept_beside_its_shape(repo: Path, config: Path) -> None:
    said = hio(repo, "probe", "model", config, *KEEP)
    assert said.out.splitlines()[-2:] == [
        f"wrote {ROOM}/shapes/Little-2L.yaml",
        f"wrote {ROOM}/shapes/Little-2L.config.json",
    ]
    assert (repo / ROOM / "shapes/Little-2L.config.json").read_bytes() == config.read_bytes()
    assert hio(repo, "validate").code == 0
    (repo / ROOM / "shapes/Little-2L.yaml").unlink()
    again = hio(repo, "probe", "model", config, *KEEP)
    assert again.code == 1
    assert "Little-2L.config.json exists" in one_sentence(again)
    assert not (repo / ROOM / "shapes/Little-2L.yaml").exists()


@pytest.mark.parametrize("size", [len(WHOLE), len(WHOLE) + 1], ids=["same size", "another size"])
def test_the_digest_of_a_capture_that_names_the_file(repo: Path, file: Path, size: int) -> None:
    seen = f'    artifacts:\n      model: {{path: {file}, sha256: "{"a" * 64}", bytes: {size}, how: hash}}\n'
    write(repo, {f"{ROOM}/captures/c.yaml": capture("c", seen=seen)})
    answer = json.loads(hio(repo, "probe", "model", file, "--service", SERVICE, "--format", "json").out)
    same = size == len(WHOLE)
    assert answer["shape"]["source"].get("sha256") == ("a" * 64 if same else None)
    assert ("unknown" in answer["shape"]) is not same


def test_json(repo: Path, file: Path) -> None:
    answer = json.loads(hio(repo, "probe", "model", file, "--format", "json").out)
    assert (answer["version"], answer["wrote"], answer["file"]) == (1, [], str(file))
    assert "service" not in answer["shape"]
    assert answer["shape"]["attention"] == [{"layers": 2, "kv_heads": 2, "key_size": 16, "value_size": 16}]
    kept = json.loads(hio(repo, "probe", "model", file, *KEEP, "--format", "json").out)
    assert kept["wrote"] == [f"{ROOM}/shapes/little.yaml"]


def test_a_number_format_that_a_person_states_is_kept(repo: Path, config: Path) -> None:
    """The bytes of a shape follow from it, so that the shape says it, and the rule computes with it."""
    said = {key: value for key, value in CONFIG.items() if key != "torch_dtype"}
    config.write_text(json.dumps(said))
    assert hio(repo, "probe", "model", config, *KEEP, "--dtype", "float32").code == 0
    path = repo / ROOM / "shapes/Little-2L.yaml"
    assert "  dtype: float32\n" in path.read_text()
    assert hio(repo, "validate").code == 0
    path.write_text(path.read_text().replace("  dtype: float32\n", "  dtype: bfloat16\n"))
    assert "gives weights" in hio(repo, "validate").out


def test_what_config_json_says_is_not_stated_again(repo: Path, config: Path) -> None:
    assert (
        "dtype"
        not in json.loads(hio(repo, "probe", "model", config, "--format", "json").out)["shape"]["source"]
    )


WRONG = {
    "a number format of a GGUF file": (
        WHOLE,
        ("--dtype", "float16"),
        1,
        "says the number format of each tensor",
    ),
    "a cut file": (b"GGUF", (), 1, "the GGUF header is cut or wrong"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\n", (), 1, "a Git LFS pointer"),
    "an unknown model": (json.dumps({**CONFIG, "model_type": "novel"}).encode(), (), 3, "model_type 'novel'"),
    "no number format": (json.dumps({**CONFIG, "torch_dtype": None}).encode(), (), 3, "--dtype bfloat16"),
    "half a service": (WHOLE, ("--service", "lab"), 2, "a service is SITE/NAME, got lab"),
    "a name that is none": (WHOLE, ("--name", "a/b"), 2, "a/b"),
}


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_is_one_sentence(repo: Path, tmp_path: Path, name: str) -> None:
    raw, words, code, sentence = WRONG[name]
    (tmp_path / "model").write_bytes(raw)
    said = hio(repo, "probe", "model", tmp_path / "model", *words)
    assert (said.code, said.out) == (code, "")
    assert sentence in one_sentence(said)


def test_a_file_that_is_not_there(repo: Path) -> None:
    said = hio(repo, "probe", "model", "none.gguf")
    assert (said.code, one_sentence(said)) == (3, "hio: none.gguf cannot be read: No such file or directory")
