"""Trees out of real git repositories: work tree, index, revision; hooks, links, damage, foreign owners."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hio_validate.history import (
    Folder,
    GitError,
    WorkTree,
    changed_in_index,
    index_of,
    revision,
    top_of,
)
from tests.small_repo import FILES, MATRIX, TWO, committed, git, matrix, stack, write

ROOT = os.geteuid() == 0
NOBODY = 65534
SITE = "manifests/sites/lab.yaml"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def test_all_trees_of_a_clean_repository_are_the_same(repo: Path) -> None:
    head = revision(repo)
    assert head is not None
    for tree in (Folder(repo), WorkTree(repo), index_of(repo), head):
        assert sorted(tree.paths()) == sorted(FILES)
        assert all(tree.read(path) == content.encode() for path, content in FILES.items())
    assert all(head.same(path, content.encode()) for path, content in FILES.items())
    assert not head.same(SITE, b"other") and not head.same("manifests/nope.yaml", b"")
    assert changed_in_index(repo) == []


def test_the_work_tree_has_what_is_tracked_or_could_be(repo: Path) -> None:
    write(
        repo,
        {
            ".gitignore": "*.tmp.yaml\n",
            "manifests/new.yaml": "a: 1\n",
            "manifests/x.tmp.yaml": "",
            "other/x.yaml": "",
        },
    )
    (repo / SITE).unlink()
    paths = WorkTree(repo).paths()
    assert "manifests/new.yaml" in paths
    assert not {SITE, "manifests/x.tmp.yaml", "other/x.yaml"} & set(paths)
    with pytest.raises(FileNotFoundError):
        WorkTree(repo).read(SITE)


def test_the_index_is_what_was_added_and_the_revision_what_was_committed(repo: Path) -> None:
    write(repo, {TWO: stack("two", 3)})
    git(repo, "add", "-A")
    write(repo, {TWO: stack("two", 4)})
    git(repo, "rm", "-q", "--cached", SITE)
    head = revision(repo)
    assert head is not None
    assert [WorkTree(repo).read(TWO), index_of(repo).read(TWO), head.read(TWO)] == [
        stack("two", threads).encode() for threads in (4, 3, 2)
    ]
    assert sorted(changed_in_index(repo)) == sorted([SITE, TWO])
    with pytest.raises(FileNotFoundError):
        index_of(repo).read(SITE)


def test_an_unborn_branch_has_no_revision_and_everything_is_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path)
    assert revision(tmp_path) is None
    assert changed_in_index(tmp_path) == []
    git(tmp_path, "add", "-A")
    assert sorted(changed_in_index(tmp_path)) == sorted(FILES)


@pytest.mark.parametrize("damage", ["missing commit", "empty branch", "unknown revision"])
def test_a_damaged_head_is_an_error_and_never_unborn(repo: Path, damage: str) -> None:
    branch = repo / ".git/refs/heads/main"
    name = "HEAD"
    match damage:
        case "missing commit":
            branch.write_text("1" * 40 + "\n")
        case "empty branch":
            branch.write_text("")
        case _:
            name = "no-such-branch"
    with pytest.raises(GitError):
        revision(repo, name)


def test_a_detached_head_is_a_revision(repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")
    head = revision(repo)
    assert head is not None and SITE in head.ids


def test_a_missing_object_is_an_error_and_never_an_empty_file(repo: Path) -> None:
    head = revision(repo)
    assert head is not None
    id_ = head.ids[SITE]
    (repo / ".git/objects" / id_[:2] / id_[2:]).unlink()
    with pytest.raises(GitError, match="git has no object for manifests/sites/lab"):
        head.read(SITE)


def test_a_damaged_index_is_an_error_and_never_an_empty_list(repo: Path) -> None:
    (repo / ".git/index").write_bytes(b"nonsense")
    for ask in (index_of, changed_in_index, lambda root: WorkTree(root).paths()):
        with pytest.raises(GitError):
            ask(repo)


def test_without_git_it_is_said_that_git_is_missing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(GitError, match="git cannot be started"):
        top_of(repo)


def test_the_top_is_found_from_below_and_nowhere_else(repo: Path, tmp_path: Path) -> None:
    assert top_of(repo / "manifests/sites") == repo
    (tmp_path / "plain").mkdir()
    assert top_of(tmp_path / "plain") is None
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    assert top_of(tmp_path / "bare.git") is None
    named = tmp_path / "with\nnewline\n"
    committed(named, {SITE: "a: 1\n"})
    assert top_of(named / "manifests") == named


def test_a_link_to_a_lost_repository_is_an_error_and_no_plain_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nonexistent/worktrees/x\n")
    with pytest.raises(GitError, match="not a git repository"):
        top_of(tmp_path)


def test_a_linked_worktree_has_its_own_files_and_index(repo: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", str(linked), "-b", "other")
    write(linked, {TWO: stack("two", 7)})
    git(linked, "add", "-A")
    assert top_of(linked / "manifests") == linked
    assert changed_in_index(linked) == [TWO]
    assert changed_in_index(repo) == []
    assert index_of(linked).read(TWO) == stack("two", 7).encode()


def test_a_submodule_is_a_repository_of_its_own(repo: Path, tmp_path: Path) -> None:
    outer = committed(tmp_path / "outer", {SITE: "hio: site/v1\nname: lab\n"})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo), "manifests/inner")
    git(outer, "commit", "-q", "-m", "inner")
    head = revision(outer)
    assert head is not None
    for tree in (WorkTree(outer), index_of(outer), head):
        assert list(tree.paths()) == [SITE]
    assert top_of(outer / "manifests/inner") == outer / "manifests/inner"
    assert sorted(WorkTree(outer / "manifests/inner").paths()) == sorted(FILES)


@pytest.mark.parametrize(
    "name",
    ["with space.yaml", "Zürich-東京.yaml", "new\nline.yaml", 'quo"te\\.yaml', "tab\t.yaml", "-dash.yaml"],
)
def test_any_name_is_read_from_every_tree(repo: Path, name: str) -> None:
    path = f"manifests/sites/{name}"
    write(repo, {path: "a: 1\n"})
    git(repo, "config", "core.quotePath", "true")
    git(repo, "add", "-A")
    assert changed_in_index(repo) == [path]
    git(repo, "commit", "-q", "-m", "named")
    head = revision(repo)
    assert head is not None
    assert all(tree.read(path) == b"a: 1\n" for tree in (WorkTree(repo), index_of(repo), head))


def test_a_name_that_is_no_utf8_is_read_from_every_tree(repo: Path) -> None:
    path = os.fsdecode(b"manifests/sites/\xff.yaml")
    write(repo, {path: "a: 1\n"})
    git(repo, "add", "-A")
    assert changed_in_index(repo) == [path]
    assert WorkTree(repo).read(path) == index_of(repo).read(path) == b"a: 1\n"


def test_a_merge_conflict_is_an_error_that_names_the_file(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, {TWO: stack("two", 5)})
    git(repo, "commit", "-q", "-a", "-m", "five")
    git(repo, "checkout", "-q", "main")
    write(repo, {TWO: stack("two", 6)})
    git(repo, "commit", "-q", "-a", "-m", "six")
    git(repo, "merge", "-q", "other", check=False)
    with pytest.raises(GitError, match=f"{TWO} has a merge conflict"):
        index_of(repo)
    assert list(WorkTree(repo).paths()).count(TWO) == 1


@pytest.mark.parametrize("target", ["lab.yaml", "/etc/hostname", "nowhere.yaml"])
def test_a_symbolic_link_is_read_from_no_tree(repo: Path, target: str) -> None:
    link = "manifests/sites/link.yaml"
    (repo / link).symlink_to(target)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "a link")
    head = revision(repo)
    assert head is not None
    for tree in (Folder(repo), WorkTree(repo), index_of(repo), head):
        assert link in tree.paths()
        with pytest.raises(OSError, match="a symbolic link"):
            tree.read(link)


def test_a_linked_folder_is_entered_by_no_tree(repo: Path) -> None:
    (repo / "manifests/again").symlink_to("sites")
    git(repo, "add", "-A")
    for tree in (Folder(repo), WorkTree(repo), index_of(repo)):
        assert not any(path.startswith("manifests/again/") for path in tree.paths())


def test_what_is_no_regular_file_is_told_and_never_waited_for(repo: Path) -> None:
    (repo / SITE).unlink()
    os.mkfifo(repo / SITE)
    for tree in (Folder(repo), WorkTree(repo)):
        assert SITE in tree.paths()
        with pytest.raises(OSError, match="no regular file"):
            tree.read(SITE)


def test_a_folder_in_the_place_of_a_file_is_a_deletion(repo: Path) -> None:
    (repo / SITE).unlink()
    write(repo, {f"{SITE}/x.yaml": "a: 1\n"})
    assert SITE not in WorkTree(repo).paths()
    assert f"{SITE}/x.yaml" in WorkTree(repo).paths()


def test_a_sha256_repository_is_compared_by_its_own_digest(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    write(tmp_path)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "documents")
    head = revision(tmp_path)
    assert head is not None
    assert {len(id_) for id_ in head.ids.values()} == {64}
    assert all(head.same(path, content.encode()) for path, content in FILES.items())
    assert not head.same(SITE, b"other")


def test_converted_line_ends_differ_from_what_was_committed(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    (repo / SITE).unlink()
    git(repo, "checkout", "-q", "--", SITE)
    head = revision(repo)
    assert head is not None
    assert b"\r\n" in WorkTree(repo).read(SITE)
    assert b"\r\n" not in head.read(SITE)
    assert not head.same(SITE, WorkTree(repo).read(SITE))
    write(repo, {".gitattributes": "*.yaml eol=lf\n"})
    (repo / SITE).unlink()
    git(repo, "checkout", "-q", "--", SITE)
    assert head.same(SITE, WorkTree(repo).read(SITE))


def test_nothing_is_fetched_for_a_missing_object(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", repo.as_uri(), "partial")
    partial = tmp_path / "partial"
    head = revision(partial)
    assert head is not None
    with pytest.raises(GitError):
        head.read(SITE)
    assert git(partial, "rev-list", "--objects", "--all", "--missing=print").count("?") == len(
        set(head.ids.values())
    )


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
                                  "GIT_CEILING_DIRECTORIES", "GIT_PREFIX", "GIT_LITERAL_PATHSPECS"])  # fmt: skip
def test_what_a_hook_exports_leads_nowhere_else(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    other = committed(tmp_path / "other", {"manifests/other.yaml": "a: 1\n"})
    monkeypatch.setenv(name, str(other / ".git" if name != "GIT_WORK_TREE" else other))
    assert top_of(repo / "manifests") == repo
    assert sorted(index_of(repo).paths()) == sorted(FILES)
    assert changed_in_index(repo) == []


@pytest.mark.parametrize(
    "named", ["{other}/.git/index", "{repo}/.git/index.lock", ".git/next-index-1.lock", ""]
)
def test_an_index_of_another_repository_or_none_is_not_heeded(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    other = committed(tmp_path / "other", {"manifests/other.yaml": "a: 1\n"})
    monkeypatch.setenv("GIT_INDEX_FILE", named.format(other=other, repo=repo))
    assert sorted(index_of(repo).paths()) == sorted(FILES)
    assert changed_in_index(repo) == []


def _hook(repo: Path, words: str) -> None:
    folder = Path(git(repo, "rev-parse", "--git-path", "hooks").strip())
    hook = (repo / folder) / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{words}\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)


def _commit(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "commit", "-q", "-m", "x", *words], cwd=repo, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("place", ["main", "linked"])
@pytest.mark.parametrize("how", ["add", "-a", "a path"])
def test_a_hook_judges_what_would_be_committed(repo: Path, tmp_path: Path, place: str, how: str) -> None:
    _hook(repo, f'"{sys.executable}" -m hio_validate validate --staged')
    if place == "linked":
        git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
        repo = tmp_path / "linked"
    words = {"add": (), "-a": ("-a",), "a path": ("--", MATRIX)}[how]
    write(repo, {MATRIX: matrix(to="3")})
    if how == "add":
        git(repo, "add", "-A")
    refused = _commit(repo, *words)
    assert refused.returncode == 1
    assert "value-mismatch" in refused.stdout + refused.stderr
    write(repo, {MATRIX: matrix(more="# a comment\n")})
    if how == "add":
        git(repo, "add", "-A")
    assert _commit(repo, *words).returncode == 0


@pytest.mark.parametrize("how", ["add", "-a"])
def test_a_hook_judges_rooms_that_stand_in_a_subfolder(tmp_path: Path, how: str) -> None:
    repo = committed(tmp_path / "repo", {f"serving/{path}": content for path, content in FILES.items()})
    _hook(repo, f'cd serving && "{sys.executable}" -m hio_validate validate --staged')
    write(repo / "serving", {MATRIX: matrix(to="3")})
    git(repo, "add", "-A") if how == "add" else None
    assert _commit(repo, *(("-a",) if how == "-a" else ())).returncode == 1
    head = revision(repo / "serving")
    assert head is not None
    assert sorted(head.paths()) == sorted(index_of(repo / "serving").paths()) == sorted(FILES)
    assert changed_in_index(repo / "serving") == ([MATRIX] if how == "add" else [])


def test_a_hook_leaves_out_what_is_not_committed(repo: Path) -> None:
    _hook(repo, f'"{sys.executable}" -m hio_validate validate --staged')
    write(repo, {MATRIX: matrix(to="3"), SITE: "hio: site/v1\nname: lab\nabout: a machine\n"})
    assert _commit(repo, "--", SITE).returncode == 0
    git(repo, "add", "-A")
    assert _commit(repo, "--", MATRIX).returncode == 1


def test_a_hook_of_one_repository_may_judge_another(repo: Path, tmp_path: Path) -> None:
    other = committed(tmp_path / "other", {"README.md": "hooked\n"})
    _hook(other, f'"{sys.executable}" -m hio_validate validate --repo "{repo}"')
    write(other, {"README.md": "changed\n"})
    assert _commit(other, "-a").returncode == 0
    write(repo, {MATRIX: matrix(to="3")})
    write(other, {"README.md": "changed again\n"})
    assert _commit(other, "-a").returncode == 1


@pytest.mark.skipif(not ROOT, reason="only root can give a repository to somebody else")
def test_a_repository_of_somebody_else_is_an_error_until_git_is_told(
    repo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (repo, repo / ".git"):
        os.chown(path, NOBODY, NOBODY)
    with pytest.raises(GitError, match="dubious ownership"):
        top_of(repo)
    with (own_home / ".gitconfig").open("a") as config:
        config.write(f"[safe]\n    directory = {repo}\n")
    assert top_of(repo) == repo
    (own_home / ".gitconfig").unlink()
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": str(repo)}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert top_of(repo) == repo


@pytest.mark.skipif(not ROOT, reason="root reads everything, so another user must ask")
@pytest.mark.parametrize("tree", ["WorkTree", "Folder"])
def test_a_folder_that_may_not_be_listed_is_an_error(tmp_path: Path, tree: str) -> None:
    code = f"""\
import os, sys
from pathlib import Path
from hio_validate import history
os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})
try:
    print(list(history.{tree}(Path.cwd()).paths()))
except history.Unlistable as error:
    print("told:", error)
"""
    with tempfile.TemporaryDirectory() as named:
        shared = committed(Path(named), {SITE: "a: 1\n"})
        write(shared, {"manifests/new/x.yaml": "a: 1\n"})
        (shared / "manifests/new").chmod(0)
        for path in (shared, *shared.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=shared, capture_output=True, text=True, check=False
        )
    assert done.stdout.startswith("told:"), done.stdout + done.stderr
    assert "Permission denied" in done.stdout
