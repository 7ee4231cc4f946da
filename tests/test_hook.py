"""What hio understands without click is what click would understand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hio_validate.cli import _VERBS
from hio_validate.cli.validate import validate
from hio_validate.hook import Call, call_of
from tests.cli.console import HIO
from tests.small_repo import BASE, MATRIX, committed, matrix, write

BY_CLICK = [sys.executable, "-c", "import sys; from hio_validate.cli import run; sys.exit(run())"]

WORDS = st.one_of(
    st.sampled_from(["a.yaml", "matrix/x/y.yaml", "--staged", "--frozen", "--", "-", "--gate", "deploy", "--help", "-h", "", "--repo=x"]),
    st.text(st.characters(exclude_characters="\0"), max_size=6),
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(WORDS, max_size=4))
def test_what_is_understood_means_what_click_says_it_means(words: list[str]) -> None:
    call = call_of(["validate", *words])
    assume(call is not None)
    assert call is not None
    understood = {"paths": tuple(map(Path, call.paths)), "staged": call.staged, "frozen": call.frozen}
    defaults = {"repo": None, "changed_from": None, "gates": (), "format_": "text"}
    assert validate.make_context("validate", list(words)).params == understood | defaults


def test_the_calls_of_hooks_are_understood() -> None:
    assert call_of(["validate"]) == Call()
    assert call_of(["validate", BASE, MATRIX]) == Call((BASE, MATRIX))
    assert call_of(["validate", "--staged"]) == Call(staged=True)
    entries = re.findall(
        r"entry: hio (.+)", (Path(__file__).parents[1] / ".pre-commit-hooks.yaml").read_text()
    )
    entries = [entry for entry in entries if entry.startswith("validate")]
    assert len(entries) == 2
    assert all(call_of(entry.split()) for entry in entries), "what the shipped hooks call"


@pytest.mark.parametrize(
    "words",
    [[], ["--version"], ["--help"], ["--staged"], ["validate", "--staged", BASE], ["validate", BASE, "--staged"],
     ["validate", "--staged", "--staged"], ["validate", "--gate", "deploy"], ["validate", "--format=json", BASE],
     ["validate", "--", "-odd.yaml"], ["validate", "-"], ["validat", BASE], *([verb, BASE] for verb in _VERBS if verb != "validate")],
    ids=" ".join,
)  # fmt: skip
def test_all_else_is_left_to_click(words: list[str]) -> None:
    assert call_of(words) is None


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


@pytest.mark.parametrize(
    "words",
    [(), (BASE,), ("matrix", "ledger"), ("nowhere.yaml",), ("",), (f"{BASE}/x",), ("--staged",)],
    ids=" ".join,
)
def test_both_ways_say_the_same(repo: Path, words: tuple[str, ...]) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    ours, clicks = (
        subprocess.run([*command, "validate", *words], cwd=repo, capture_output=True, check=False)
        for command in (HIO, BY_CLICK)
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (clicks.returncode, clicks.stdout, clicks.stderr)
    assert ours.returncode in (1, 2)


@pytest.mark.parametrize("command", [HIO, BY_CLICK], ids=["hook", "click"])
def test_a_reader_that_is_gone_is_3_and_no_finding(repo: Path, command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*command, "validate"], cwd=repo, stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (3, b"")
