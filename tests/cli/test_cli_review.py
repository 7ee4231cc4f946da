"""hio review as a process: what can be compared, from where, and with which exit code."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.small_repo import BASE, ENTRY, FILES, MATRIX, TWO, baseline, git, matrix, stack, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """`main` with a small repository, and `change`, checked out, with another thread count."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root)
    _commit(root)
    git(root, "switch", "-q", "-c", "change")
    write(root, {TWO: stack("two", 3), MATRIX: matrix(to="3")})
    _commit(root)
    return root


def _commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "documents")


def test_a_change_is_told_and_nothing_blocks(repo: Path) -> None:
    said = hio(repo, "review", "main..HEAD")
    assert said.code == 0
    assert "server.threads  2 -> 3" in said.out
    assert "Merging: nothing blocks it" in said.out
    assert "\x1b" not in said.out


def test_gates_block_where_they_are_asked_for(repo: Path) -> None:
    assert hio(repo, "review", "main..HEAD", "--gate", "deploy").code == 1


def test_an_error_at_the_head_blocks(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="7")})
    _commit(repo)
    said = hio(repo, "review", "main..HEAD", "--format", "json")
    assert said.code == 1
    blocks = [each for each in json.loads(said.out)["blocks"] if each["blocks"] == "merging"]
    assert [(each["rule"], each["service"], each["document"], each["new"]) for each in blocks] == [
        ("value-mismatch", "lab/tiny", MATRIX, True)
    ]
    assert "7" in blocks[0]["reason"]


@pytest.mark.parametrize("range_", ["main..change", "main...change", "main..", "main..HEAD", "HEAD~1..HEAD"])
def test_ranges(repo: Path, range_: str) -> None:
    assert "server.threads  2 -> 3" in hio(repo, "review", range_).out


def test_the_head_is_compared_with_where_it_left_the_base(repo: Path) -> None:
    git(repo, "switch", "-q", "main")
    write(repo, {BASE.replace("base", "later"): stack("later", 9)})
    _commit(repo)
    said = hio(repo, "review", "main..change")
    assert "later" not in said.out
    assert "which has moved on since" in " ".join(said.out.split())


