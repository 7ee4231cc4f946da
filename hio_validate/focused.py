"""Judges some files of a tree with what they depend on and what depends on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hio_validate import engine
from hio_validate.diagnostic import Report
from hio_validate.parents import Parents
from hio_validate.repo import Item, Tree, evidence_files, joined
from hio_validate.surroundings import around


def with_beside(items: Iterable[Item]) -> set[str]:
    """The files of documents with those that stand beside them and are judged with them: the items of task sets."""
    mine = list(items)
    beside = {
        joined(item.file, file)
        for item in mine
        if item.kind == "tasks/v1"
        for _, file, _ in evidence_files(item)
    }
    return {item.file for item in mine} | beside


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
