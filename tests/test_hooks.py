"""The hooks as pre-commit runs them: real commits in repositories that name this one's hook manifest."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.small_repo import (
    ENTRY,
    FILES,
    MATRIX,
    ROOM,
    SERVICE,
    TWO,
    baseline,
    committed,
    git,
    matrix,
    pin,
    stack,
    write,
)

pytestmark = [
    pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.usefixtures("hio_on_path"),
]

MANIFEST = Path(__file__).parents[1] / ".pre-commit-hooks.yaml"
IDLE = "no staged documents: nothing to check"
SECOND = f"ledger/{SERVICE}/2026/b1.yaml"
ROWS = f"{ROOM}/runs/r1/rows.tsv"


@dataclass(frozen=True)
class Hooked:
    """A work tree whose commits run the hooks."""

    root: Path

    def commit(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`git commit` with what it and its hooks say, all of it in `stdout`."""
        return self.git("commit", "-m", "a change", *words)

    def git(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=self.root, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A repository with this one's hooks, which take the installed hio: no test may build an environment."""
    manifest = MANIFEST.read_text(encoding="utf-8")
    assert manifest.count("language: python") == manifest.count("- id: ")
    return committed(
        tmp_path / "published",
        {".pre-commit-hooks.yaml": manifest.replace("language: python", "language: system")},
    )


def _config(published: Path, *hooks: str) -> str:
    named = "".join(f"      - id: {hook}\n" for hook in hooks)
    revision = git(published, "rev-parse", "HEAD").strip()
    return (
        "default_install_hook_types: [pre-commit, pre-merge-commit]\n"
        f"repos:\n  - repo: {published}\n    rev: {revision}\n    hooks:\n{named}"
    )


def _pre_commit(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words], cwd=root, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def _hooked(root: Path, published: Path, *hooks: str) -> Hooked:
    committed(root, {**FILES, "README.md": "about\n", ".pre-commit-config.yaml": _config(published, *hooks)})
    done = _pre_commit(root, "install")
    assert done.returncode == 0, done.stdout
    return Hooked(root)


@pytest.fixture
def repo(tmp_path: Path, published: Path) -> Hooked:
    return _hooked(tmp_path / "repo", published, "hio-validate")


@pytest.fixture
def guarded(tmp_path: Path, published: Path) -> Hooked:
    """A repository that hooks only the ledger."""
    return _hooked(tmp_path / "repo", published, "hio-ledger")


@pytest.mark.parametrize("how", ["add", "-a", "a path"])
def test_a_contradiction_is_refused_however_it_is_committed(repo: Hooked, how: str) -> None:
    words = {"add": (), "-a": ("-a",), "a path": ("--", MATRIX)}[how]
    write(repo.root, {MATRIX: matrix(to="3")})
    if how == "add":
        git(repo.root, "add", "-A")
    refused = repo.commit(*words)
    assert refused.returncode == 1
    assert f"{MATRIX}:7:45" in refused.stdout and "value-mismatch" in refused.stdout
    write(repo.root, {MATRIX: matrix(more="# a comment\n")})
    if how == "add":
        git(repo.root, "add", "-A")
    assert repo.commit(*words).returncode == 0


def test_a_commit_without_documents_passes_and_the_hook_says_so(repo: Hooked) -> None:
    write(repo.root, {"README.md": "changed\n"})
    done = repo.commit("-a")
    assert done.returncode == 0, done.stdout
    assert IDLE in done.stdout


def test_open_work_passes_and_is_seen(repo: Hooked) -> None:
    write(repo.root, {MATRIX: matrix(more="# a comment\n")})
    done = repo.commit("-a")
    assert done.returncode == 0
    assert "retest-open" in done.stdout and "deployment blocked" in done.stdout


@pytest.mark.parametrize("ending", ["work tree is fine", "work tree is broken"])
def test_the_index_is_judged_where_the_work_tree_differs(repo: Hooked, ending: str) -> None:
    fine, broken = matrix(more="# a comment\n"), matrix(to="3")
    staged, beside = (broken, fine) if ending == "work tree is fine" else (fine, broken)
    write(repo.root, {MATRIX: staged})
    git(repo.root, "add", "-A")
    write(repo.root, {MATRIX: beside})
    assert repo.commit().returncode == (1 if staged is broken else 0)
    assert (repo.root / MATRIX).read_text() == beside


def test_nothing_but_a_deleted_entry_is_refused(repo: Hooked) -> None:
    git(repo.root, "rm", "-q", ENTRY)
    refused = repo.commit()
    assert refused.returncode == 1
    assert "this entry was committed and is gone" in refused.stdout


def test_a_draft_may_be_renamed_with_what_cites_it(repo: Hooked) -> None:
    git(repo.root, "mv", TWO, TWO.replace("two", "three"))
    alone = repo.commit()
    assert alone.returncode == 1
    assert "dangling-reference" in alone.stdout and "misnamed-document" in alone.stdout
    git(repo.root, "mv", MATRIX, MATRIX.replace("two", "three"))
    write(
        repo.root,
        {TWO.replace("two", "three"): stack("three", 2), MATRIX.replace("two", "three"): matrix("three")},
    )
    done = repo.commit("-a")
    assert done.returncode == 0, done.stdout


def test_an_amended_commit_is_judged_by_what_it_changes(repo: Hooked) -> None:
    write(repo.root, {MATRIX: matrix(more="# a comment\n")})
    assert repo.commit("-a").returncode == 0
    write(repo.root, {MATRIX: matrix(to="3")})
    assert repo.commit("-a", "--amend").returncode == 1
    write(repo.root, {MATRIX: matrix(more="# another\n")})
    assert repo.commit("-a", "--amend").returncode == 0
    done = repo.commit("--amend")
    assert done.returncode == 0
    assert IDLE in done.stdout


@pytest.mark.parametrize("how", ["-a", "a path"])
def test_a_linked_worktree_is_judged_by_its_own_index(repo: Hooked, tmp_path: Path, how: str) -> None:
    git(repo.root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    linked = Hooked(tmp_path / "linked")
    test_a_contradiction_is_refused_however_it_is_committed(linked, how)
    assert git(repo.root, "status", "--porcelain") == ""


def test_a_submodule_is_judged_as_the_repository_it_is(repo: Hooked, published: Path, tmp_path: Path) -> None:
    outer = _hooked(tmp_path / "outer", published, "hio-validate")
    git(outer.root, "submodule", "add", "-q", str(repo.root), "inner")
    done = outer.commit()
    assert done.returncode == 0 and IDLE in done.stdout, done.stdout
    inner = Hooked(outer.root / "inner")
    assert _pre_commit(inner.root, "install").returncode == 0
    test_a_contradiction_is_refused_however_it_is_committed(inner, "-a")


def _two_branches(repo: Hooked, theirs: dict[str, str], ours: dict[str, str]) -> None:
    """A branch `other` with some files, and main with others."""
    git(repo.root, "checkout", "-q", "-b", "other")
    write(repo.root, theirs)
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "--no-verify", "-m", "theirs")
    git(repo.root, "checkout", "-q", "main")
    write(repo.root, ours)
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "--no-verify", "-m", "ours")


