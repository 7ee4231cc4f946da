"""An audit inside hooks: what git exports there leads it nowhere else, and its index is not disturbed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hio_validate.history.audit import Asked, audit
from tests.history.past import run_git
from tests.small_repo import ENTRY, FILES, TWO, committed, git, stack, write

SAYS = "from the first to"


def hooked(repo: Path, name: str, folder: str = ".") -> Path:
    """The repository with a hook that audits; what it said is in the file that is given back."""
    said = repo.parent / "said.txt"
    hook = repo / git(repo, "rev-parse", "--git-path", f"hooks/{name}").strip()
    hook.parent.mkdir(exist_ok=True, parents=True)
    hook.write_text(
        f'#!/bin/sh\nenv | grep ^GIT_ > "{repo.parent}/exported.txt"\ncd "{folder}" && exec "{sys.executable}" -m hio_validate audit > "{said}" 2>&1\n'
    )
    hook.chmod(0o755)
    return said


def tampered(repo: Path) -> None:
    before = (repo / ENTRY).read_text()
    for content in (before.replace("by: someone", "by: nobody"), before):
        write(repo, {ENTRY: content})
        git(repo, "commit", "-q", "--no-verify", "-a", "-m", "change")


@pytest.fixture(params=["main", "linked", "submodule"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository as git keeps it in its three ways."""
    kept = committed(tmp_path / "kept")
    if request.param == "main":
        return kept
    if request.param == "linked":
        git(kept, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
        return tmp_path / "linked"
    outer = committed(tmp_path / "outer", {"README.md": "outer\n"})
    git(outer, "submodule", "add", "-q", str(kept), "inner")
    git(outer, "commit", "-q", "-m", "inner")
    git(outer / "inner", "checkout", "-q", "-B", "main")
    return outer / "inner"


@pytest.mark.parametrize("how", ["add", "-a", "a path"])
def test_a_pre_commit_hook_audits_what_is_committed(repo: Path, how: str) -> None:
    said = hooked(repo, "pre-commit")
    write(repo, {TWO: stack("two", 7)})
    words = {"add": (), "-a": ("-a",), "a path": ("--", TWO)}[how]
    if how == "add":
        git(repo, "add", "-A")
    done = run_git(repo, "commit", "-q", "-m", "honest", *words)
    assert done.returncode == 0, said.read_text()
    assert "GIT_INDEX_FILE" in (repo.parent / "exported.txt").read_text()
    assert SAYS in said.read_text() and "no error" in said.read_text()
    assert run_git(repo, "status", "--porcelain").stdout == ""
    tampered(repo)
    write(repo, {TWO: stack("two", 8)})
    assert run_git(repo, "commit", "-q", "-a", "-m", "after tampering").returncode == 1
    assert "history-altered" in said.read_text()


def test_a_pre_push_hook_stops_a_history_that_was_altered(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    said = hooked(repo, "pre-push")
    push = ("push", "-q", str(tmp_path / "remote.git"), "HEAD:refs/heads/main")
    assert run_git(repo, *push).returncode == 0
    tampered(repo)
    assert run_git(repo, *push).returncode != 0
    assert "history-altered" in said.read_text()


def test_a_hook_audits_rooms_in_a_subfolder(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo", {f"serving/{path}": content for path, content in FILES.items()})
    said = hooked(repo, "pre-commit", "serving")
    write(repo, {"README.md": "x\n"})
    git(repo, "add", "-A")
    assert run_git(repo, "commit", "-q", "-m", "x").returncode == 0
    assert "1 commit from the first to" in said.read_text()


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
                                  "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
                                  "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_REPLACE_REF_BASE", "GIT_EXEC_PATH",
                                  "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_CEILING_DIRECTORIES", "GIT_TRACE"])  # fmt: skip
def test_what_a_hook_exports_leads_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    repo = committed(tmp_path / "repo")
    other = committed(tmp_path / "other", {"README.md": "x\n"})
    before = audit(repo, Asked())
    monkeypatch.setenv(name, str(other / ".git" if name != "GIT_TRACE" else "1"))
    assert audit(repo, Asked()) == before
    assert name in os.environ
