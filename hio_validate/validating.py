"""What `hio validate` does: judge the documents of a repository, its index, or some files, and print the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hio_validate import focused, history, parents
from hio_validate.console import color, root_of, show, stop, width
from hio_validate.diagnostic import Report
from hio_validate.repo import Tree, documents_in
from hio_validate.report import render
from hio_validate.rules import RULES
from hio_validate.rules.frozen_document_changed import is_frozen


def judge(
    paths: Sequence[Path],
    repo: Path | None = None,
    *,
    staged: bool = False,
    changed_from: str | None = None,
    gates: Sequence[str] = (),
    format_: str = "text",
    frozen: bool = False,
) -> int:
    """Judge all of a repository, its index, or some paths; print the report and return the exit code.

    `frozen` judges only what is frozen from its first commit.
    """
    if staged and paths:
        stop("--staged judges the whole index; leave the paths out (pre-commit: pass_filenames: false)", 2)
    root, kept = root_of(repo)
    try:
        tree, before = _trees(root, kept, staged, changed_from)
        files = parents.changed_in_index(root, before) if staged else _files(root, tree, paths)
        if frozen and files is None:
            files = {*tree.paths(), *(before.paths() if before else ())}
        report = _judge(tree, before, files, gates, frozen)
        if staged and not (report.documents or report.diagnostics or report.unreadable):
            report = _idle(tree, frozen, format_)
    except history.Unlistable as error:
        stop(f"could not read {root}: {error}")
    show(render(report, format_, color=color(), width=width(), rules=RULES))
    return report.exit_code


def _trees(
    root: Path, kept: bool, staged: bool, changed_from: str | None
) -> tuple[Tree, parents.Parents | None]:
    if not kept:
        if staged or changed_from:
            stop(f"{root} is no git repository, so there is nothing to compare it with", 2)
        return history.Folder(root), None
    tree = history.index_of(root) if staged else history.WorkTree(root)
    if staged and not changed_from:
        return tree, parents.of_next_commit(root)
    return tree, parents.of_revision(root, changed_from or "HEAD")


def _idle(tree: Tree, frozen: bool, format_: str) -> Report:
    """What to say where there are documents and none is staged: that no rule had to run."""
    documents = len(documents_in(tree))
    if documents:
        what = "entries, runs or captures" if frozen else "documents"
        print(f"no staged {what}: nothing to check", file=sys.stdout if format_ == "text" else sys.stderr)
        if format_ == "text":
            sys.exit(0)
    return Report((), documents=documents)


def _judge(
    tree: Tree, before: parents.Parents | None, files: set[str] | None, gates: Sequence[str], frozen: bool
) -> Report:
    if files is None:
        # Imported here: one file needs no second process.
        from hio_validate import shards

        return shards.judge(tree, before, gates)
    return focused.judge(tree, before, files, gates, is_frozen if frozen else None)


def _files(root: Path, tree: Tree, paths: Sequence[Path]) -> set[str] | None:
    """The named files relative to the root; a folder means every document of the repository in it."""
    if not paths:
        return None
    files: set[str] = set()
    for path in paths:
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            stop(f"{path} does not exist", 2)
        except OSError as error:
            stop(f"{path} cannot be read: {error.strerror}")
        # The folder is resolved as git resolves the root; the file itself is named, not what it may lead to.
        folder = os.path.realpath(path if path.is_dir() else path.parent)
        named = os.path.relpath(folder, root)
        if path.is_dir():
            files |= {each for each in documents_in(tree) if named == "." or each.startswith(f"{named}/")}
        else:
            files.add(os.path.normpath(os.path.join(named, path.name)))
    return files
