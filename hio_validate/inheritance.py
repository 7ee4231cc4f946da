"""One matrix, resolved: both sides' settings, which row covers which, and what still needs a row (section 3).

Invariant: values and differences are computed from stacks, captures and builds; a row only says what a
person decided about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.ledger import Ledger, one_setting
from hio_validate.models.entry import Baseline
from hio_validate.models.matrix import Bundle, FactorRow, Matrix, Preserved
from hio_validate.repo import Item, Repo
from hio_validate.settings.difference import NEEDS_A_ROW, Compared, Difference, Group, difference
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Class, Effective, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN


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
    lost: bool = False
    """Accepted once, and set by neither side."""


class Said(NamedTuple):
    """What the stack of one side says of a setting, at `setting.path` of its document."""

    side: str
    setting: Setting
    stack: Item


class Inheritance:
    """A matrix whose parent and candidate exist.

    `ours` are the effective settings of the candidate, `theirs` those of the parent.
    """

    def __init__(
        self, item: Item, parent: Item, candidate: Item, ours: Effective, theirs: Effective, ledger: Ledger
    ) -> None:
        self.item, self.parent, self.candidate = item, parent, candidate
        self.ours, self.theirs, self.ledger = ours, theirs, ledger

    def under(self, item: Item) -> Inheritance:
        """The same two sides in another matrix."""
        return Inheritance(item, self.parent, self.candidate, self.ours, self.theirs, self.ledger)

    def as_known_to(self, ledger: Ledger) -> Inheritance:
        """The same matrix, with what a ledger knew at another moment."""
        return Inheritance(self.item, self.parent, self.candidate, self.ours, self.theirs, ledger)

    @property
    def matrix(self) -> Matrix:
        matrix: Matrix = self.item.model
        return matrix

    @cached_property
    def difference(self) -> Difference:
        return difference(self.theirs, self.ours, self.matrix.pairs)

    def said(self, compared: Compared) -> Iterator[Said]:
        """Where the values of a setting come from, on the sides whose stacks say something of it."""
        for side, setting, stack in (
            ("parent", compared.parent, self.parent),
            ("candidate", compared.candidate, self.candidate),
        ):
            if setting is not None and setting.path:
                yield Said(side, setting, stack)

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

    @property
    def tips(self) -> list[str] | None:
        """The tips whose decisions the matrix covers; None: all that the ledger knows count."""
        return self.matrix.as_of or None

    def required(self) -> Iterator[Required]:
        """What contract 3.3 wants covered: differences, what the parent sets, accepted and excluded settings."""
        found: dict[str, Required] = {}
        for required in (*self._differing(), *self._accepted(), *self._excluded()):
            found.setdefault(required.compared.address, required)
        yield from found.values()

    def _differing(self) -> Iterator[Required]:
        for compared in self.difference.touched:
            if compared.group in NEEDS_A_ROW:
                yield Required(compared, _WHY[compared.group])
            elif compared.class_ is Class.TUNING and compared.parent_sets:
                yield Required(compared, "the parent sets it")

    def _accepted(self) -> Iterator[Required]:
        """Accepted increments, also lost ones, but for those that a later control undid or a later baseline left out."""
        undone = {self._address(item) for item in self._exclusions}
        counting = self.ledger.ancestors(self.tips or self.ledger.tips)
        left_out = self.ledger.ancestors(
            name for name in counting if isinstance(self.ledger.entries[name].model, Baseline)
        )
        for item in self.ledger.accepted(self.tips):
            compared = self.difference.find(item.model.factor) or self._gone(item.model.factor)
            if compared is None or self._address(item) in undone:
                continue
            lost = _is_lost(compared)
            if not (lost and item.name in left_out):
                yield Required(compared, f"{item.name} accepted it", lost)

    def _excluded(self) -> Iterator[Required]:
        for item in self._exclusions:
            compared = self.difference.find(item.model.factor)
            if compared is not None and compared.set_by_a_person:
                yield Required(compared, f"{item.name} excluded it")

    @cached_property
    def _exclusions(self) -> list[Item]:
        return self.ledger.exclusions(self.tips)

    def _address(self, entry: Item) -> str:
        compared = self.difference.find(entry.model.factor)
        return compared.address if compared else entry.model.factor

    def _gone(self, factor: str) -> Compared | None:
        """A setting of a process that is still there, and of which neither side says anything.

        Without its process a name could be that of a bundle: it asks for no row.
        """
        process = factor.partition(".")[0]
        if process not in self.theirs.processes | self.ours.processes:
            return None
        from_, to = (
            ABSENT if side.catalogues.get(process) and not names_an_identity(factor) else UNKNOWN
            for side in (self.theirs, self.ours)
        )
        group = Group.UNKNOWN if UNKNOWN in (from_, to) else Group.EQUAL
        return Compared(factor, None, None, group, from_, to)

    def missing(self) -> list[Required]:
        """What must be covered and is not."""
        return [each for each in self.required() if not self._covers(each.compared.address)]

    def _covers(self, address: str) -> bool:
        strangers = (each.name for each in self.covered if each.compared is None)
        return address in self.covered_addresses or any(one_setting(name, address) for name in strangers)

    def open_rows(self) -> Iterator[tuple[int, FactorRow | Bundle]]:
        """Index and row of all that waits for a decision or a measurement; what is decided and cites nothing does."""
        for index, row in enumerate(self.matrix.rows):
            if not isinstance(row, FactorRow | Bundle):
                continue
            if row.disposition in ("retest", "undecided") or self.is_unfounded(row):
                yield index, row

    def is_unfounded(self, row: FactorRow | Bundle) -> bool:
        """Whether a row decides what needs evidence (contract 3.5) and cites none; to require another row is one, too."""
        if row.disposition not in ("changed", "excluded") or row.evidence is not None:
            return False
        return getattr(row, "requires", None) is None and self._needs_evidence(row)

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


def _is_lost(compared: Compared) -> bool:
    """Whether an accepted setting is in force on neither side but by a default; an identity always is in force."""
    return not compared.set_by_a_person and not names_an_identity(compared.address)


_IDENTITY = re.compile(r"([^.]+\.)?(build|executable|system-libraries|(build|lib|artifact)\..+)")


def names_an_identity(name: str) -> bool:
    """Whether only a capture or a build can give this setting a value, so that its absence says nothing."""
    return _IDENTITY.fullmatch(name) is not None


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
