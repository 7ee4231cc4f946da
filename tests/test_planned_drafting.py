"""The fixture of a plan whose arm drafts: one that says its lengths, taken or written, and never another request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hio_validate.cli import cli
from hio_validate.source import read
from tests.estimating.candidates.engines import service
from tests.estimating.candidates.workbench import FIXTURE
from tests.estimating.tiny import put
from tests.small_repo import ROOM, SERVICE

OTHERS = {"about": "the same, drafted", "name": "tides-with-lengths", "draft": {"min": 0, "max": 9}}


def _begin(root: Path, change: str) -> str:
    words = [
        "plan",
        "new",
        "--service",
        SERVICE,
        "--set",
        change,
        "--fixture",
        "tides",
        "--name",
        "p",
        "--repo",
        str(root),
    ]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def _read(root: Path, file: str) -> dict[str, Any]:
    path = root / ROOM / file
    found: dict[str, Any] = read(path.read_bytes(), path.name).data
    return found


def _drafts(root: Path) -> Path:
    return service(root, "llama-server", {})


def test_one_is_written_with_the_lengths_of_the_build(tmp_path: Path) -> None:
    said = _begin(_drafts(tmp_path), "server.spec-type=ngram-mod")
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides-drafted"
    made, like = _read(tmp_path, "fixtures/tides-drafted.yaml"), _read(tmp_path, "fixtures/tides.yaml")
    assert made.pop("draft") == {"min": 0, "max": 3}
    assert made | {"name": "tides"} == like
    assert "0 to 3: write others where you mean others" in " ".join(said.split())


def test_a_kind_with_a_length_of_its_own_is_not_given_the_draft_model_s(tmp_path: Path) -> None:
    service(tmp_path, "llama-server", {}, more=("spec-ngram-simple-size-m", "48"))
    _begin(tmp_path, "server.spec-type=ngram-simple")
    assert _read(tmp_path, "fixtures/tides-drafted.yaml")["draft"] == {"min": 0, "max": 48}


def test_one_of_the_same_request_is_taken(tmp_path: Path) -> None:
    put(_drafts(tmp_path), FIXTURE | OTHERS)
    _begin(tmp_path, "server.spec-type=ngram-mod")
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides-with-lengths"
    assert not (tmp_path / ROOM / "fixtures/tides-drafted.yaml").exists()


@pytest.mark.parametrize("other", [{"prompt": "Tell of the wind."}, {"max_tokens": 65}, {"seed": 2}])
def test_another_request_is_not_taken_for_it(tmp_path: Path, other: dict[str, Any]) -> None:
    put(_drafts(tmp_path), FIXTURE | OTHERS | other)
    _begin(tmp_path, "server.spec-type=ngram-mod")
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides-drafted"


def test_a_fixture_that_has_the_name_stays_as_it_is(tmp_path: Path) -> None:
    put(_drafts(tmp_path), FIXTURE | OTHERS | {"name": "tides-drafted", "seed": 2})
    before = (tmp_path / ROOM / "fixtures/tides-drafted.yaml").read_bytes()
    _begin(tmp_path, "server.spec-type=ngram-mod")
    assert (tmp_path / ROOM / "fixtures/tides-drafted.yaml").read_bytes() == before
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides", "and hio plan check says what is missing"


@pytest.mark.parametrize(
    ("engine", "change"),
    [("llama-server", "server.cache-type-k=q8_0"), ("vllm", 'server.speculative-config={"method":"ngram","num_speculative_tokens":5}')],
)  # fmt: skip
def test_what_needs_no_lengths_asks_the_fixture_that_was_named(
    tmp_path: Path, engine: str, change: str
) -> None:
    _begin(service(tmp_path, engine, {}), change)
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides"
    assert not (tmp_path / ROOM / "fixtures/tides-drafted.yaml").exists()


def test_lengths_that_the_fixture_says_are_kept(tmp_path: Path) -> None:
    put(_drafts(tmp_path), FIXTURE | {"draft": {"min": 1, "max": 2}})
    _begin(tmp_path, "server.spec-type=ngram-mod")
    assert _read(tmp_path, "plans/p.yaml")["fixture"] == "tides"
