"""hio checkpoint in real repositories: what it takes, what it leaves, what it refuses, what survives when it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.checkpoint.test_secrets import SECRETS
from tests.cli.console import HIO, Said, hio, one_sentence
from tests.small_repo import ENTRY, MATRIX, ROOM, TWO, baseline, committed, git, matrix, stack, write

pytest.importorskip("detect_secrets")

FINE = matrix(more="# a comment\n")
NOTE = "notes.md"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = committed(tmp_path / "repo")
    write(root, {NOTE: "one\n", "other.md": "other\n", "gone.md": "gone\n", ".gitignore": "*.log\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "notes")
    return root


def checkpoint(cwd: Path, *words: str | Path, env: dict[str, str] | None = None) -> Said:
    return hio(cwd, "checkpoint", "--class", "evidence", "-m", "why it changed", *words, env=env)


def state(root: Path) -> tuple[str, str, str, dict[str, bytes]]:
    """Branch, index, status and files of a work tree."""
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
    return (
        git(root, "log", "--format=%H"),
        git(root, "ls-files", "--stage"),
        git(root, "status", "--porcelain"),
        files,
    )


def hook(root: Path, name: str, words: str) -> None:
    folder = root / git(root, "rev-parse", "--git-path", "hooks").strip()
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{words}\n")
    (folder / name).chmod(0o755)


def litter(root: Path) -> list[str]:
    folder = Path(git(root, "rev-parse", "--absolute-git-dir").strip())
    return [path.name for path in folder.iterdir() if "hio" in path.name or path.name.endswith(".lock")]


def test_without_yes_the_plan_is_shown_and_nothing_is_written(repo: Path) -> None:
    write(repo, {MATRIX: FINE, "other.md": "by somebody else\n"})
    objects = sorted((repo / ".git/objects").rglob("*"))
    before = state(repo)
    said = checkpoint(repo, MATRIX)
    assert said.code == 0
    assert f"changed       {MATRIX}" in said.out
    assert "other.md  (changed, not staged)" in said.out
    assert "nothing is done yet; add --yes" in said.out
    assert state(repo) == before
    assert sorted((repo / ".git/objects").rglob("*")) == objects
    assert litter(repo) == []


def test_exactly_the_named_files_are_committed_with_their_class(repo: Path) -> None:
    write(
        repo, {MATRIX: FINE, NOTE: "two\n", "new/file.md": "new\n", "other.md": "staged\n", "stray.md": "x\n"}
    )
    (repo / "gone.md").unlink()
    git(repo, "add", "other.md")
    write(repo, {"other.md": "staged, then changed\n"})
    said = checkpoint(repo, MATRIX, "new", "gone.md", "--yes")
    assert said.code == 0, said.all
    assert git(repo, "log", "-1", "--format=%s%n%(trailers:key=Hio-Class,valueonly)").split("\n")[:2] == [
        "why it changed",
        "evidence",
    ]
    assert git(repo, "show", "--format=", "--name-status", "--no-renames").split() == [
        "D",
        "gone.md",
        "M",
        MATRIX,
        "A",
        "new/file.md",
    ]
    assert git(repo, "status", "--porcelain").splitlines() == [f" M {NOTE}", "MM other.md", "?? stray.md"]
    assert git(repo, "show", ":other.md") == "staged\n"
    assert litter(repo) == []


@pytest.mark.parametrize("place", ["subfolder", "linked worktree", "submodule"])
def test_paths_are_meant_from_where_one_stands(repo: Path, tmp_path: Path, place: str) -> None:
    root = repo
    if place == "linked worktree":
        root = tmp_path / "linked"
        git(repo, "worktree", "add", "-q", str(root), "-b", "other")
    if place == "submodule":
        outer = committed(tmp_path / "outer", {NOTE: "outer\n"})
        git(outer, "submodule", "add", "-q", str(repo), "inner")
        root = outer / "inner"
    write(root, {MATRIX: FINE, "other.md": "staged\n"})
    git(root, "add", "other.md")
    said = checkpoint((root / MATRIX).parent, Path(MATRIX).name, "--yes")
    assert said.code == 0, said.all
    assert git(root, "show", "--format=", "--name-only").split() == [MATRIX]
    assert git(root, "status", "--porcelain") == "M  other.md\n"


def test_a_name_is_never_a_pattern(repo: Path) -> None:
    write(repo, {"a*.md": "star\n", "ab.md": "not named\n", ":(top)x.md": "magic\n"})
    assert checkpoint(repo, "a*.md", ":(top)x.md", "--yes").code == 0
    assert git(repo, "status", "--porcelain") == "?? ab.md\n"


def test_a_file_in_the_place_of_a_folder_and_back(repo: Path) -> None:
    (repo / NOTE).unlink()
    write(repo, {f"{NOTE}/inside.md": "x\n"})
    assert checkpoint(repo, NOTE, "--yes").code == 0
    assert git(repo, "ls-files", NOTE) == f"{NOTE}/inside.md\n"
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_as_committed_is_nothing_to_do(repo: Path) -> None:
    said = checkpoint(repo, NOTE, "--yes")
    assert (said.code, said.out.splitlines()[-1]) == (
        0,
        "nothing to do: the named files are as they were committed",
    )


def test_json_says_the_same_in_a_versioned_shape(repo: Path) -> None:
    write(repo, {NOTE: "two\n", "other.md": "x\n"})
    plan = json.loads(checkpoint(repo, NOTE, "--format", "json").out)
    assert (plan["version"], plan["commit"], plan["push"], plan["exit_code"]) == (1, None, None, 0)
    assert [(each["path"], each["what"], each["bytes"]) for each in plan["changes"]] == [(NOTE, "changed", 4)]
    assert plan["left"] == [{"path": "other.md", "how": "changed, not staged"}]
    done = json.loads(checkpoint(repo, NOTE, "--format", "json", "--yes").out)
    assert done["commit"] == git(repo, "rev-parse", "HEAD").strip()
    assert done["tree"] == plan["tree"] == git(repo, "rev-parse", "HEAD^{tree}").strip()


def test_only_the_plan_that_was_shown_is_carried_out(repo: Path) -> None:
    write(repo, {NOTE: "two\n"})
    tree = json.loads(checkpoint(repo, NOTE, "--format", "json").out)["tree"]
    write(repo, {NOTE: "three\n"})
    said = checkpoint(repo, NOTE, "--planned", tree[:12], "--yes")
    assert said.code == 1
    assert "changed since that plan was shown" in one_sentence(said)
    write(repo, {NOTE: "two\n"})
    assert checkpoint(repo, NOTE, "--planned", tree[:12], "--yes").code == 0


def _link(repo: Path) -> None:
    (repo / NOTE).unlink()
    (repo / NOTE).symlink_to("other.md")


def _inner(repo: Path) -> None:
    (repo / NOTE).unlink()
    committed(repo / NOTE, {"x": "x\n"})


def _conflict(repo: Path) -> None:
    write(repo, {NOTE: "stashed\n"})
    git(repo, "stash", "-q")
    write(repo, {NOTE: "two\n"})
    git(repo, "commit", "-q", "-a", "-m", "two")
    git(repo, "stash", "pop", check=False)


def _half_staged(repo: Path) -> None:
    write(repo, {NOTE: "staged by somebody\n"})
    git(repo, "add", NOTE)
    write(repo, {NOTE: "changed again\n"})


def _kept_on_disk(repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", NOTE)


BAD = {
    "secret": (lambda repo: write(repo, {NOTE: f"x\n{next(iter(SECRETS))}\n"}), f"{NOTE}:2 holds a secret"),
    "weights": (lambda repo: write(repo, {NOTE: b"GGUF\0\0\0"}), f"{NOTE} is model weights"),
    "slot": (lambda repo: write(repo, {NOTE: b"qsgg\0\0\0"}), f"{NOTE} is a saved slot"),
    "large": (lambda repo: write(repo, {NOTE: bytes(2**20 + 1)}), f"{NOTE} has 1.0 MiB, more than 1 MiB"),
    "built": (lambda repo: write(repo, {NOTE: b"\x7fELF\0"}), f"{NOTE} is a build product"),
    "link": (_link, f"{NOTE} is a symbolic link"),
    "repository": (_inner, f"{NOTE} is a repository of its own"),
    "conflict": (_conflict, f"{NOTE} has a merge conflict"),
    "half staged": (_half_staged, f"{NOTE} is staged with other content"),
    "kept on disk": (_kept_on_disk, f"{NOTE} is staged with other content"),
    "whitespace": (lambda repo: write(repo, {NOTE: "x \n"}), f"{NOTE}:1 git diff --check: trailing whitespace"),
    "markers": (lambda repo: write(repo, {NOTE: "<<<<<<< HEAD\n"}), f"{NOTE}:1 git diff --check: leftover conflict"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_must_not_be_committed_is_named_with_the_reason(repo: Path, what: str) -> None:
    make, expected = BAD[what]
    make(repo)
    write(repo, {"new.md": "fine\n"})
    before = state(repo)
    said = checkpoint(repo, "new.md", NOTE, "--largest", "1", "--yes")
    assert said.code == 1
    refused = [
        line.removeprefix("refused: ") for line in said.out.splitlines() if line.startswith("refused: ")
    ]
    assert len(refused) == 1
    assert refused[0].startswith(expected)
    assert state(repo) == before
    assert litter(repo) == []


@pytest.mark.parametrize(
    "path", ["run.log", "__pycache__/x.txt", "node_modules/x/y.js", "lib/libggml.so", "x-1.0.whl"]
)
def test_build_products_and_ignored_files_are_refused_by_name(repo: Path, path: str) -> None:
    write(repo, {path: "x\n"})
    said = checkpoint(repo, path, "--yes")
    assert said.code == 1
    assert f"refused: {path} " in said.out and "build product" in said.out


def test_a_secret_in_the_message_is_refused(repo: Path) -> None:
    write(repo, {NOTE: "two\n"})
    said = hio(repo, "checkpoint", "--class", "fix", "-m", f"with {next(iter(SECRETS))}", NOTE, "--yes")
    assert said.code == 1
    assert "refused: the message:1 holds a secret" in said.out


def test_a_document_with_an_error_is_refused_and_so_is_a_document_that_it_breaks(repo: Path) -> None:
    write(repo, {MATRIX: matrix(to="3")})
    said = checkpoint(repo, MATRIX, "--yes")
    assert said.code == 1
    assert f"refused: {MATRIX}:7:45 " in said.out and "[value-mismatch]" in said.out
    write(repo, {MATRIX: matrix(), TWO: stack("two", 3)})
    assert f"refused: {MATRIX}:7:45 " in checkpoint(repo, TWO, "--yes").out


def test_what_is_judged_is_what_would_be_committed_and_not_the_work_tree(repo: Path) -> None:
    write(repo, {TWO: stack("two", 3), MATRIX: matrix(to="3")})
    assert "[value-mismatch]" in checkpoint(repo, TWO, "--yes").out
    assert checkpoint(repo, TWO, MATRIX, "--yes").code == 0


@pytest.mark.parametrize("what", ["entry edited", "entry deleted", "pinned stack edited", "rows edited"])
def test_a_frozen_document_is_never_committed_altered(repo: Path, what: str) -> None:
    match what:
        case "entry edited":
            path = ENTRY
            write(repo, {ENTRY: baseline().replace("someone", "another")})
        case "entry deleted":
            path = ENTRY
            (repo / ENTRY).unlink()
        case "pinned stack edited":
            path = f"{ROOM}/stacks/base.yaml"
            write(repo, {path: stack("base", 5)})
        case _:
            path = f"{ROOM}/runs/r1/rows.tsv"
            write(repo, {path: "arm\tspeed\n"})
    said = checkpoint(repo, path, "--yes")
    assert said.code == 1
    assert "[frozen-document-changed]" in said.out or "[pin-mismatch]" in said.out


def test_trailing_space_in_raw_evidence_is_evidence(repo: Path) -> None:
    write(repo, {"manifests/engines/llama-server/b2/notes.txt": "usage: \n"})
    assert checkpoint(repo, "manifests", "--yes").code == 0


def test_rooms_in_a_subfolder_are_judged(tmp_path: Path, repo: Path) -> None:
    outer = tmp_path / "outer"
    write(outer / "serving", {path: (repo / path).read_text() for path in (MATRIX, TWO, ENTRY)})
    committed(
        outer,
        {
            f"serving/{path}": (repo / path).read_bytes()
            for path in git(repo, "ls-files", "manifests", "ledger", "matrix").split()
        },
    )
    write(outer / "serving", {MATRIX: matrix(to="3")})
    said = checkpoint(outer / "serving", MATRIX, "--yes")
    assert f"refused: serving/{MATRIX}:7:45 " in said.out


def _merging(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "commit", "-q", "--allow-empty", "-m", "side")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "--no-commit", "side")


def _rebasing(repo: Path) -> None:
    git(repo, "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD~1")


STATES = {
    "detached": (lambda repo: git(repo, "checkout", "-q", "--detach"), "HEAD is detached"),
    "unborn": (lambda repo: git(repo, "checkout", "-q", "--orphan", "fresh"), "fresh has no commit yet"),
    "merge": (_merging, "a merge is in progress"),
    "rebase": (_rebasing, "a rebase is in progress"),
    "locked": (lambda repo: (repo / ".git/index.lock").write_text(""), "another git process is at work"),
    "nobody": (lambda repo: None, "git does not know who commits"),
}  # fmt: skip


@pytest.mark.parametrize("what", STATES)
def test_a_state_in_which_no_commit_can_be_made_is_said_in_one_sentence(
    repo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    make, expected = STATES[what]
    monkeypatch.delenv("EMAIL", raising=False)
    if what == "nobody":
        (own_home / ".gitconfig").write_text("[user]\n    useConfigOnly = true\n    name = A\n")
    make(repo)
    write(repo, {NOTE: "two\n"})
    before = state(repo) if what != "unborn" else None
    said = checkpoint(repo, NOTE, "--yes")
    assert said.code == 1
    assert expected in one_sentence(said)
    if before:
        assert state(repo) == before


def test_a_path_that_is_nowhere_or_outside_is_a_usage_error(repo: Path) -> None:
    assert "does not exist" in one_sentence(checkpoint(repo, "nope.md"))
    assert "outside of this repository" in one_sentence(checkpoint(repo, "../x"))
    assert checkpoint(repo, "nope.md").code == checkpoint(repo).code == 2
    assert checkpoint(repo, NOTE, "--remote", "origin").code == 2
    for message in (" ", "why\n\nhio-class: policy"):
        assert hio(repo, "checkpoint", "--class", "fix", "-m", message, NOTE).code == 2


def test_outside_git_it_is_a_usage_error(tmp_path: Path) -> None:
    assert "no git repository" in one_sentence(checkpoint(tmp_path, "x"))


def test_a_missing_scanner_is_told_and_never_skipped(repo: Path, tmp_path: Path) -> None:
    write(tmp_path / "broken", {"detect_secrets/__init__.py": "raise ImportError\n"})
    write(repo, {NOTE: "two\n"})
    path = f"{tmp_path / 'broken'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    said = checkpoint(repo, NOTE, "--yes", env={"PYTHONPATH": path})
    assert said.code == 3
    assert "pip install 'hio-validate[deliver]'" in one_sentence(said)


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
def test_a_hook_that_refuses_leaves_everything_as_it_was(repo: Path, name: str) -> None:
    hook(repo, name, "echo the hook says no; exit 1")
    write(repo, {NOTE: "two\n", "new.md": "x\n", "other.md": "staged\n"})
    git(repo, "add", "other.md")
    before = state(repo)
    said = checkpoint(repo, NOTE, "new.md", "--yes")
    assert said.code == 1
    assert "refused the commit; nothing changed" in said.err and "the hook says no" in said.err
    assert state(repo) == before
    assert litter(repo) == []


def test_hooks_see_the_index_of_this_commit(repo: Path) -> None:
    hook(
        repo,
        "pre-commit",
        f"git diff --cached --name-only > seen; {' '.join(HIO)} validate --staged > judged",
    )
    write(repo, {MATRIX: FINE, "other.md": "staged\n"})
    git(repo, "add", "other.md")
    assert checkpoint(repo, MATRIX, "--yes").code == 0
    assert (repo / "seen").read_text() == f"{MATRIX}\n"
    assert "1 document, " in (repo / "judged").read_text()


@pytest.mark.parametrize("words", [f"echo more >> {NOTE}; git add {NOTE}", "git add -f other.md"])
def test_a_hook_that_changes_the_commit_has_it_taken_back(repo: Path, words: str) -> None:
    hook(repo, "pre-commit", words)
    write(repo, {NOTE: "two\n", "other.md": "not mine\n"})
    before = state(repo)
    said = checkpoint(repo, NOTE, "--yes")
    assert said.code == 1
    assert "a hook changed what was to be committed" in one_sentence(said)
    assert state(repo)[:2] == before[:2]


def test_an_index_that_somebody_locks_meanwhile_is_told(repo: Path) -> None:
    hook(repo, "post-commit", "touch .git/index.lock")
    write(repo, {NOTE: "two\n"})
    said = checkpoint(repo, NOTE, "--yes")
    assert said.code == 1
    assert "the commit was made, but your index could not follow" in one_sentence(said)


def test_another_commit_meanwhile_is_never_undone(repo: Path) -> None:
    hook(
        repo,
        "pre-commit",
        "[ -e .git/once ] || { touch .git/once; unset GIT_INDEX_FILE; git commit -q --allow-empty -m theirs; }",
    )
    write(repo, {NOTE: "two\n"})
    said = checkpoint(repo, NOTE, "--yes")
    assert said.code == 1
    assert git(repo, "log", "-1", "--format=%s") == "theirs\n"
    assert git(repo, "status", "--porcelain") == f" M {NOTE}\n"


def test_killed_in_the_middle_index_and_work_tree_are_as_they_were(repo: Path) -> None:
    hook(repo, "pre-commit", "touch started; exec sleep 6000")
    write(repo, {NOTE: "two\n", "new.md": "x\n", "other.md": "staged\n"})
    git(repo, "add", "other.md")
    before = state(repo)
    running = subprocess.Popen(
        [*HIO, "checkpoint", "--class", "fix", "-m", "x", NOTE, "new.md", "--yes"], cwd=repo, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (repo / "started").exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    (repo / "started").unlink()
    assert state(repo) == before
    hook(repo, "pre-commit", "exit 0")
    assert checkpoint(repo, NOTE, "new.md", "--yes").code == 0
    assert git(repo, "status", "--porcelain") == "M  other.md\n"
