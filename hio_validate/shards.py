"""Judges a large repository in as many processes as there are cores, service by service.

Invariant: the report is the one that a single process gives. Services are independent of each other unless
one cites another by `site/model/name`; where any does, everything is judged in one process.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hio_validate import engine
from hio_validate.diagnostic import Report
from hio_validate.repo import Repo, Tree, documents_in, load, references, service_of
from hio_validate.rules.base import Before
from hio_validate.surroundings import part

SMALLEST_SHARE = 150
"""Documents; below it a second process costs more than it saves."""


class _Narrowed(NamedTuple):
    """The base revision, as far as it concerns one share."""

    before: Before
    share: frozenset[str | None]

    def paths(self) -> list[str]:
        return [path for path in self.before.paths() if service_of(path) in self.share]

    def same(self, path: str, raw: bytes) -> bool:
        return self.before.same(path, raw)

    def commit_of(self, path: str) -> str:
        return self.before.commit_of(path)


class _Mine(frozenset[str]):
    """Every file of some services, by where it stands; made as a set because that is what a focus is."""

    share: frozenset[str | None]

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and service_of(path) in self.share


def judge(
    tree: Tree,
    before: Before | None,
    gates: Sequence[str],
    processes: int | None = None,
    smallest: int = SMALLEST_SHARE,
) -> Report:
    """Judge all documents of a tree, in several processes where that pays."""
    shares = _shares(tree, processes or len(os.sched_getaffinity(0)), smallest)
    if len(shares) > 1:
        reports = _in_processes([(tree, before, gates, share) for share in shares])
        whole = [report for report in reports if report is not None]
        if len(whole) == len(shares):
            return _together(whole)
    return engine.run(load(tree), before, gates=gates)


def _shares(tree: Tree, processes: int, smallest: int) -> list[frozenset[str | None]]:
    """Services, dealt out so that the shares have about as many documents; sites and engines go with the first."""
    weights = Counter(service_of(path) for path in documents_in(tree))
    shares: list[set[str | None]] = [{None}]
    loads = [weights.pop(None, 0)]
    for _ in range(1, min(processes, weights.total() // smallest, len(weights))):
        shares.append(set())
        loads.append(0)
    for service, weight in weights.most_common():
        lightest = loads.index(min(loads))
        shares[lightest].add(service)
        loads[lightest] += weight
    return [frozenset(share) for share in shares]


def _judge_share(
    tree: Tree, before: Before | None, gates: Sequence[str], share: frozenset[str | None]
) -> Report | None:
    """The report of a share; None where a document of it cites another service."""
    mine = _Mine()
    mine.share = share
    repo = part(tree, (path for path in documents_in(tree) if path in mine))
    if _cites_another_service(repo, mine):
        return None
    narrowed = _Narrowed(before, share) if before is not None else None
    report = engine.run(repo, narrowed, gates=gates, focus=mine)
    return report._replace(documents=sum(item.file in mine for item in repo.items))


def _cites_another_service(repo: Repo, mine: _Mine) -> bool:
    return any(
        reference.name.count("/") == 2
        for item in repo.items
        if item.model is not None and item.file in mine
        for reference in references(item)
    )


def _in_processes(
    tasks: Sequence[tuple[Tree, Before | None, Sequence[str], frozenset[str | None]]],
) -> list[Report | None]:
    """Each task in a forked child, the last one here. Raises RuntimeError where a child fails."""
    children = [_fork(task) for task in tasks[:-1]]
    last = _judge_share(*tasks[-1])
    return [*(_received(pid, pipe) for pid, pipe in children), last]


def _fork(task: tuple[Tree, Before | None, Sequence[str], frozenset[str | None]]) -> tuple[int, int]:
    pipe, out = os.pipe()
    pid = os.fork()
    if pid:
        os.close(out)
        return pid, pipe
    code = 1
    try:
        with os.fdopen(out, "wb") as file:
            pickle.dump(_judge_share(*task), file)
        code = 0
    finally:
        os._exit(code)


def _received(pid: int, pipe: int) -> Report | None:
    with os.fdopen(pipe, "rb") as file:
        content = file.read()
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("a process that judged a share of the documents ended early")
    report: Report | None = pickle.loads(content)
    return report


def _together(reports: Sequence[Report]) -> Report:
    diagnostics = {found for report in reports for found in report.diagnostics}
    return Report(
        diagnostics=tuple(sorted(diagnostics, key=engine.reading_order)),
        suppressed=tuple(each for report in reports for each in report.suppressed),
        documents=sum(report.documents for report in reports),
        rules=reports[0].rules,
        gates=reports[0].gates,
        unreadable=tuple(sorted({each for report in reports for each in report.unreadable})),
    )
