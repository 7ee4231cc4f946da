"""hio import at a terminal: what is printed, written, refused, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.small_repo import SERVICE, committed

UNIT = "[Service]\nExecStart=/opt/llama-server -m /m/a.gguf -t 8 --api-key abcdefghij --alias %i\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = committed(tmp_path / "repo")
    (root / "tiny.service").write_text(UNIT, encoding="utf-8")
    return root


def test_a_draft_is_printed_as_yaml(repo: Path) -> None:
    said = hio(repo, "import", "tiny.service")
    assert said.code == 0 and said.err == "hio: 1 draft, 1 thing open\n"
    assert "hio: stack/v1\nname: tiny\n" in said.out and "# - tiny.service:2: %i is filled in" in said.out
    assert "abcdefghij" not in said.all and "${secret:api-key}" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    (repo / "again.yaml").write_text(said.out, encoding="utf-8")
    assert hio(repo, "settings", "again.yaml").code == 2, "it is no document of the repository"
    assert hio(repo, "diff", "again.yaml", "tiny.service").code == 0


def test_as_json(repo: Path) -> None:
    said = hio(repo, "import", "tiny.service", "gone", "--format", "json")
    shape = json.loads(said.out)
    assert said.code == 3 and shape["version"] == 1
    assert [draft["name"] for draft in shape["drafts"]] == ["tiny"]
    assert shape["drafts"][0]["places"]["model"] == "/m/a.gguf"
    assert shape["refused"] == ["gone: it is not there; name a file"]


def test_written_for_a_service_and_never_replaced(repo: Path) -> None:
    words = ("import", "tiny.service", "--service", SERVICE, "--write", "--name", "fresh")
    assert hio(repo, *words).code == 0
    file = repo / f"manifests/services/{SERVICE}/stacks/fresh.yaml"
    before = file.read_bytes()
    assert hio(repo, "validate", file).code == 0
    again = hio(repo, *words)
    assert again.code == 1 and "never replaced" in one_sentence(again)
    assert file.read_bytes() == before


def test_all_drafts_or_none_are_written(repo: Path, tmp_path: Path) -> None:
    (repo / "swap.yaml").write_text(
        "models:\n  a: {cmd: llama-server}\n  b: {cmd: llama-server}\n", encoding="utf-8"
    )
    out = tmp_path / "out"
    out.mkdir()
    (out / "b.yaml").write_text("mine\n", encoding="utf-8")
    assert hio(repo, "import", "swap.yaml", "--out", out).code == 1
    assert [path.name for path in out.iterdir()] == ["b.yaml"]
    assert hio(repo, "import", "swap.yaml", "--out", tmp_path / "new").code == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.yaml", "b.yaml"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--write"], 2, "--write and --service go together", id="no-service"),
        pytest.param(["--engine", "lama"], 2, "no family is called lama", id="no-family"),
        pytest.param(["--service", "lab", "--write"], 2, "a service is SITE/NAME", id="no-site"),
    ],
)
def test_usage(repo: Path, words: list[str], code: int, said: str) -> None:
    done = hio(repo, "import", "tiny.service", *words)
    assert done.code == code and said in one_sentence(done)


def test_what_cannot_be_read_never_hides_what_can(repo: Path) -> None:
    (repo / "bad.yaml").write_text("a: [1\n", encoding="utf-8")
    (repo / "\x1b[31m.env").write_text("", encoding="utf-8")
    said = hio(repo, "import", "bad.yaml", "tiny.service", "\x1b[31m.env")
    assert said.code == 1 and "name: tiny" in said.out
    assert said.err.splitlines()[0].startswith("hio: bad.yaml:1: ")
    assert "\x1b" not in said.all