def _second_entry(id_: str = "b1") -> str:
    return (
        baseline(id_)
        .replace("after: []", f'after: ["{pin("b0", baseline())}"]')
        .replace("2026-01-01", "2026-01-02")
    )


@pytest.mark.parametrize("hook", ["hio-validate", "hio-ledger"])
@pytest.mark.parametrize("how", ["-s ours", "after a conflict"])
def test_a_merge_that_drops_the_other_sides_entry_is_refused(
    tmp_path: Path, published: Path, hook: str, how: str
) -> None:
    repo = _hooked(tmp_path / "repo", published, hook)
    _two_branches(repo, {SECOND: _second_entry(), "README.md": "theirs\n"}, {"README.md": "ours\n"})
    if how == "-s ours":
        refused = repo.git("merge", "-s", "ours", "-m", "merge", "other")
    else:
        assert repo.git("merge", "other").returncode == 1
        git(repo.root, "checkout", "-q", "--ours", "README.md")
        git(repo.root, "rm", "-q", "-f", SECOND)
        git(repo.root, "add", "README.md")
        refused = repo.commit()
    assert refused.returncode == 1
    assert f"{SECOND}: error: this entry was committed and is gone" in refused.stdout.replace("\n    ", " ")
    restore = f"git checkout {git(repo.root, 'rev-parse', 'other')[:12]} -- {SECOND}"
    assert restore in " ".join(refused.stdout.split())
    git(repo.root, *restore.split()[1:])
    assert repo.commit().returncode == 0


