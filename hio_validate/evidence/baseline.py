"""A recorded baseline, and what a later measurement is beside it: better, worse, within, or not comparable (contract 10.2).

Invariants: the values of a baseline are those of its raw rows; with another workload, source, delivery or method there is
no verdict, and what is unknown of them is not the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from hio_validate.evidence.case import Case, Known
from hio_validate.evidence.compared import Compared, Pair, same, words
from hio_validate.evidence.definitions import DEFINITIONS, UNITS
from hio_validate.evidence.kept import record_of
from hio_validate.evidence.observed import Fact
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.sides import Number, Side, of_arm, of_observation
from hio_validate.models.entry import Baseline, Dimension
from hio_validate.repo import Item, name_of

DECIDES = ("source", "delivery", "method")
"""Conditions that ask for a new baseline where they change, beside the workload."""
TOLD = ("graph_mode", "devices")
"""Conditions that are told where they change: they may be what is compared."""


class Word(StrEnum):
    """What a dimension says."""

    BETTER = "better"
    WORSE = "worse"
    WITHIN = "within"
    NOT_COMPARABLE = "not comparable"


class Judged(NamedTuple):
    """One dimension of a baseline beside a measurement."""

    dimension: Dimension
    number: Number | None
    """What was measured now; None where it was not."""
    reasons: tuple[str, ...]
    """Why it is not comparable, a sentence each."""
    now: float | None = None
    """The measured value in the unit of the baseline; None where it is not comparable."""

    @property
    def change(self) -> float | None:
        """100 (now / baseline - 1); None where it is not comparable, or the baseline is 0."""
        if self.now is None or not self.dimension.value:
            return None
        return 100 * (self.now / self.dimension.value - 1)

    @property
    def allowed(self) -> float:
        """Difference in the unit of the baseline that is within it: the larger of tolerance and floor."""
        by_percent = abs(self.dimension.value) * self.dimension.tolerance_percent / 100
        return max(by_percent, self.dimension.floor)

    @property
    def word(self) -> Word:
        if self.now is None:
            return Word.NOT_COMPARABLE
        difference = self.now - self.dimension.value
        if abs(difference) <= self.allowed + 1e-12 * abs(self.dimension.value):
            return Word.WITHIN
        return Word.BETTER if (difference > 0) == (self.dimension.better == "higher") else Word.WORSE


class Difference:
    """A measurement beside a baseline."""

    def __init__(self, entry: Item, base: Side, side: Side, conditions: Mapping[str, Fact]) -> None:
        self.entry, self.side, self.conditions = entry, side, conditions
        self.compared = Compared(_as_recorded(entry.model, base), side, called=(entry.name, side.label))

    @property
    def baseline(self) -> Baseline:
        baseline: Baseline = self.entry.model
        return baseline

    @property
    def changed(self) -> tuple[str, ...]:
        """What asks for a new baseline, a sentence each."""
        return (*self._conditions(DECIDES), *self.compared.workload)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is not as it was recorded."""
        return tuple(self._conditions(TOLD))

    def _conditions(self, keys: tuple[str, ...]) -> Iterator[str]:
        for key in keys:
            recorded = getattr(self.baseline.conditions, key)
            now = self.conditions.get(key, "unknown")
            if not same(recorded, now):
                yield f"{words(key)}: {recorded} in {self.entry.name}, {now} in {self.side.label}"

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Every dimension, in the order of the baseline."""
        pairs = {id(pair.one): pair for pair in reversed(self.compared.pairs)}
        numbers = zip(self.baseline.dimensions, self.compared.one.numbers, strict=True)
        return tuple(self._judged(dimension, pairs.get(id(number))) for dimension, number in numbers)

    def _judged(self, dimension: Dimension, pair: Pair | None) -> Judged:
        if pair is None:
            return Judged(dimension, None, (f"{self.side.label} does not have it",))
        reasons = tuple(dict.fromkeys((*self._conditions(DECIDES), *pair.reasons)))
        now = None if reasons else in_unit(pair.other, dimension.unit)
        return Judged(dimension, pair.other, reasons, now)


def in_unit(number: Number, unit: str) -> float | None:
    """A number in another unit of its dimension; None where the unit is none of it."""
    if number.unit == unit:
        return float(number.value)
    units = UNITS.get(DEFINITIONS[number.definition].dimension, {})
    return number.value * units[number.unit] / units[unit] if {number.unit, unit} <= units.keys() else None


def _as_recorded(baseline: Baseline, base: Side) -> Side:
    """The side that was recorded: numbers and conditions of the entry, the work done of its evidence."""
    conditions = baseline.conditions
    if conditions is None:
        return base
    columns = {number.name: number.column for number in base.numbers}
    numbers = tuple(
        Number(each.metric, each.definition, each.statistic, each.value, each.unit, each.better, each.n, (),
               columns.get(each.metric, ""))
        for each in baseline.dimensions
    )  # fmt: skip
    workload = {**conditions.shapes, "concurrency": conditions.concurrency, "cache": conditions.cache}
    return base._replace(numbers=numbers, workload=workload)


def evidence_of(entry: Item, known: Known) -> Side | None:
    """What the pinned run or observation of a baseline gives; None where it is missing, or not what is pinned.

    Raises Unkept.
    """
    baseline: Baseline = entry.model
    conditions = baseline.conditions
    if conditions is None:
        return None
    if baseline.pins.run:
        run = _pinned(entry, "run/v1", baseline.pins.run, known)
        case = Case(run, known) if run else None
        if case is None or conditions.arm not in case.model.arms or case.rows is None:
            return None
        return of_arm(case, conditions.arm, entry.name, Tier.DRAFT, statistic_of(baseline))
    if baseline.pins.observation:
        item = _pinned(entry, "observation/v1", baseline.pins.observation, known)
        record = record_of(item, known.repo, conditions.record) if item else None
        return of_observation(record, entry.name) if record else None
    return None


def statistic_of(baseline: Baseline) -> str:
    """Over the trials of an arm."""
    return "mean" if any(each.statistic == "mean" for each in baseline.dimensions) else "median"


def _pinned(entry: Item, kind: str, pin: str, known: Known) -> Item | None:
    found = known.repo.find(kind, name_of(pin), entry.service)
    same_bytes = found is not None and found.document.digest == pin.partition("@")[2]
    return found if same_bytes and found is not None and found.model is not None else None
