"""What cannot be audited is exit 3 with a sentence, never a pass, and nobody is blamed for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.console import NOBODY, ROOT, hio, one_sentence
from tests.history.past import BEGIN, D1, STACKS, Past, at, run_git
from tests.small_repo import ROOM, ROWS, RUN, committed, stack

ROWS_FILE = f"{ROOM}/runs/r1/rows.tsv"


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """Three commits; nothing wrong."""
    past = Past(tmp_path / "repo")
    past.commit(BEGIN)
    past.commit({at("d1"): D1, f"{ROOM}/runs/r1/run.yaml": RUN, ROWS_FILE: ROWS})
    past.commit({f"{STACKS}/draft.yaml": stack("draft", 3)})
    past.write()
    return past


def refused(root: Path, *words: str) -> str:
    said = hio(root, "audit", *words)
    assert said.code == 3, said.all
    assert said.out == ""
    return one_sentence(said)


@pytest.mark.parametrize("depth", ["1", "2"])
def test_a_shallow_clone_is_not_verifiable_and_its_boundary_is_not_blamed(
    past: Past, tmp_path: Path, depth: str
) -> None:
    run_git(tmp_path, "clone", "-q", f"--depth={depth}", past.root.as_uri(), "shallow")
    said = refused(tmp_path / "shallow")
    assert said.startswith("hio: history not verifiable: this clone is shallow")
    assert said.endswith("git fetch --unshallow")
    assert "edited" not in said and "deleted" not in said
    run_git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert hio(tmp_path / "shallow", "audit").code == 0


def test_a_shallow_worktree_is_not_verifiable_either(past: Past, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--depth=1", past.root.as_uri(), "shallow")
    run_git(tmp_path / "shallow", "worktree", "add", "-q", "../linked", "-b", "other")
    assert "this clone is shallow" in refused(tmp_path / "linked")


@pytest.mark.parametrize("filter_", ["blob:none", "tree:0"])
def test_a_partial_clone_is_not_verifiable_and_fetches_nothing(
    past: Past, tmp_path: Path, filter_: str
) -> None:
    past.git("config", "uploadpack.allowFilter", "true")
    run_git(tmp_path, "clone", "-q", "--no-checkout", f"--filter={filter_}", past.root.as_uri(), "partial")
    before = run_git(tmp_path / "partial", "count-objects", "-v").stdout
    assert "history not verifiable: this clone is partial" in refused(tmp_path / "partial", "--repo", ".")
    assert run_git(tmp_path / "partial", "count-objects", "-v").stdout == before


@pytest.mark.parametrize("name", ["HEAD", "HEAD~1", "HEAD~2^{tree}", "HEAD^{tree}", f"HEAD:{at('b0')}",
                                  f"HEAD~1:{STACKS}/draft.yaml", f"HEAD:{ROWS_FILE}"])  # fmt: skip
@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_lost_or_damaged_object_is_not_verifiable(past: Past, name: str, damage: str) -> None:
    id_ = past.git("rev-parse", name)
    file = past.root / ".git/objects" / id_[:2] / id_[2:]
    assert hio(past.root, "audit").code == 0
    file.chmod(0o644)
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(b"x" + file.read_bytes()[1:-3])
    assert refused(past.root).startswith(("hio: history not verifiable: ", "hio: git does not let hio read"))


def test_a_branch_without_a_commit_has_nothing_to_audit(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    assert refused(tmp_path) == "hio: nothing to audit: this branch has no commit yet"


def test_a_folder_that_git_does_not_keep_is_a_matter_of_usage(tmp_path: Path) -> None:
    said = hio(tmp_path, "audit")
    assert said.code == 2
    assert "is no git repository, so there is no history to audit" in one_sentence(said)


def test_a_repository_without_documents_was_not_audited(tmp_path: Path) -> None:
    said = hio(committed(tmp_path / "repo", {"README.md": "x\n"}), "audit")
    assert said.code == 3
    assert "nothing matched (exit 3)" in said.out


@pytest.mark.parametrize("verb", ["log", "cat-file", "rev-list", "status", "ls-tree"])
@pytest.mark.parametrize("how", ["kill -9 $$", "exit 1"])
def test_a_git_that_is_killed_or_fails_is_no_empty_history(
    past: Past, tmp_path: Path, verb: str, how: str
) -> None:
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/git"
    fake.write_text(
        f'#!/bin/sh\ncase " $* " in *" {verb} "*) "{real}" "$@" | head -c 30; {how};; esac\nexec "{real}" "$@"\n'
    )
    fake.chmod(0o755)
    said = hio(past.root, "audit", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert said.code == 3
    assert "history not verifiable: git" in one_sentence(said)


def test_without_git_that_is_said(past: Past) -> None:
    said = hio(past.root, "audit", env={"PATH": "/nonexistent"})
    assert said.code == 3
    assert "git cannot be started" in one_sentence(said)


@pytest.mark.skipif(not ROOT, reason="only root can give a repository to somebody else")
def test_a_repository_of_somebody_else_says_how_to_trust_it(past: Past) -> None:
    for path in (past.root, past.root / ".git"):
        os.chown(path, NOBODY, NOBODY)
    said = refused(past.root)
    assert "it belongs to somebody else; git config --global --add safe.directory" in said
    run_git(past.root, "config", "--global", "--add", "safe.directory", str(past.root))
    assert hio(past.root, "audit").code == 0
