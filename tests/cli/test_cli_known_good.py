"""hio known-good at a terminal: recording with comments kept, checking stacks and foreign files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import Said, hio, one_sentence
from tests.small_repo import SERVICE, committed

FILE = "manifests/known-good/tiny.yaml"
REGISTRY = """\
# kept by ana
hio: known-good/v1
name: tiny
engine: llama-server
models:
  - {name: "tiny*.gguf"}  # by its file
settings:
  # seen in May
  - {factor: threads, must: required, at_most: 4, severity: crash-at-concurrency, because: it starves the second request}
"""
WHY = ("--severity", "correctness", "--because", "answers are wrong beyond 1,024 tokens")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = committed(tmp_path / "repo")
    (root / FILE).parent.mkdir()
    (root / FILE).write_text(REGISTRY, encoding="utf-8")
    return root


def record(repo: Path, *words: str) -> Said:
    return hio(repo, "known-good", "record", "tiny", *words, *WHY)


def test_a_row_is_added_and_every_line_stays(repo: Path) -> None:
    said = record(
        repo, "--factor", "ctx-size", "--must", "forbidden", "--value", "0", "--evidence", f"{SERVICE}/r1"
    )
    assert said.code == 0, said.err
    text = (repo / FILE).read_text(encoding="utf-8")
    assert text.startswith(REGISTRY) and text.count("\n") == REGISTRY.count("\n") + 1
    assert f"runs: [{SERVICE}/r1]" in text and "values: [0]" in text
    assert hio(repo, "validate", FILE).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--factor", "t", "--must", "required", "--at-most", "4"], "as it is above", id="twice"),
        pytest.param(["--factor", "LLAMA_ARG_THREADS", "--must", "required", "--at-least", "8"], "at least 8 and at most 4", id="contradicts"),
        pytest.param(["--factor", "batch-size", "--must", "forbidden", "--at-most", "4"], "bounds of batch-size", id="bounds"),
        pytest.param(["--factor", "batch-size", "--must", "phase-limited"], "none is named", id="no-phase"),
        pytest.param(["--factor", "batch-size", "--must", "forbidden", "--evidence", "a/b/c"], "no entry and no run is called a/b/c", id="no-evidence"),
        pytest.param(["--factor", "batch-size", "--must", "forbidden", "--build", "b7"], "no build is called b7", id="no-build"),
        pytest.param(["--factor", "a b", "--must", "forbidden"], "expected a name of letters", id="no-address"),
    ],
)  # fmt: skip
def test_a_row_that_is_refused_changes_nothing(repo: Path, words: list[str], said: str) -> None:
    done = record(repo, *words)
    assert done.code == 1 and said in one_sentence(done)
    assert (repo / FILE).read_text(encoding="utf-8") == REGISTRY


def test_a_reason_that_is_none(repo: Path) -> None:
    done = hio(repo, "known-good", "record", "tiny", "--factor", "x", "--must", "forbidden", "--severity", "correctness",
               "--because", "TODO")  # fmt: skip
    assert done.code == 1 and "because says nothing yet" in one_sentence(done)


def test_a_name_that_is_none_is_one_whole_sentence(repo: Path) -> None:
    words = [
        "--factor",
        "threads",
        "--must",
        "forbidden",
        "--severity",
        "correctness",
        "--because",
        "it is slow here",
    ]
    new = ["--engine", "llama-server", "--matches", "*.gguf"]
    said = hio(repo, "known-good", "record", "../x", *words, *new)
    assert said.code == 2
    assert one_sentence(said).endswith('got "../x"')


def test_a_new_registry_says_what_it_is_about(repo: Path) -> None:
    words = (
        "known-good",
        "record",
        "large",
        "--factor",
        "threads",
        "--must",
        "required",
        "--value",
        "8",
        *WHY,
    )
    asked = hio(repo, *words)
    assert asked.code == 2 and "--matches" in one_sentence(asked)
    assert hio(repo, *words, "--engine", "llama-server", "--matches", "large*.gguf").code == 0
    assert hio(repo, "validate", "manifests/known-good/large.yaml").code == 0


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        pytest.param("llama-server -m /m/tiny-q4.gguf -t 4", 0, "nothing known speaks against it (tiny)", id="meets"),
        pytest.param("llama-server -m /m/tiny-q4.gguf -t 8", 1, "violated: crash-at-concurrency: server.threads", id="violates"),
        pytest.param("llama-server -m /m/tiny-q4.gguf -t $N", 3, "unknown: crash-at-concurrency", id="unknown-value"),
        pytest.param("llama-server -m /m/tiny-q4.gguf", 3, "unknown: crash-at-concurrency", id="unknown-default"),
        pytest.param("llama-server -t 4", 3, "which model it serves is unknown", id="unknown-model"),
        pytest.param("llama-server -m /m/other.gguf -t 4", 3, "nothing is recorded of", id="another-model"),
        pytest.param("vllm serve org/model", 3, "nothing is recorded of any model on vllm", id="another-engine"),
    ],
)  # fmt: skip
def test_a_foreign_file(repo: Path, command: str, code: int, said: str) -> None:
    (repo / "start.sh").write_text(command + "\n", encoding="utf-8")
    done = hio(repo, "known-good", "check", "start.sh")
    assert (done.code, said in done.out) == (code, True), done.all
    assert max(map(len, done.out.splitlines())) <= 80
    assert (
        json.loads(hio(repo, "known-good", "check", "start.sh", "--format", "json").out)["exit_code"] == code
    )


def test_a_stack_by_name_or_by_file_and_a_model_that_a_person_names(repo: Path) -> None:
    assert hio(repo, "known-good", "check", "base").code == 3
    said = hio(
        repo,
        "known-good",
        "check",
        "base",
        f"manifests/services/{SERVICE}/stacks/two.yaml",
        "--model",
        "tiny",
    )
    assert said.code == 0 and said.out.count("nothing known speaks against it") == 2


def test_what_is_no_stack_and_no_configuration(repo: Path) -> None:
    assert "no readable stack is called gone" in one_sentence(hio(repo, "known-good", "check", "gone"))
    assert hio(repo, "known-good", "check", "./gone.yaml").code == 3
