"""Status of every stack of a service: experimental, tested, accepted or deployed (contract 8.3).

Invariant: it follows from the ledger alone. A commit, a flag, a capture or a smoke test raises nothing, imported
history raises nothing, a run whose tier is less than VERDICT raises nothing, and a stack whose bytes are no longer the pinned ones is another stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from hio_validate.evidence.outcome import Result, Tier
from hio_validate.inheritance import Inheritance
from hio_validate.ledger import PARENT, Ledger, words
from hio_validate.models.entry import Deployment, Increment, Rollback
from hio_validate.models.matrix import FactorRow
from hio_validate.models.run import Arm
from hio_validate.quantity import counted
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.rules.base import View
from hio_validate.settings.difference import LEAVES_NO_DIFFERENCE, Group
from hio_validate.settings.value import text_of


class Level(StrEnum):
    """How far a stack has come; each level stands on the one before it."""

    EXPERIMENTAL = "experimental"
    TESTED = "tested"
    ACCEPTED = "accepted"
    DEPLOYED = "deployed"


class Status(NamedTuple):
    """One stack of one service: how far it has come, on which entry, and what the next level lacks."""

    stack: str
    level: Level
    why: str
    """The entry that says so, in a few words."""
    missing: tuple[str, ...]
    """What the next level needs, one sentence each; empty where it is deployed."""


def statuses(view: View, service: str) -> tuple[Status, ...]:
    """The status of every readable stack of a service, and of every other stack that its ledger pins."""
    ledger = view.ledger(service)
    return tuple(_Standing(stack, ledger, view).status() for stack in _stacks(view, service, ledger))


def _stacks(view: View, service: str, ledger: Ledger) -> list[Item]:
    own = [item for item in view.repo.of("stack/v1") if item.service == service]
    shared = [view.repo.find("stack/v1", name, service) for name in ledger.accepted_stacks()]
    found = {item.file: item for item in (*own, *shared) if item is not None and item.model is not None}
    return list(found.values())


@dataclass(frozen=True)
class _Standing:
    """One stack before its ledger."""

    stack: Item
    ledger: Ledger
    view: View

    def status(self) -> Status:
        for level, reason, missing in (
            (Level.DEPLOYED, self._deployed, self._nothing),
            (Level.ACCEPTED, self._accepted, self._missing_for_deployment),
            (Level.TESTED, self._tested, self._missing_for_acceptance),
        ):
            why = reason()
            if why:
                return Status(self.stack.name, level, why, tuple(missing()))
        return Status(
            self.stack.name, Level.EXPERIMENTAL, "no entry has measured it", tuple(self._missing_for_test())
        )

    def _is(self, pin: str | None) -> bool:
        """Whether a pin means this stack with the bytes it has now."""
        return pin is not None and pin.partition("@")[2] == self.stack.document.digest and self._named(pin)

    def _named(self, pin: str) -> bool:
        return self.view.repo.find("stack/v1", name_of(pin), self.ledger.service) is self.stack

    def _entries(self) -> Iterator[Item]:
        """What counts: entries that hio saw happen, the latest first."""
        return (item for item in reversed(list(self.ledger.as_of())) if not item.model.imported)

    def _deployed(self) -> str:
        said = self.ledger.deployment
        if said is None or said.model.imported:
            return ""
        serving = said.model.pins.candidate if isinstance(said.model, Deployment) else said.model.pins.stack
        return f"{said.model.kind} {said.name}" if self._is(serving) else ""

    def _accepted(self) -> str:
        for item in self._entries():
            if (
                self._is_proven(item)
                and self._makes_it_parent(item)
                and not isinstance(item.model, Deployment | Rollback)
            ):
                right = self.ledger.corrected.get(item.name)
                return f"{item.model.kind} {item.name}" + (f", which {right} puts right" if right else "")
        return ""

    def _is_proven(self, item: Item) -> bool:
        """Whether an entry stands on a VERDICT, an increment on one that is an improvement, or pins no run at all."""
        run = self.view.repo.run_of(item)
        if run is None:
            return True
        outcome = self.view.verdict(run)
        improves = outcome.result is Result.IMPROVEMENT or not isinstance(item.model, Increment)
        return outcome.tier is Tier.VERDICT and improves

    def _makes_it_parent(self, item: Item) -> bool:
        said = [word.outcome for word in words(item) if word.subject == PARENT]
        return (item.name, PARENT) not in self.ledger.overruled and any(self._is(pin) for pin in said)

    def _tested(self) -> str:
        tested = (found for found in self._runs() if self.view.verdict(found[1]).tier is Tier.VERDICT)
        return next((f"{item.model.kind} {item.name}, run {run.name}" for item, run in tested), "")

    def _runs(self) -> Iterator[tuple[Item, Item]]:
        """Entries with the run they pin, where this stack was an observed arm of it; the latest first."""
        for item in self._entries():
            run = self.view.repo.run_of(item)
            if run is not None and self._ran_in(run):
                yield item, run

    def _ran_in(self, run: Item) -> bool:
        """Whether an arm that was observed ran with these settings: this stack, or another one plus a delta."""
        return any(arm.captures and self._is_arm(arm, run) for arm in run.model.arms.values())

    def _is_arm(self, arm: Arm, run: Item) -> bool:
        if not arm.set:
            return self._is(arm.stack)
        started = self.view.repo.find("stack/v1", name_of(arm.stack), run.service)
        if started is None or started.document.digest != arm.stack.partition("@")[2]:
            return False
        delta = {factor: text_of(value) for factor, value in arm.set.items()}
        settings = self.view.settings
        found = settings.difference(settings.effective(started, None, delta), settings.effective(self.stack))
        return all(
            each.group in LEAVES_NO_DIFFERENCE or each.group is Group.FOLLOWED for each in found.touched
        )

    def _nothing(self) -> Iterator[str]:
        yield from ()

    def _missing_for_test(self) -> Iterator[str]:
        pinned = next((item for item in self._entries() if self._was_pinned_otherwise(item)), None)
        if pinned is not None:
            yield f"its bytes are not the ones that {pinned.name} pinned; give the changed stack a new name"
        imported = next((item for item in self.ledger.as_of() if self._is_imported_word(item)), None)
        if imported is not None:
            yield f"{imported.name} is history from before hio, which proves nothing here"
        drafts = [run for _, run in self._runs()]
        if drafts and drafts[0].model.imported:
            yield f"the run {drafts[0].name} was measured outside hio (imported), so it stays a draft"
        elif drafts:
            outcome = self.view.verdict(drafts[0])
            reasons = ", ".join(each.reason for each in outcome.reasons) or outcome.result
            yield f"the run {drafts[0].name} is {outcome.tier}: {reasons}"
        yield "a ledger entry that pins a run with this stack as an observed arm"

    def _was_pinned_otherwise(self, item: Item) -> bool:
        said = (pin_of(item, role) for role in ("stack", "candidate"))
        return any(pin and self._named(pin) and not self._is(pin) for pin in said)

    def _is_imported_word(self, item: Item) -> bool:
        return bool(item.model.imported) and any(self._is(word.outcome) for word in self.ledger.words(item))

    def _missing_for_acceptance(self) -> Iterator[str]:
        rows = [f"{name} in {each.matrix.name}" for each in self._matrices() for name in _open_rows(each)]
        if rows:
            yield f"a measured decision about {', '.join(rows)}"
        yield "an increment, a baseline or an experimental default that pins it as the result"

    def _missing_for_deployment(self) -> Iterator[str]:
        matrices = self._matrices()
        parent = self.ledger.parent
        if not matrices and parent is not None and parent != self.stack.name:
            yield f"{parent} is the parent now: to serve again it needs a matrix from there"
        for found in matrices:
            name, open_ = found.matrix.name, _open_rows(found)
            if open_:
                yield f"{name}: {counted(len(open_), 'row')} open ({', '.join(open_)})"
            uncovered = [each.compared.address for each in found.missing()]
            if uncovered:
                yield f"{name}: no row about {', '.join(uncovered)}"
        for each in self.ledger.disagreements:
            yield f"a merge of {' and '.join(each.entries)}, which disagree on {each.subject}"
        if not self._is_qualified():
            yield f"a qualification of exactly its bytes in which every probe passed: hio qualify {self.stack.name}"
        yield "a deployment entry with approval, capture and rollback"

    def _is_qualified(self) -> bool:
        """Whether a receipt of this service says that these bytes do what serving needs."""
        return any(
            self._is(item.model.stack)
            and all(each.verdict == "passed" for each in item.model.probes.values())
            for item in self.view.repo.of("qualification/v1")
            if item.service == self.ledger.service
        )

    def _matrices(self) -> list[Inheritance]:
        """The matrices of this service with this stack as their candidate."""
        own = (item for item in self.view.repo.of("matrix/v1") if item.service == self.ledger.service)
        found = (self.view.inheritance(item) for item in own)
        return [each for each in found if each is not None and each.candidate is self.stack]


def _open_rows(matrix: Inheritance) -> list[str]:
    """The settings of a matrix that wait for a test or a decision."""
    rows = [
        row.factor if isinstance(row, FactorRow) else f"the bundle {row.bundle}"
        for _, row in matrix.open_rows()
    ]
    return [*rows, *(["the defaults"] if matrix.defaults_are_open else [])]