def test_no_document_changed(repo: Path) -> None:
    write(repo, {"README.md": "words\n"})
    _commit(repo)
    for format_ in ("text", "markdown"):
        said = hio(repo, "review", "HEAD~1..HEAD", "--format", format_)
        assert said.code == 0
        assert "No document changed" in said.out
    shape = json.loads(hio(repo, "review", "HEAD..HEAD", "--format", "json").out)
    assert (shape["changed_files"], shape["services"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 2, "expected BASE..HEAD or --staged"),
        (("main..HEAD", "--staged"), 2, "and not both"),
        (("main",), 2, "main is no range"),
        (("--", "--output=x..HEAD"), 2, "is no range"),
        (("nowhere..HEAD",), 3, "nowhere is no commit of this repository"),
        (("main..nowhere",), 3, "nowhere is no commit of this repository"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    repo: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    said = hio(repo, "review", *words)
    assert said.code == code
    assert sentence in one_sentence(said)
    assert said.out == ""


def test_a_folder_without_git_cannot_be_compared(tmp_path: Path) -> None:
    said = hio(write(tmp_path / "plain"), "review", "a..b")
    assert said.code == 2
    assert "no git repository" in one_sentence(said)


def test_a_shallow_clone_that_does_not_know_cannot_compare(repo: Path, tmp_path: Path) -> None:
    git(repo, "switch", "-q", "main")
    write(repo, {BASE.replace("base", "later"): stack("later", 9)})
    _commit(repo)
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", repo.as_uri(), "shallow")
    said = hio(tmp_path / "shallow", "review", "origin/main..origin/change")
    assert said.code == 3
    assert "shallow" in one_sentence(said)
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert hio(tmp_path / "shallow", "review", "origin/main..origin/change").code == 0


def test_histories_without_a_common_commit_cannot_be_compared(repo: Path) -> None:
    git(repo, "switch", "-q", "--orphan", "alone")
    write(repo, {"README.md": "alone\n"})
    _commit(repo)
    said = hio(repo, "review", "main..alone")
    assert said.code == 3
    assert "share no commit" in one_sentence(said)


def test_a_blob_that_is_not_there_is_one_sentence(repo: Path) -> None:
    id_ = git(repo, "rev-parse", f"HEAD:{TWO}").strip()
    blob = repo / ".git/objects" / id_[:2] / id_[2:]
    blob.chmod(stat.S_IRUSR | stat.S_IWUSR)
    blob.unlink()
    said = hio(repo, "review", "main..HEAD")
    assert said.code == 3
    assert one_sentence(said).startswith("hio: cannot compare: ")


def test_the_index_is_reviewed(repo: Path) -> None:
    write(repo, {TWO: stack("two", 5)})
    assert "No document changed" in hio(repo, "review", "--staged").out
    git(repo, "add", "-A")
    said = hio(repo, "review", "--staged")
    assert "server.threads  3 -> 5" in said.out
    assert said.code == 1  # the matrix still says 3


def test_the_first_commit_is_reviewed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path)
    git(tmp_path, "add", "-A")
    said = hio(tmp_path, "review", "--staged")
    assert said.code == 0
    assert "there is no commit yet" in " ".join(said.out.split())
    assert "the service is new" in said.out.lower()


def test_an_unmerged_index_cannot_be_compared(repo: Path) -> None:
    git(repo, "switch", "-q", "-c", "other", "main")
    write(repo, {TWO: stack("two", 9)})
    _commit(repo)
    git(repo, "merge", "-q", "change", check=False)
    said = hio(repo, "review", "--staged")
    assert said.code == 3
    assert "merge conflict" in one_sentence(said)


@pytest.mark.parametrize("place", ["linked", "subfolder", "room"])
def test_from_a_linked_worktree_and_from_inside_folders(repo: Path, tmp_path: Path, place: str) -> None:
    if place == "linked":
        git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
        where = tmp_path / "linked"
    else:
        where = repo / {"subfolder": "manifests/sites", "room": "matrix/lab"}[place]
    assert "server.threads  2 -> 3" in hio(where, "review", "main..change").out


def test_rooms_that_stand_in_a_subfolder(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path / "serving")
    _commit(tmp_path)
    write(tmp_path / "serving", {TWO: stack("two", 3)})
    _commit(tmp_path)
    said = hio(tmp_path / "serving", "review", "HEAD~1..HEAD")
    assert "server.threads  2 -> 3" in said.out


@pytest.mark.parametrize("how", ["add", "-a"])
def test_inside_a_hook_the_commit_to_be_is_reviewed(repo: Path, how: str) -> None:
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" -m hio_validate review --staged > page.txt\n')
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    write(repo, {TWO: stack("two", 5), MATRIX: matrix(to="5")})
    if how == "add":
        git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "x", *(["-a"] if how == "-a" else []))
    assert "server.threads  3 -> 5" in (repo / "page.txt").read_text()


def test_a_secret_is_on_no_page(repo: Path) -> None:
    more = '      - ["--api-key", "swordfish-%d"]\n    env: {LLAMA_API_KEY: swordfish-%d, HF_TOKEN: swordfish-%d}\n'
    rows = "  - {factor: server.api-key, from: swordfish-6, to: swordfish-7, disposition: %s}\n"
    write(repo, {TWO: stack("two", 3, more % (1, 2, 3)), MATRIX: matrix(to="3", more=rows % "retest")})
    _commit(repo)
    write(repo, {TWO: stack("two", 3, more % (4, 5, 3)), MATRIX: matrix(to="3", more=rows % "changed")})
    git(repo, "add", "-A")
    for format_ in ("text", "markdown", "json"):
        said = hio(repo, "review", "--staged", "--format", format_)
        assert "server.api-key" in said.out
        assert "swordfish" not in said.all, said.all


def test_a_page_names_no_file_of_the_machine(repo: Path) -> None:
    assert str(repo.parent) not in hio(repo, "review", "main..HEAD", "--format", "json").out


def test_every_file_of_the_small_repository_is_reviewed_when_it_goes(repo: Path) -> None:
    for path in FILES:
        os.unlink(repo / path)
    write(repo, {"README.md": "gone\n"})
    _commit(repo)
    said = hio(repo, "review", "main..HEAD")
    assert said.code == 1
    assert "the service is gone" in said.out.lower()


def test_a_merge_that_drops_an_entry_of_the_other_side_is_told(repo: Path) -> None:
    other = ENTRY.replace("b0", "b1")
    git(repo, "switch", "-q", "-c", "other", "main")
    write(repo, {other: baseline("b1")})
    _commit(repo)
    git(repo, "switch", "-q", "change")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "other")
    git(repo, "rm", "-q", "-f", other)
    said = hio(repo, "review", "--staged", "--format", "json")
    dropped = [
        each["document"]
        for each in json.loads(said.out)["blocks"]
        if each["rule"] == "frozen-document-changed"
    ]
    assert (dropped, said.code) == ([other], 1)
