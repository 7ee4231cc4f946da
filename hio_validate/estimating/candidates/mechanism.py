"""What a hint family proposes, before anything bounds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.gap import measured_time
from hio_validate.costs.interval import ZERO, Interval
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.ledger import Ledger
from hio_validate.estimating.candidates.levers import WAYS, Way
from hio_validate.estimating.context.in_force import serving_process
from hio_validate.estimating.context.inputs import STATED, Inputs
from hio_validate.models.estimate import Assumption, BoundTime
from hio_validate.models.profile import Part, Profile
from hio_validate.models.shape import Shape
from hio_validate.settings.catalogue import Option
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import UNKNOWN

Confidence = Literal["high", "medium", "low"]


class Lever(NamedTuple):
    """A setting that the stack's engine has, and its value in force."""

    address: str
    value: str
    option: Option | None = None
    asked: str = ""
    """What was asked for, where what became of it is not known."""

    @property
    def has(self) -> str:
        """The value in force, else the one that was asked for."""
        return self.asked if self.value == UNKNOWN and self.asked else self.value

    @property
    def number(self) -> int | None:
        return int(self.value) if self.value.isdecimal() else None

    def offered(self, values: Sequence[str]) -> list[str]:
        """Those of some values that the build takes; all of them where its help closes no list of values."""
        if self.option is None:
            return [*values]
        words = {*self.option.choices, *re.split(r"[,|]", self.option.metavar)}
        closed = bool(self.option.choices) or len(words) > 1
        return [each for each in values if each in words] if closed else [*values]


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
    most: Interval | None = None
    """How many times as fast its term becomes at most, whatever the ledger says after the change."""
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
        return self.ledger.times

    def bounded_by(self, term: str) -> str | None:
        """The resource that a term of the ledger uses; None where it has no such term."""
        return next((each.resource for each in self.ledger.terms if each.name == term), None)

    @cached_property
    def whole(self) -> Interval:
        """Seconds of the bound."""
        return longest_of_groups(self.ledger.groups, self.times)

    @cached_property
    def engine(self) -> str:
        """The family of the process that serves the model."""
        return str(self.inputs.stack.model.processes[self.process].engine)

    @cached_property
    def process(self) -> str:
        return serving_process(self.inputs.view, self.inputs.stack, self.inputs.path)

    @cached_property
    def measured_time(self) -> Interval | None:
        """Seconds that one unit of the path took; None where no baseline of it is there."""
        baseline, bound = self.inputs.baseline, self.bound
        if baseline is None or bound is None:
            return None
        return measured_time(baseline, bound, self.inputs.target.better)

    @cached_property
    def _declared(self) -> Effective | None:
        view = self.inputs.view
        return view.settings.effective(self.inputs.stack) if view is not None else None

    @cached_property
    def _observed(self) -> Effective | None:
        view, capture = self.inputs.view, self.inputs.capture
        return view.settings.effective(self.inputs.stack, capture) if view and capture else None

    @property
    def knows_its_build(self) -> bool:
        """Whether the help text of the serving process's build was learned; without a repository nothing is asked."""
        return self._declared is None or self._declared.catalogues.get(self.process) is not None

    def lever(self, *factors: str) -> Lever | None:
        """The first of these settings that the serving process has, or that its build knows; None where none is."""
        return next((lever for factor in factors if (lever := self._lever(factor))), None)

    def _lever(self, factor: str) -> Lever | None:
        if self._declared is None:
            return None
        catalogue = self._declared.catalogues.get(self.process)
        option = catalogue.find(factor) if catalogue else None
        if option is not None and option.removed:
            return None
        address = f"{self.process}.{option.factor if option else factor}"
        said = self._declared.settings.get(address)
        seen = self._observed.settings.get(address) if self._observed else None
        found = seen if seen is not None and (seen.known or said is None) else said
        if found is not None:
            return Lever(found.address, found.value, option, found.declared)
        return Lever(address, UNKNOWN, option) if option is not None else None

    def follows(self, lever: Lever, leader: Lever) -> bool:
        """Whether nobody sets it, so that it takes the value of another one."""
        said = self._declared.settings.get(lever.address) if self._declared is not None else None
        return said is not None and said.leader == leader.address

    def ways(self, mechanism: str) -> Iterator[tuple[Lever, Way]]:
        """The settings of this stack's engine that do it, each once."""
        taken: set[str] = set()
        for way in WAYS:
            if way.mechanism == mechanism and self._may_use(way):
                lever = self._lever(way.factor)
                is_meant = lever is not None and (not way.now or lever.has in way.now)
                if lever is not None and is_meant and lever.address not in taken:
                    taken.add(lever.address)
                    yield lever, way

    def has(self, mechanism: str) -> bool:
        """Whether the stack's engine has a setting that does it, whatever is in force."""
        factors = (way.factor for way in WAYS if way.mechanism == mechanism and self._may_use(way))
        return any(self._lever(factor) is not None for factor in factors)

    def _may_use(self, way: Way) -> bool:
        """An engine of no table may use any engine's settings: its build says which it has."""
        return way.engine == self.engine or self.engine not in {each.engine for each in WAYS}

    def switches(self, mechanism: str) -> Iterator[tuple[Lever, Way, str]]:
        """The same with the value to be set: one that the build takes and that is not in force."""
        for lever, way in self.ways(mechanism):
            values = lever.offered(way.to)
            if values and lever.has.casefold() not in (each.casefold() for each in values):
                yield lever, way, values[0]


def without(inputs: Inputs, cost: str) -> Inputs:
    """The inputs with a cost of nothing, one of those that a person may state (estimating.inputs.STATED)."""
    none = amount(ZERO, STATED[cost][0])
    return replace(inputs, stated={**inputs.stated, cost: none})
