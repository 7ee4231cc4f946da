"""hio probe engine: what is refused before anything is measured, and the page without --yes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.small_repo import FILES, ROOM, SERVICE, committed, sha

ENGINE = "manifests/engines/llama-server/b1/engine.yaml"
SHAPE = (
    f"hio: shape/v1\nname: s1\nservice: {SERVICE}\nsource: {{format: stated, says: a test}}\nembedding: 512\n"
    "weights:\n"
    "  - {role: norm, type: F32, elements: 512, bytes: 2048}\n"
    "  - {role: attention, type: Q4_K, elements: 1024, bytes: 576}\n"
    "  - {role: feed-forward, type: Q6_K, elements: 2048, bytes: 1680}\n"
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose build has libraries on this host, by their recorded bytes."""
    build = tmp_path / "build"
    build.mkdir()
    for name, content in {"server": "p", "libggml-base.so.1": "base", "libggml-cpu.so.1": "cpu"}.items():
        (build / name).write_text(content)
    identity = (
        f"identity:\n  kind: native\n  libraries: {{libggml-base.so.1: {sha('base')}, "
        f"libggml-cpu.so.1: {sha('cpu')}}}\n"
    )
    site = f"hio: site/v1\nname: lab\nprograms: {{b1: {build / 'server'}}}\n"
    more = {ENGINE: FILES[ENGINE] + identity, "manifests/sites/lab.yaml": site}
    return committed(tmp_path / "repo", {**FILES, **more, f"{ROOM}/shapes/s1.yaml": SHAPE})


def test_without_yes_it_says_what_it_would_measure(repo: Path) -> None:
    said = hio(repo, "probe", "engine", "b1", "--threads", "1", "--threads", "2")
    assert said.code == 0, said.all
    assert "  formats: Q6_K, Q4_K\n  threads: 1, 2\n" in said.out
    assert "  matvec:  1 MB of weights, rows of 512 numbers, by 1, 2, 4, 8, 16 vectors\n" in said.out
    assert "  matmul:  a block of 1 MB by 32, 128, 512 vectors\n" in said.out
    assert said.out.endswith("nothing has happened yet; add --yes to measure, and --write to keep it\n")
    assert all(len(line) <= 80 for line in said.out.splitlines() if "library" not in line)


def test_the_page_as_json(repo: Path) -> None:
    said = hio(repo, "probe", "engine", "b1", "--dtype", "Q5_0", "--format", "json")
    shape = json.loads(said.out)
    assert (said.code, shape["version"], shape["ceilings"], shape["wrote"]) == (0, 1, None, None)
    assert shape["would_measure"]["dtypes"] == ["Q5_0"]
    assert shape["would_measure"]["vectors"] == [1, 2, 4, 8, 16, 32, 128, 512]


def test_a_count_that_is_asked_for_is_measured_too(repo: Path) -> None:
    said = hio(
        repo, "probe", "engine", "b1", "--vectors", "11", "--vectors", "3", "--vectors", "8", "--tokens", "64"
    )
    assert said.code == 0, said.all
    assert "by 1, 2, 3, 4, 8, 11, 16 vectors\n" in said.out
    assert "by 32, 64 vectors\n" in said.out


def test_libraries_that_cannot_be_loaded_measure_nothing(repo: Path) -> None:
    said = hio(repo, "probe", "engine", "b1", "--yes", "--write")
    assert said.code == 3
    assert "the build's libraries cannot be used" in said.err
    assert not (repo / "manifests/ceilings").exists()


def test_a_replaced_library_is_not_loaded(repo: Path) -> None:
    (repo.parent / "build/libggml-cpu.so.1").write_text("other")
    said = hio(repo, "probe", "engine", "b1", "--yes")
    assert said.code == 3
    assert "libggml-cpu.so.1 is of another build: expected sha256" in one_sentence(said)


def test_a_family_without_kernels_to_call_is_one_sentence(repo: Path) -> None:
    path = repo / ENGINE
    path.write_text(path.read_text().replace("family: llama-server", "family: vllm"))
    said = hio(repo, "probe", "engine", "b1")
    assert said.code == 3
    assert "b1 is of the family vllm, whose kernels hio cannot call" in one_sentence(said)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("b2",), 2, "no readable engine is called b2"),
        (("b1", "--shape", "s2"), 2, "no readable shape is called s2"),
        (("b1", "--service", "lab/none"), 2, "no service is called lab/none"),
        (("b1", "--dtype", "Q4_K", "--library", "libggml-cpu-zen4.so"), 3, "has no libggml-cpu-zen4.so"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_one_sentence(repo: Path, words: tuple[str, ...], code: int, told: str) -> None:
    said = hio(repo, "probe", "engine", *words)
    assert said.code == code
    assert told in one_sentence(said)


def test_a_service_without_a_shape_asks_for_one_or_for_formats(repo: Path) -> None:
    (repo / f"{ROOM}/shapes/s1.yaml").unlink()
    said = hio(repo, "probe", "engine", "b1")
    assert said.code == 2
    assert "has no shape document that says its number formats: hio probe model --write" in one_sentence(said)


def test_a_build_that_no_site_places_asks_for_its_program(repo: Path) -> None:
    (repo / "manifests/sites/lab.yaml").write_text("hio: site/v1\nname: lab\n")
    said = hio(repo, "probe", "engine", "b1")
    assert said.code == 3
    assert "no site says where it is; give --program" in one_sentence(said)
