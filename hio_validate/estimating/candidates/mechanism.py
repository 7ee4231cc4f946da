"""What a hint family proposes, before anything bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from hio_validate.costs.composition import longest_of_groups, time_of
from hio_validate.costs.gap import measured_time
from hio_validate.costs.interval import ZERO, Interval
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.ledger import Ledger
from hio_validate.estimating.context.inputs import STATED, Inputs
from hio_validate.models.estimate import Assumption, BoundTime
from hio_validate.models.profile import Part, Profile
from hio_validate.models.shape import Shape
from hio_validate.settings.catalogue import Option
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import ABSENT, UNKNOWN

NOTHING = frozenset({ABSENT, "", "none", "None", "null", "unused"})
"""Values with which a mechanism is not used."""

Confidence = Literal["high", "medium", "low"]


class Lever(NamedTuple):
    """A setting that the stack's engine has, and its value in force."""

    address: str
    value: str
    option: Option | None = None

    @property
    def unused(self) -> bool:
        return self.value in NOTHING

    @property
    def number(self) -> int | None:
        return int(self.value) if self.value.isdecimal() else None


@dataclass(frozen=True)
class Mechanism:
    """One mechanism, with the inputs as they would be if it did what it promises."""

    name: str
    family: int
    does: str
    term: str | None = None
    """The term it makes smaller."""
    lever: Lever | None = None
    to: str | None = None
    """The value it would get."""
    change: str | None = None
    """From what to what, where no setting says it."""
    then: Inputs | None = None
    """The inputs after the change: the ledger is computed again from them."""
    parts: tuple[Part, ...] = ()
    """The parts of the profile that it works on; without any, those of its term."""
    vanishes: bool = False
    """Whether all of its share could go, where no inputs say what remains."""
    confidence: Confidence = "medium"
    rollback: str | None = None
    stop_if: str | None = None
    needs: tuple[str, ...] = ()
    route: str = "tune-sweep"
    assumes: tuple[Assumption, ...] = ()
    measured: tuple[Interval, Interval] | None = None
    """Times with and without it as runs have them, where runs have both."""
    cold: str | None = None
    warm: str | None = None

    @property
    def factor(self) -> str | None:
        return self.lever.address if self.lever else None


@dataclass
class Found:
    """What the families found: mechanisms, and what is not there or is said instead of a proposal."""

    mechanisms: list[Mechanism] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


class Seen:
    """The inputs with their ledger, asked by every family."""

    def __init__(self, inputs: Inputs, ledger: Ledger, bound: BoundTime | None) -> None:
        self.inputs, self.ledger, self.bound = inputs, ledger, bound

    @property
    def shape(self) -> Shape | None:
        return self.inputs.shape.model if self.inputs.shape else None

    @property
    def profile(self) -> Profile | None:
        return self.inputs.profile.model if self.inputs.profile else None

    @cached_property
    def times(self) -> Mapping[str, Interval]:
        """Seconds of each term."""
        return times_of(self.ledger)

    @cached_property
    def whole(self) -> Interval:
        """Seconds of the bound."""
        return longest_of_groups(self.ledger.groups, self.times)

    @cached_property
    def measured_time(self) -> Interval | None:
        """Seconds that one unit of the path took; None where no baseline of it is there."""
        baseline, bound = self.inputs.baseline, self.bound
        if baseline is None or bound is None:
            return None
        return measured_time(baseline, bound, self.inputs.target.better)

    @cached_property
    def effective(self) -> Effective | None:
        view = self.inputs.view
        return view.settings.effective(self.inputs.stack) if view is not None else None

    def lever(self, *factors: str) -> Lever | None:
        """The first of these settings that a process of the stack has, or that its build knows; None where none is."""
        return next((lever for factor in factors for lever in self._levers(factor)), None)

    def _levers(self, factor: str) -> Iterator[Lever]:
        if self.effective is None:
            return
        for process in sorted(self.inputs.stack.model.processes):
            found = self.effective.settings.get(f"{process}.{factor}")
            catalogue = self.effective.catalogues.get(process)
            option = catalogue.find(factor) if catalogue else None
            if option is not None and option.removed:
                continue
            if found is not None:
                yield Lever(found.address, found.value, option)
            elif option is not None:
                yield Lever(f"{process}.{option.factor}", UNKNOWN, option)


def without(inputs: Inputs, cost: str) -> Inputs:
    """The inputs with a cost of nothing, one of those that a person may state (estimating.inputs.STATED)."""
    none = amount(ZERO, STATED[cost][0])
    return replace(inputs, stated={**inputs.stated, cost: none})


def times_of(ledger: Ledger) -> dict[str, Interval]:
    """Seconds of each term of a ledger."""
    return {term.name: time_of(term) for term in ledger.terms}
