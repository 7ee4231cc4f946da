"""hio checkpoint --push against bare repositories on disk: allowed, fast-forward only, compared afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checkpoint.test_commit import NOTE, checkpoint, hook, state
from tests.checkpoint.test_secrets import SECRETS
from tests.cli.console import one_sentence
from tests.small_repo import committed, git, write

pytest.importorskip("detect_secrets")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    return tmp_path / "remote.git"


@pytest.fixture
def repo(tmp_path: Path, bare: Path) -> Path:
    root = committed(tmp_path / "repo", {NOTE: "one\n", ".hio/remotes": f"# where we publish\n{bare}\n"})
    git(root, "remote", "add", "origin", str(bare))
    git(root, "push", "-q", "-u", "origin", "main")
    write(root, {NOTE: "two\n"})
    return root


def head(root: Path, name: str = "HEAD") -> str:
    return git(root, "rev-parse", name).strip()


def advanced(bare: Path, tmp_path: Path) -> str:
    """Somebody else pushes a commit."""
    git(tmp_path, "clone", "-q", str(bare), "theirs")
    write(tmp_path / "theirs", {"theirs.md": "x\n"})
    git(tmp_path / "theirs", "add", "-A")
    git(tmp_path / "theirs", "commit", "-q", "-m", "theirs")
    git(tmp_path / "theirs", "push", "-q")
    return head(tmp_path / "theirs")


def test_a_push_is_planned_then_made_and_both_ids_are_said(repo: Path, bare: Path) -> None:
    before = head(bare, "main")
    said = checkpoint(repo, NOTE, "--push")
    assert said.code == 0
    assert f"pushes to origin ({bare}), refs/heads/main, where there is {before[:12]}" in said.out
    assert head(bare, "main") == before == head(repo)
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 0, said.all
    assert head(bare, "main") == head(repo) != before
    assert f"pushed: local {head(repo)}, remote {head(repo)}: the same" in said.out


def test_json_has_both_ids(repo: Path, bare: Path) -> None:
    push = json.loads(checkpoint(repo, NOTE, "--push", "--yes", "--format", "json").out)["push"]
    assert push["local"] == push["there"] == head(bare, "main")
    assert (push["remote"], push["url"], push["ref"], push["failed"]) == (
        "origin",
        str(bare),
        "refs/heads/main",
        None,
    )


def test_yes_alone_pushes_nothing(repo: Path, bare: Path) -> None:
    before = head(bare, "main")
    assert checkpoint(repo, NOTE, "--yes").code == 0
    assert head(bare, "main") == before


def test_what_was_committed_before_goes_along_and_is_shown(repo: Path, bare: Path) -> None:
    checkpoint(repo, NOTE, "--yes")
    said = checkpoint(repo, NOTE, "--push")
    assert "1 earlier commit would go along:" in said.out and "why it changed" in said.out
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 0
    assert head(bare, "main") == head(repo)
    assert "nothing to do" in checkpoint(repo, NOTE, "--push", "--yes").out


@pytest.mark.parametrize("what", ["secret", "weights", "large"])
def test_what_an_earlier_commit_holds_does_not_leave_either(repo: Path, bare: Path, what: str) -> None:
    content = {"secret": next(iter(SECRETS)).encode(), "weights": b"GGUF\0", "large": bytes(2**20 + 1)}[what]
    write(repo, {"bad.txt": content})
    git(repo, "add", "bad.txt")
    git(repo, "commit", "-q", "-m", "bad")
    git(repo, "rm", "-q", "bad.txt")
    git(repo, "commit", "-q", "-m", "nobody will see")
    before = head(bare, "main")
    said = checkpoint(repo, NOTE, "--push", "--yes", "--largest", "1")
    assert said.code == 1
    assert "refused: bad.txt" in said.out and "in an earlier commit that would be pushed along" in said.out
    assert head(bare, "main") == before
    assert checkpoint(repo, NOTE, "--yes").code == 0


@pytest.mark.parametrize("what", ["not listed", "only on disk", "no list", "no such remote", "two addresses"])
def test_only_an_allowed_remote_is_spoken_to(repo: Path, bare: Path, tmp_path: Path, what: str) -> None:
    words, expected = ["--remote", "other"], "is not on the allow-list"
    git(tmp_path, "init", "-q", "--bare", "other.git")
    git(repo, "remote", "add", "other", str(tmp_path / "other.git"))
    match what:
        case "only on disk":
            write(repo, {".hio/remotes": f"{tmp_path / 'other.git'}\n"})
        case "no list":
            git(repo, "rm", "-q", "-f", ".hio/remotes")
            git(repo, "commit", "-q", "-m", "no list")
            words, expected = [], "has no .hio/remotes"
        case "no such remote":
            words, expected = ["--remote", "nope"], "no remote is called nope"
        case "two addresses":
            git(repo, "remote", "set-url", "--add", "origin", str(tmp_path / "other.git"))
            words, expected = [], "is pushed to 2 addresses"
    before = state(repo)
    said = checkpoint(repo, NOTE, "--push", "--yes", *words)
    assert said.code == 1
    assert expected in one_sentence(said)
    assert state(repo) == before
    assert git(tmp_path / "other.git", "for-each-ref") == ""


def test_the_address_that_is_pushed_to_counts_and_its_password_is_not_shown(repo: Path) -> None:
    git(repo, "remote", "set-url", "--push", "origin", "https://me:sesame@example.invalid/x.git")
    said = one_sentence(checkpoint(repo, NOTE, "--push", "--yes"))
    assert "https://example.invalid/x.git (origin) is not on the allow-list" in said
    assert "sesame" not in said


def test_a_remote_that_moved_stops_the_plan_before_anything_is_committed(
    repo: Path, bare: Path, tmp_path: Path
) -> None:
    theirs = advanced(bare, tmp_path)
    before = state(repo)
    for fetched in (False, True):
        if fetched:
            git(repo, "fetch", "-q")
        said = checkpoint(repo, NOTE, "--push", "--yes")
        assert said.code == 1
        assert "origin has commits on main that are not here" in one_sentence(said)
        assert state(repo) == before
    assert head(bare, "main") == theirs


def test_a_remote_that_moves_while_we_commit_is_not_overwritten(
    repo: Path, bare: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(bare), "theirs")
    hook(
        repo,
        "pre-commit",
        f"unset $(git rev-parse --local-env-vars); cd '{tmp_path}/theirs' && git commit -q --allow-empty -m theirs && git push -q",
    )
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 1
    assert "committed " in said.out and "origin moved meanwhile and was not overwritten" in said.out
    assert head(bare, "main") == head(tmp_path / "theirs")
    assert git(repo, "status", "--porcelain") == ""


def test_a_push_that_the_remote_refuses_leaves_the_commit(repo: Path, bare: Path) -> None:
    hook(bare, "pre-receive", "echo policy says no >&2; exit 1")
    before = head(bare, "main")
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 1
    assert (
        "not pushed: origin refused the push: [remote rejected] (pre-receive hook declined) (it says: policy says no"
        in said.out
    )
    assert head(bare, "main") == before
    assert git(repo, "log", "-1", "--format=%s") == "why it changed\n"
    (bare / "hooks/pre-receive").unlink()
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 0
    assert head(bare, "main") == head(repo)


def test_a_hook_that_stops_the_push_is_not_taken_for_an_unreachable_remote(repo: Path, bare: Path) -> None:
    hook(repo, "pre-push", "echo not on a Sunday; exit 1")
    before = head(bare, "main")
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 1
    assert (
        "not pushed: git or a pre-push hook stopped the push:" in said.out and "not on a Sunday" in said.out
    )
    assert head(bare, "main") == before


def test_a_ref_of_the_remote_that_only_ends_alike_is_not_the_branch(repo: Path, bare: Path) -> None:
    git(bare, "update-ref", "refs/a/refs/heads/main", "main")
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 0
    assert head(bare, "refs/heads/main") == head(repo) != head(bare, "refs/a/refs/heads/main")


def test_a_remote_that_rewrites_what_it_got_is_told(repo: Path, bare: Path) -> None:
    hook(bare, "post-receive", "git update-ref refs/heads/main HEAD^")
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 1
    assert "NOT the same" in said.out


def test_an_unreachable_remote_is_3_and_nothing_is_committed(repo: Path, bare: Path) -> None:
    bare.rename(bare.parent / "moved.git")
    before = state(repo)
    said = checkpoint(repo, NOTE, "--push", "--yes")
    assert said.code == 3
    assert "could not be reached" in one_sentence(said)
    assert state(repo) == before


def test_history_is_never_forced_even_where_the_configuration_asks_for_it(
    repo: Path, bare: Path, tmp_path: Path
) -> None:
    git(repo, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
    git(repo, "config", "push.default", "matching")
    git(repo, "commit", "-q", "--amend", "-m", "rewritten")
    before = head(bare, "main")
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 1
    assert head(bare, "main") == before


def test_a_new_branch_is_pushed_under_its_own_name_and_nothing_else(repo: Path, bare: Path) -> None:
    git(repo, "checkout", "-q", "-b", "topic")
    git(repo, "tag", "-a", "v1", "-m", "v1")
    git(repo, "config", "push.followTags", "true")
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 0
    assert git(bare, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main", "refs/heads/topic"]


def test_the_users_ssh_and_helpers_are_kept_and_what_a_hook_exports_is_not(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nenv > '{seen}'\nexit 1\n")
    ssh.chmod(0o755)
    git(repo, "remote", "set-url", "origin", "ssh://git@example.invalid/x.git")
    write(repo, {".hio/remotes": "ssh://git@example.invalid/x.git\n"})
    git(repo, "commit", "-q", "-m", "allow", ".hio/remotes")
    for name, value in {
        "GIT_SSH_COMMAND": str(ssh),
        "GIT_WORK_TREE": "/nonexistent",
        "GIT_ASKPASS": "true",
    }.items():
        monkeypatch.setenv(name, value)
    assert checkpoint(repo, NOTE, "--push", "--yes").code == 3
    environment = dict(line.split("=", 1) for line in seen.read_text().splitlines() if "=" in line)
    assert environment["GIT_ASKPASS"] == "true"
    assert "ssh" in environment["GIT_ALLOW_PROTOCOL"]
    assert "GIT_WORK_TREE" not in environment
