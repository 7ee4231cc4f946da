"""A matrix's rows by disposition, and the entries they cite, followed to their runs. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.evidence.isolation import Isolation, isolate, isolating_arms
from hio_validate.inheritance import Inheritance
from hio_validate.models.entry import Decision
from hio_validate.models.matrix import Bundle, FactorRow, Matrix
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, View, at
from hio_validate.settings.difference import Compared
from hio_validate.settings.setting import Class


def rows_of(item: Item, disposition: str) -> Iterator[tuple[Path, str]]:
    """Where a row has a disposition, and what it is about; "" for the line of unknown defaults."""
    matrix: Matrix = item.model
    for index, row in enumerate(matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.disposition == disposition:
            yield ("rows", index, "disposition"), _about(row)
    if matrix.defaults and matrix.defaults.disposition == disposition:
        yield ("defaults", "disposition"), ""


def _about(row: FactorRow | Bundle) -> str:
    return row.factor if isinstance(row, FactorRow) else f"the bundle {row.bundle}"


class Cited(NamedTuple):
    """One decided row, the settings it is about, and what it cites.

    `run` has the arms that count: the two that the entry's result names, else those that isolate the settings, else
    all. None where nothing is pinned.
    """

    row: FactorRow | Bundle
    path: Path
    compared: tuple[Compared, ...]
    entry: Item | None
    run: Item | None

    @property
    def name(self) -> str:
        return _about(self.row)

    @property
    def needs_evidence(self) -> bool:
        """Locators and endpoints need listing, not evidence (contract 3.2)."""
        return (
            any(each.class_ in (Class.TUNING, Class.ARTIFACT) for each in self.compared) or not self.compared
        )

    @property
    def evidence_path(self) -> Path:
        return (*self.path, "evidence")


def decided_rows(item: Item, view: View, *dispositions: str) -> Iterator[Cited]:
    """The rows of a matrix with one of these dispositions."""
    found = view.inheritance(item)
    if found is None:
        return
    for index, row in enumerate(found.matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.disposition in dispositions:
            entry = view.repo.find("entry/v1", row.evidence, item.service) if row.evidence else None
            cited = Cited(
                row, ("rows", index), _compared(found, row), entry, view.repo.run_of(entry) if entry else None
            )
            yield _that_count(cited, view)


def _compared(found: Inheritance, row: FactorRow | Bundle) -> tuple[Compared, ...]:
    return tuple(each.compared for each in found.covered if each.row is row and each.compared)


def _that_count(cited: Cited, view: View) -> Cited:
    """With the arms of the run that count: what a further arm ran says nothing about these."""
    run = cited.run
    if run is None:
        return cited
    result = getattr(cited.entry.model, "result", None) if cited.entry else None
    if result is not None:
        counting = {result.from_arm, result.to_arm}
    elif len(run.model.arms) > 2:
        counting = isolating_arms(run, _names(cited), view.repo, view.settings)
    else:
        return cited
    arms = {name: arm for name, arm in run.model.arms.items() if name in counting}
    if not counting or len(arms) < len(counting):
        return cited
    return cited._replace(run=run._replace(model=run.model.model_copy(update={"arms": arms})))


def unmeasured(item: Item, cited: Cited, lacking: str, cite: str) -> Iterator[Problem]:
    """What a decided row lacks of a measurement: it cites nothing, or a decision that pins no run."""
    said = f"{cited.name} is {cited.row.disposition}"
    if cited.row.evidence is None:
        yield Problem(at(item, *cited.path, "disposition"), f"{said} {lacking}", cite)
    elif cited.entry is not None and cited.run is None and isinstance(cited.entry.model, Decision):
        yield Problem(
            at(item, *cited.evidence_path),
            f"{said} because of {cited.entry.name}, which pins no run",
            "cite an entry that pins the run that measured it, or write retest",
            (("the cited entry", Place(cited.entry.document, ("kind",))),),
        )


def isolation_of(cited: Cited, view: View) -> Isolation | None:
    """How the two arms of the cited run differ, asked about the settings of the row."""
    if cited.run is None:
        return None
    return isolate(cited.run, _names(cited), view.repo, view.settings)


def _names(cited: Cited) -> frozenset[str]:
    """Every way in which the arms of a run may name the settings of a row."""
    names = {each.address for each in cited.compared}
    for each in cited.compared:
        names |= {side.address for side in (each.parent, each.candidate) if side}
        names |= {side.factor for side in (each.parent, each.candidate) if side}
    names |= {cited.row.factor} if isinstance(cited.row, FactorRow) else set(cited.row.members)
    return frozenset(names)
