"""What the next commit follows: HEAD, and during a merge every commit that is merged into it.

Invariant: a frozen file that any parent has is in the next commit with the same bytes. A merge that drops what
only the other side had would otherwise pass, since HEAD never had it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hio_validate import history


class Parents(NamedTuple):
    """The files of one or several commits; one parent is the usual case."""

    trees: tuple[tuple[str, history.Objects], ...]
    """(name of the commit, its files)"""
    focus: frozenset[str] | None = None
    """Where it is set, only these files exist."""

    def among(self, files: frozenset[str]) -> Parents:
        """The same, of these files only."""
        return self._replace(focus=files)

    def paths(self) -> list[str]:
        """Every file that any parent has."""
        paths = dict.fromkeys(path for _, tree in self.trees for path in tree.ids)
        return [path for path in paths if self.focus is None or path in self.focus]

    def same(self, path: str, raw: bytes) -> bool:
        """Whether every parent that has the file has exactly these bytes."""
        return all(tree.same(path, raw) for _, tree in self.trees if path in tree.ids)

    def commit_of(self, path: str) -> str:
        """The first parent that has the file."""
        return next((name for name, tree in self.trees if path in tree.ids), "HEAD")


def of_revision(root: Path, name: str = "HEAD") -> Parents | None:
    """One revision as the only parent; None where HEAD has no commit yet. Raises GitError."""
    tree = history.revision(root, name)
    return None if tree is None else Parents(((name, tree),))


def of_next_commit(root: Path) -> Parents | None:
    """HEAD and what is merged into it; None where HEAD has no commit yet. Raises GitError."""
    head = of_revision(root)
    if head is None:
        return None
    merged = [(name, history.revision(root, name)) for name in _merged_in(root)]
    return Parents((*head.trees, *((name, tree) for name, tree in merged if tree is not None)))


def changed_in_index(root: Path, parents: Parents | None) -> set[str]:
    """Files of the rooms that the next commit would add, change or delete against any parent."""
    names: Iterable[str] = (name for name, _ in parents.trees) if parents else ("HEAD",)
    return {path for name in names for path in history.changed_in_index(root, name)}


def _merged_in(root: Path) -> list[str]:
    """The commits that a merge in progress brings in, shortened to be typed.

    A merge that git commits by itself has not written MERGE_HEAD when its hook runs; it exports a variable
    GITHEAD_<id> for each of them.
    """
    file = Path(os.fsdecode(history.git(root, "rev-parse", "--absolute-git-dir").removesuffix(b"\n")))
    try:
        ids = (file / "MERGE_HEAD").read_text(encoding="ascii").split()
    except FileNotFoundError:
        ids = []
    ids += [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    return [id_[:12] for id_ in dict.fromkeys(ids) if history.has_commit(root, id_)]
