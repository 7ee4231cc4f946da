"""A leg that counts although its prompt came from a cache, where the plan wants it cold.

A prompt whose tokens are cached is not prefilled: its time says how fast a cache is read. Contract 6.2: a cache hit that
the plan did not ask for invalidates the leg. The raw rows say how many tokens were cached (`cached`), the pinned plan
(`cache: cold`), or else the run's scope (`regime: cold …`), what was wanted. hio never counts such a leg; a run that
does not say so of it contradicts its own rows.

How to fix: say it of the leg (`invalid: [cache hit]`) before the run is committed, and find out where the hit came from:
`cache_prompt`, a prefix that two requests share, a slot that was kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import Row, UnreadableRows, is_measured, read_rows
from hio_validate.evidence.trials import has_tokens, is_cold, plan_of
from hio_validate.models.run import Run
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file


def check(item: Item, view: View) -> Iterator[Problem]:
    run: Run = item.model
    raw = view.repo.beside(item, run.raw.file)
    if raw is None or "cached" not in run.columns or not is_cold(run, plan_of(item, view.repo)):
        return
    try:
        rows = read_rows(run, raw)
    except UnreadableRows:
        return
    hits: dict[str, Row] = {}
    for row in rows:
        if is_measured(row, run) and has_tokens(row.cells["cached"]):
            hits.setdefault(row.cells[run.raw.leg] if run.raw.leg else f"line {row.line}", row)
    for name, row in hits.items():
        if not _is_said(run, name):
            file = normpath(f"{item.file}/../{run.raw.file}")
            yield Problem(
                in_file(file, row.line, 1),
                f"{row.cells['cached']} prompt tokens came from a cache, and the run is a cold one",
                "say it of the leg: invalid: [cache hit]",
                (("the legs", at(item, "legs" if run.legs else "raw")),),
                severity=Severity.GATE if run.imported else None,
            )


def _is_said(run: Run, name: str) -> bool:
    return any(str(leg.leg) == name and leg.invalid for leg in run.legs)


RULE = Rule(
    "cache-hit-counted", Scope.DOCUMENT, Severity.ERROR, "a cold leg whose prompt came from a cache counts", check,
    kinds=("run/v1",), contract=("6.2",), since=3,
)  # fmt: skip