def test_a_merge_that_brings_an_entry_passes(repo: Hooked) -> None:
    _two_branches(repo, {SECOND: _second_entry()}, {"README.md": "ours\n"})
    done = repo.git("merge", "-m", "merge", "other")
    assert done.returncode == 0, done.stdout
    assert (repo.root / SECOND).exists()


def test_a_merge_that_contradicts_itself_is_refused(repo: Hooked) -> None:
    more = f"matrix/{SERVICE}/two-to-base.yaml"
    reverse = matrix("base", to="1").replace('from: "1"', 'from: "2"').replace("parent: base", "parent: two")
    reverse = reverse.replace("base-to-base", "two-to-base")
    _two_branches(repo, {more: reverse}, {TWO: stack("two", 3), MATRIX: matrix(to="3")})
    refused = repo.git("merge", "-m", "merge", "other")
    assert refused.returncode == 1
    assert "value-mismatch" in refused.stdout and more in refused.stdout


def test_the_ledger_hook_lets_drafts_through_and_says_so(guarded: Hooked) -> None:
    write(guarded.root, {MATRIX: matrix(to="3"), TWO: "hio: stack/v1\nname: [\n"})
    done = guarded.commit("-a")
    assert done.returncode == 0, done.stdout
    assert "no staged entries, runs or captures: nothing to check" in done.stdout


@pytest.mark.parametrize(
    "what", ["edited entry", "deleted entry", "edited rows", "edited pinned stack", "bad new entry"]
)
def test_the_ledger_hook_refuses_what_no_later_commit_could_mend(guarded: Hooked, what: str) -> None:
    match what:
        case "edited entry":
            write(guarded.root, {ENTRY: baseline().replace("someone", "another")})
        case "deleted entry":
            (guarded.root / ENTRY).unlink()
        case "edited rows":
            write(guarded.root, {ROWS: "arm\tspeed\n"})
        case "edited pinned stack":
            write(guarded.root, {f"{ROOM}/stacks/base.yaml": stack("base", 4)})
        case _:
            write(guarded.root, {SECOND: _second_entry().replace("kind: baseline", "kind: nonsense")})
    git(guarded.root, "add", "-A")
    refused = guarded.commit()
    assert refused.returncode == 1, refused.stdout
    assert "error" in refused.stdout
    assert git(guarded.root, "log", "--format=%s").split() == ["documents"]


def test_both_hooks_can_be_run_by_hand(tmp_path: Path, published: Path) -> None:
    repo = _hooked(tmp_path / "repo", published, "hio-validate", "hio-ledger")
    done = _pre_commit(repo.root, "run", "--all-files")
    assert done.returncode == 0
    assert done.stdout.count("nothing to check") == 2


def test_a_hook_in_a_repository_without_documents_says_where_it_looks(
    tmp_path: Path, published: Path
) -> None:
    root = committed(tmp_path / "empty", {".pre-commit-config.yaml": _config(published, "hio-validate")})
    done = _pre_commit(root, "run")
    assert done.returncode == 1
    assert "exit code: 3" in done.stdout
    assert "matrix/, ledger/ and manifests/" in done.stdout


def test_a_history_that_altered_an_entry_is_not_pushed(tmp_path: Path, published: Path) -> None:
    repo = _hooked(tmp_path / "repo", published, "hio-audit")
    assert _pre_commit(repo.root, "install", "--hook-type", "pre-push").returncode == 0
    git(tmp_path, "init", "-q", "--bare", "there.git")
    honest = repo.git("push", str(tmp_path / "there.git"), "HEAD:refs/heads/main")
    assert honest.returncode == 0, honest.stdout
    write(repo.root, {ENTRY: baseline().replace("someone", "nobody")})
    git(repo.root, "commit", "-q", "--no-verify", "-a", "-m", "altered")
    refused = repo.git("push", str(tmp_path / "there.git"), "HEAD:refs/heads/main")
    assert refused.returncode != 0
    assert "history-altered" in refused.stdout and ENTRY in refused.stdout
