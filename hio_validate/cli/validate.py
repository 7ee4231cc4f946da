"""hio validate: judge the documents of a repository, its index, or some files with what depends on them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from hio_validate import focused, history, parents, shards
from hio_validate.cli.shared import color, repo_option, root_of, show, stop, width
from hio_validate.diagnostic import Report
from hio_validate.repo import Tree, documents_in
from hio_validate.report import FORMATS, render
from hio_validate.rules import RULES
from hio_validate.rules.frozen_document_changed import is_frozen


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@repo_option
@click.option("--staged", is_flag=True, help="Judge what the next commit would add or change (the index).")
@click.option(
    "--changed-from", metavar="REV", help="Compare frozen documents with this revision (default: HEAD)."
)
@click.option(
    "--frozen", is_flag=True, help="Judge only entries, runs and captures, which no later commit can mend."
)
@click.option("--gate", "gates", multiple=True, type=click.Choice(["tested", "accepted", "deploy"]),
              help="Fail on what blocks this, too.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(list(FORMATS)), default="text", show_default=True,
              help="How to report.")  # fmt: skip
def validate(
    paths: tuple[Path, ...], repo: Path | None, staged: bool, changed_from: str | None,
    frozen: bool, gates: tuple[str, ...], format_: str,
) -> None:  # fmt: skip
    """Check documents: all of the repository, or PATHS with what they depend on and what depends on them.

    Errors block; gates are honest work that is not deployable yet and block with --gate; notes are worth
    knowing.
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
    sys.exit(report.exit_code)


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
        click.echo(f"no staged {what}: nothing to check", err=format_ != "text")
        if format_ == "text":
            sys.exit(0)
    return Report((), documents=documents)


def _judge(
    tree: Tree, before: parents.Parents | None, files: set[str] | None, gates: tuple[str, ...], frozen: bool
) -> Report:
    if files is None:
        return shards.judge(tree, before, gates)
    return focused.judge(tree, before, files, gates, is_frozen if frozen else None)


def _files(root: Path, tree: Tree, paths: tuple[Path, ...]) -> set[str] | None:
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
