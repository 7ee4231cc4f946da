"""One matrix, resolved: both sides' settings, which row covers which, and what still needs a row (section 3).

Invariant: values and differences are computed from stacks, captures and builds; a row only says what a
person decided about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.ledger import Ledger
from hio_validate.models.matrix import Bundle, FactorRow, Matrix, Preserved
from hio_validate.repo import Item, Repo
from hio_validate.settings.difference import NEEDS_A_ROW, Compared, Difference, Group, difference
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Class, Effective


class Covered(NamedTuple):
    """One setting named by one row. `compared` is None where neither side has it."""

    name: str
    path: Path
    row: Preserved | FactorRow | Bundle
    compared: Compared | None

    @property
    def disposition(self) -> str:
        return "preserved" if isinstance(self.row, Preserved) else self.row.disposition


class Required(NamedTuple):
    """A setting that must be covered exactly once, and why."""

    compared: Compared
    why: str


@dataclass(frozen=True, eq=False)
class Inheritance:
    """A matrix whose parent and candidate exist."""

    item: Item
    parent: Item
    candidate: Item
    ours: Effective
    """Effective settings of the candidate."""
    theirs: Effective
    """Effective settings of the parent."""
    ledger: Ledger

    @property
    def matrix(self) -> Matrix:
        matrix: Matrix = self.item.model
        return matrix

    @cached_property
    def difference(self) -> Difference:
        return difference(self.theirs, self.ours, self.matrix.pairs)

    @cached_property
    def covered(self) -> tuple[Covered, ...]:
        """Every setting that a row names, in the order of the rows."""
        return tuple(self._covered())

    def _covered(self) -> Iterator[Covered]:
        for index, row in enumerate(self.matrix.rows):
            match row:
                case Preserved():
                    names: list[tuple[str, Path]] = [
                        (name, ("preserved", at)) for at, name in enumerate(row.preserved)
                    ]
                case Bundle():
                    names = [(name, ("members", at)) for at, name in enumerate(row.members)]
                case FactorRow():
                    names = [(row.factor, ("factor",))]
            for name, path in names:
                yield Covered(name, ("rows", index, *path), row, self.difference.find(name))

    @cached_property
    def covered_addresses(self) -> frozenset[str]:
        return frozenset(each.compared.address for each in self.covered if each.compared)

    def required(self) -> Iterator[Required]:
        """What contract 3.3 wants covered: differences, what the parent sets, accepted and excluded settings."""
        decided = self._decided()
        for compared in self.difference.touched:
            if compared.group in NEEDS_A_ROW:
                yield Required(compared, _WHY[compared.group])
            elif compared.class_ is Class.TUNING and compared.parent_sets:
                yield Required(compared, "the parent sets it")
            elif compared.address in decided and compared.set_by_a_person:
                yield Required(compared, decided[compared.address])

    def _decided(self) -> dict[str, str]:
        tips = self.matrix.as_of or None
        found = {}
        for word, items in (
            ("accepted", self.ledger.accepted(tips)),
            ("excluded", self.ledger.exclusions(tips)),
        ):
            for item in items:
                compared = self.difference.find(item.model.factor)
                if compared:
                    found[compared.address] = f"{item.name} {word} it"
        return found

    def missing(self) -> list[Required]:
        """What must be covered and is not."""
        return [each for each in self.required() if each.compared.address not in self.covered_addresses]

    def open_rows(self) -> Iterator[tuple[int, FactorRow | Bundle]]:
        """Index and row of all that waits for a decision or a measurement; a change that cites nothing does."""
        for index, row in enumerate(self.matrix.rows):
            if not isinstance(row, FactorRow | Bundle):
                continue
            if row.disposition in ("retest", "undecided") or (
                row.disposition == "changed" and row.evidence is None and self._needs_evidence(row)
            ):
                yield index, row

    def _needs_evidence(self, row: FactorRow | Bundle) -> bool:
        """Locators and endpoints need listing, not evidence (contract 3.2)."""
        about = [each.compared for each in self.covered if each.row is row and each.compared]
        return not about or any(each.class_ in (Class.TUNING, Class.ARTIFACT) for each in about)

    @property
    def defaults_are_open(self) -> bool:
        defaults = self.matrix.defaults
        return defaults is not None and defaults.disposition in ("retest", "undecided")

    def sides_without_defaults(self) -> list[str]:
        """`parent`, `candidate`: the sides of which a build's defaults are not known."""
        sides = (("parent", self.theirs), ("candidate", self.ours))
        return [side for side, effective in sides if not all(effective.catalogues.values())]


_WHY = {
    Group.CHANGED: "it differs",
    Group.MOVED: "the build moved its default",
    Group.IDENTITY: "its identity differs",
    Group.UNKNOWN: "it cannot be compared",
}


def inheritance(item: Item, repo: Repo, settings: Settings, ledger: Ledger) -> Inheritance | None:
    """Resolve a matrix; None where a side is missing or unreadable, which other rules report."""
    matrix: Matrix = item.model
    parent = repo.find("stack/v1", matrix.parent, item.service)
    candidate = repo.find("stack/v1", matrix.candidate, item.service)
    if parent is None or candidate is None or parent.model is None or candidate.model is None:
        return None
    captures = {side: _capture(item, side, repo) for side in ("parent", "candidate")}
    return Inheritance(
        item,
        parent,
        candidate,
        ours=settings.effective(candidate, captures["candidate"]),
        theirs=settings.effective(parent, captures["parent"]),
        ledger=ledger,
    )


def _capture(item: Item, side: str, repo: Repo) -> Item | None:
    named = getattr(item.model.captures, side, None)
    found = repo.find("capture/v1", named, item.service) if named else None
    return found if found and found.model else None
