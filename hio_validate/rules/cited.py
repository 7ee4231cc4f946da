"""The ledger entries that a matrix's rows cite, followed to their runs. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.evidence.isolation import Isolation, isolate
from hio_validate.inheritance import Inheritance
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.difference import Compared
from hio_validate.settings.setting import Class


class Cited(NamedTuple):
    """One decided row, the settings it is about, and what it cites. `run` is None where nothing is pinned."""

    row: FactorRow | Bundle
    path: Path
    compared: tuple[Compared, ...]
    entry: Item | None
    run: Item | None

    @property
    def name(self) -> str:
        return self.row.factor if isinstance(self.row, FactorRow) else f"the bundle {self.row.bundle}"

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
            yield Cited(row, ("rows", index), _compared(found, row), entry, _run(entry, view))


def _compared(found: Inheritance, row: FactorRow | Bundle) -> tuple[Compared, ...]:
    return tuple(each.compared for each in found.covered if each.row is row and each.compared)


def _run(entry: Item | None, view: View) -> Item | None:
    pins = getattr(entry.model, "pins", None) if entry and entry.model else None
    pin = getattr(pins, "run", None)
    run = view.repo.find("run/v1", pin.partition("@")[0], entry.service) if pin and entry else None
    return run if run and run.model else None


def isolation_of(cited: Cited, view: View) -> Isolation | None:
    """How the two arms of the cited run differ, asked about the settings of the row."""
    if cited.run is None:
        return None
    names = {each.address for each in cited.compared}
    for each in cited.compared:
        names |= {side.address for side in (each.parent, each.candidate) if side}
        names |= {side.factor for side in (each.parent, each.candidate) if side}
    names |= {cited.row.factor} if isinstance(cited.row, FactorRow) else set(cited.row.members)
    return isolate(cited.run, frozenset(names), view.repo, view.settings)
