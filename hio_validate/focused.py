"""Judges some files of a tree with what they depend on and what depends on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hio_validate import engine
from hio_validate.diagnostic import Report
from hio_validate.parents import Parents
from hio_validate.repo import Tree
from hio_validate.surroundings import around


def judge(
    tree: Tree,
    before: Parents | None,
    files: set[str],
    gates: Sequence[str] = (),
    judged: Callable[[str], bool] | None = None,
) -> Report:
    """The report on these files and their dependents; with `judged`, only on those for which it holds."""
    gone = (files & set(before.paths())) - set(tree.paths()) if before else set()
    repo, focus = around(tree, files, gone, judged)
    return engine.run(repo, before and before.among(focus), gates=gates, focus=focus)
