"""What captures and runs of a service say of one stack: the host it ran on, the model it served, what was asked of it.

Invariant: a stack is the same by its resolved settings and its build, never by its name; what a record does not say is
not known, and never equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from hio_validate.evidence.case import Case
from hio_validate.evidence.raw import Row, UnreadableRows, number
from hio_validate.evidence.same_stack import other_stack
from hio_validate.evidence.workload import host_of, model_in, model_of
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import View


class Ran(NamedTuple):
    """An arm of a run that had exactly the stack."""

    case: Case
    arm: str


Fault = Callable[[Item], str | None]
"""The first error that the rules find in a document, with its place; None where there is none."""


class Recorded:
    """All records of a service, read for one stack."""

    def __init__(self, view: View, service: str, stack: Item, fault: Fault = lambda _: None) -> None:
        self.view, self.service, self.stack, self.fault = view, service, stack, fault

    @cached_property
    def cases(self) -> list[Case]:
        """The runs of the service, the newest first; one without a time is the oldest."""
        runs = [run for run in self.view.repo.of("run/v1") if run.service == self.service]
        return [Case(run, self.view) for run in newest_first(runs)]

    @cached_property
    def ran(self) -> list[Ran]:
        """The arms that had exactly this stack, the newest run first and in it the reference first."""
        return [
            Ran(case, arm)
            for case in self.cases
            for arm in (case.baseline, *case.candidates)
            if self.had_the_stack(case, arm)
        ]

    def had_the_stack(self, case: Case, arm: str) -> bool:
        return self.other_stack(case, arm) is None

    def other_stack(self, case: Case, arm: str) -> str | None:
        """What another stack an arm had; None where it had this one."""
        return other_stack(case.arm(arm), self.stack, self.service, self.view.repo, self.view.settings)

    @cached_property
    def captures(self) -> list[Item]:
        """The captures of this stack as it stands, the newest first."""
        of_runs = {
            name_of(pin)
            for ran in self.ran
            for pin in (
                *ran.case.arm(ran.arm).captures,
                *(leg.capture for leg in ran.case.model.legs if leg.arm == ran.arm and leg.capture),
            )
        }
        of_arms = {
            name_of(pin) for case in self.cases for name in case.model.arms for pin in case.arm(name).captures
        }
        mine = [
            item
            for item in self.view.repo.of("capture/v1")
            if item.service == self.service
            # A leg's capture names the stack that its arm starts from, whatever the arm changes in it.
            and (item.name in of_runs or (item.name not in of_arms and item.model.stack == self.stack.name))
        ]
        return sorted(mine, key=lambda item: (item.model.at, item.name), reverse=True)

    @cached_property
    def hosts(self) -> list[str]:
        """Where it ran, the latest first."""
        found = [(capture.model.at, capture.model.host.id) for capture in self.captures]
        found += [(ran.case.model.at or "", host_of(ran.case, ran.arm)) for ran in self.ran]
        return list(dict.fromkeys(host for _, host in sorted(found, key=_at, reverse=True) if host))

    @property
    def model_file(self) -> str | None:
        """Where the newest capture saw the model file, on its host."""
        seen = (
            process.artifacts["model"].path
            for capture in self.captures
            for process in capture.model.processes.values()
            if "model" in process.artifacts
        )
        return next((path for path in seen if path), None)

    @cached_property
    def models(self) -> list[str]:
        """SHA-256 of the model files that it served, each shard of split ones, the latest first."""
        found = [(capture.model.at, model_in(capture.model)) for capture in self.captures]
        found += [(ran.case.model.at or "", model_of(ran.case, ran.arm)) for ran in self.ran]
        latest = (model for _, model in sorted(found, key=_at, reverse=True) if model)
        return list(dict.fromkeys(file for model in latest for file in model.split("+")))


def newest_first(items: Iterable[Item]) -> list[Item]:
    """Readable documents by their time; one without a time is the oldest."""
    return sorted(items, key=lambda item: (item.model.at or "", item.name), reverse=True)


def _at(found: tuple[str, str | None]) -> str:
    return found[0]


def asked_fixture(case: Case, fixture: Item) -> bool:
    """Whether a run asked exactly these bytes."""
    asked = any(each.rpartition("/")[2] == fixture.pin for each in case.model.fixtures)
    return asked and case.fixture == fixture.name


def rows_asked(case: Case, arm: str) -> Iterator[Row]:
    """The measured rows of an arm's trials that count."""
    return (row for trial in case.counted(arm) for row in trial.rows)


def counts_of(case: Case, arm: str, column: str) -> list[int]:
    """What a column of counts says in the rows that count; a cell that is no whole number says nothing."""
    if column not in case.model.columns:
        return []
    found = []
    for row in rows_asked(case, arm):
        try:
            value = number(row, column)
        except UnreadableRows:
            continue
        if value >= 0 and value.is_integer():
            found.append(int(value))
    return found
