"""All that is known of one run, read once: plan, trials, captures, the arm that is the reference.

Invariant: a document whose bytes are not the pinned ones is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from hio_validate.evidence.raw import Row, UnreadableRows, read_rows
from hio_validate.evidence.trials import Trial, known, pinned, plan_of, trials_of
from hio_validate.ledger import Ledger
from hio_validate.models.capture import Capture
from hio_validate.models.plan import Criteria, Plan, SameWork
from hio_validate.models.run import Arm, Run
from hio_validate.repo import Item, Repo, pin_of


class Known(Protocol):
    """The repository, and the ledger of a service in it."""

    @property
    def repo(self) -> Repo: ...

    def ledger(self, service: str | None) -> Ledger: ...


class Direction(NamedTuple):
    """A metric of a run: its unit and which way is a gain."""

    name: str
    unit: str
    better: str


ALPHA, POWER = 0.05, 0.8
"""Level and power that a run without a plan is shown with; nobody declared them."""


class Case:
    """One run before its verdict."""

    def __init__(self, run: Item, known: Known) -> None:
        self.run, self.known = run, known

    @property
    def model(self) -> Run:
        run: Run = self.run.model
        return run

    @cached_property
    def plan(self) -> Plan | None:
        """The plan that the run pins, with exactly these bytes."""
        return plan_of(self.run, self.known.repo)

    @property
    def decide(self) -> Criteria | None:
        return self.plan.decide if self.plan is not None else None

    @property
    def same_work(self) -> SameWork:
        return self.plan.same_work if self.plan is not None else SameWork()

    @cached_property
    def rows(self) -> Sequence[Row] | None:
        """The raw rows; None where they are missing, other bytes, or not what the run says."""
        raw = self.known.repo.beside(self.run, self.model.raw.file)
        if (
            raw is None
            or self.known.repo.digest_beside(self.run, self.model.raw.file) != self.model.raw.sha256
        ):
            return None
        try:
            return read_rows(self.model, raw)
        except UnreadableRows:
            return None

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, the invalid ones too."""
        return trials_of(self.model, self.rows or (), self.plan)

    def counted(self, arm: str) -> list[Trial]:
        return [trial for trial in self.trials if trial.arm == arm and trial.counted]

    def values(self, arm: str, metric: str) -> list[float]:
        """The observations of an arm, in the order of its legs; a leg that does not know the metric has none."""
        return known(self.trials, arm, metric)

    @cached_property
    def baseline(self) -> str:
        """The arm that is the reference: the planned one, else the parent as it stands, else the first."""
        arms = self.model.arms
        if self.plan is not None and self.plan.baseline in arms:
            return self.plan.baseline
        parent = self._ledger_then.parent
        as_it_stands = (
            name for name, arm in arms.items() if arm.stack.partition("@")[0] == parent and not arm.set
        )
        return next(as_it_stands, next(iter(arms)))

    @property
    def _ledger_then(self) -> Ledger:
        """The ledger before anything was decided on this run: before the first entry that pins it, or when it began."""
        ledger = self.known.ledger(self.model.service)
        for entry in ledger.as_of():
            pin = pin_of(entry, "run")
            if pin is not None and pin.endswith(self.run.document.digest):
                return ledger.before(entry.name)
        return ledger.until(self.model.at) if self.model.at is not None else ledger

    @property
    def candidates(self) -> list[str]:
        return [name for name in self.model.arms if name != self.baseline]

    @property
    def metrics(self) -> list[Direction]:
        """Every metric of the rows, the one that decides first."""
        found = [
            Direction(name, column.unit, column.better)
            for name, column in self.model.columns.items()
            if column.better is not None
        ]
        first = self.decide.metric if self.decide else None
        return sorted(found, key=lambda each: each.name != first)

    @property
    def alpha(self) -> float:
        """The level of one comparison: the plan's, divided by the number of candidates (Bonferroni)."""
        level: float = self.decide.alpha if self.decide else ALPHA
        return level / max(1, len(self.candidates))

    @property
    def power(self) -> float:
        power: float = self.decide.power if self.decide else POWER
        return power

    def captures(self, arm: str) -> Iterator[tuple[str, Capture | None]]:
        """(what was captured, the capture or None) of every leg of an arm that counts; of the arm where no legs are told."""
        if self.model.legs:
            for trial in self.counted(arm):
                yield f"leg {trial.number}", self._captured(trial.leg.capture if trial.leg else None)
        else:
            pins: list[str | None] = [*self.model.arms[arm].captures]
            for pin in pins or [None]:
                yield f"the arm {arm}", self._captured(pin)

    def _captured(self, pin: str | None) -> Capture | None:
        found = pinned(self.known.repo, "capture/v1", pin, self.run.service) if pin else None
        return found.model if found is not None else None

    def arm(self, name: str) -> Arm:
        return self.model.arms[name]

    @property
    def fixture(self) -> str | None:
        """What was asked; a benchmark program asks by the lengths it is told."""
        if self.plan is not None and self.plan.method == "llama-bench":
            return "llama-bench"
        planned = self.plan.fixture if self.plan is not None else None
        return planned or (self.model.scope.fixture if self.model.scope else None)

    @property
    def regime(self) -> str | None:
        """The cache regime, as planned or as the run's scope says."""
        if self.plan is not None:
            return str(self.plan.cache)
        return self.model.scope.regime if self.model.scope else None
