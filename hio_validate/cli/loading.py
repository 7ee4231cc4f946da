"""The repository that a verb reads whole; apart from what verbs share that read no document."""

from __future__ import annotations

from pathlib import Path

from hio_validate.cli.shared import root_of, stop
from hio_validate.history import Folder, Unlistable, WorkTree
from hio_validate.repo import Repo, load


def tree_of(repo: Path | None) -> WorkTree | Folder:
    """The files on disk."""
    root, kept = root_of(repo)
    return WorkTree(root) if kept else Folder(root)


def load_repo(repo: Path | None) -> tuple[Path, Repo]:
    """The repository around the working directory, read whole."""
    tree = tree_of(repo)
    try:
        return tree.root, load(tree)
    except Unlistable as error:
        stop(f"could not read {tree.root}: {error}")
