"""Anything that was measured, by what a person calls it: a result file, an observation of the repository, an arm of a run.

Invariant: the numbers of a run come from its raw rows and those of an observation from the bytes that it pins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from hio_validate.evidence.case import Case
from hio_validate.evidence.compared import STRICT, Allowed, Compared
from hio_validate.evidence.kept import Unkept, kept_records
from hio_validate.evidence.observed import Observation
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.sides import Side, of_arm, of_observation
from hio_validate.evidence.work_done import unequal_work
from hio_validate.importing.results.reading import Reading, reading
from hio_validate.importing.results.recognise import IMPORTERS
from hio_validate.importing.results.source import Source
from hio_validate.repo import Item, Repo
from hio_validate.rules.base import View, listed


class NoMeasurement(Exception):
    """The word means nothing that was measured; says what was expected. `code` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


class Found(NamedTuple):
    """What a word means."""

    side: Side
    item: Item | None
    """The run or the observation; None for a file."""
    part: str
    """The arm or the record."""
    format: str | None = None
    """Of a result file."""


class Measurements:
    """Looks up what the words mean; the repository is loaded when the first word needs it."""

    def __init__(
        self,
        repository: Callable[[], Repo],
        service: str | None = None,
        statistic: str = "median",
        told: Callable[[int], None] | None = None,
    ) -> None:
        self._repository, self.service, self.statistic, self._told = repository, service, statistic, told
        self._view: View | None = None

    @property
    def view(self) -> View:
        if self._view is None:
            self._view = View(self._repository())
        return self._view

    def compared(self, one: str, other: str, allowed: Allowed = STRICT) -> Compared:
        """What two words mean, side by side. Raises NoMeasurement and CannotImport."""
        a, b = self.find(one), self.find(other)
        unequal = None
        if a.side.record and a.side.record == b.side.record and not allowed.work_percent:
            case = self._case(one.rpartition(":")[0])
            found = unequal_work(case.model, case.trials, (a.part, b.part), case.same_work)
            unequal = [each.sentence for each in found]
        return Compared(a.side, b.side, allowed, unequal)

    def find(self, word: str) -> Found:
        """What a word means: FILE, FILE#record, NAME, NAME#record or RUN:ARM. Raises NoMeasurement and CannotImport."""
        if _is_file(word):
            return self._of_file(word, "")
        for file, record in _parted(word):
            if _is_file(file):
                return self._of_file(file, record)
        name, sign, record = word.partition("#")
        if ":" in name and not sign:
            return self._of_run(*name.rsplit(":", 1))
        return self._of_document(name, record)

    def _of_file(self, file: str, record: str) -> Found:
        read = opened(Path(file), file, self._told)
        found = _chosen(read.records(), file, record)
        return Found(of_observation(found, _label(file, record)), None, found.name, read.importer.format)

    def _of_document(self, name: str, record: str) -> Found:
        item = self._the("observation/v1", name, "looked for a file and for an observation of the repository")
        try:
            found = _chosen(kept_records(item, self.view.repo), name, record)
        except Unkept as error:
            raise NoMeasurement(str(error), 3) from None
        return Found(of_observation(found, _label(name, record)), item, found.name)

    def _of_run(self, run: str, arm: str) -> Found:
        case = self._case(run)
        if arm not in case.model.arms:
            raise NoMeasurement(f"{run} has no arm {arm}; it has {listed(case.model.arms)}")
        tier = Tier(self.view.verdict(case.run).tier)
        return Found(of_arm(case, arm, f"{run}:{arm}", tier, self.statistic), case.run, arm)

    def _case(self, run: str) -> Case:
        item = self._the("run/v1", run, "RUN:ARM is an arm of a run")
        case = Case(item, self.view)
        if case.rows is None:
            raise NoMeasurement(
                f"the raw rows of {run} are missing, or not what it says; hio validate {item.file} says why",
                3,
            )
        return case

    def _the(self, kind: str, name: str, expected: str) -> Item:
        found = self.view.repo.meant(kind, name, self.service)
        word = kind.partition("/")[0]
        if len(found) > 1:
            raise NoMeasurement(
                f"several {word}s are called {name}: say {' or '.join(each.full_name for each in found)}"
            )
        if not found or found[0].model is None:
            raise NoMeasurement(f"nothing readable is called {name or repr(name)}: {expected}")
        return found[0]


def _parted(word: str) -> Iterator[tuple[str, str]]:
    """A word before and after each of its number signs: names of files and of records may have one."""
    yield from ((word[:at], word[at + 1 :]) for at, sign in enumerate(word) if sign == "#")


def _is_file(word: str) -> bool:
    try:
        return bool(word) and Path(word).exists()
    except (OSError, ValueError):
        return False


def _label(name: str, record: str) -> str:
    return f"{name}#{record}" if record else name


def opened(path: Path, shown: str | None = None, told: Callable[[int], None] | None = None) -> Reading:
    """A result file, to be read. Raises CannotImport."""
    source = Source(path, shown, told)
    if not source.size:
        raise source.refuse("it is empty", "name the file that the tool wrote", code=3)
    found = reading(source)
    if found is None:
        known = ", ".join(each.format for each in IMPORTERS)
        raise source.refuse("it is no result file that hio knows", f"it knows {known}", code=3)
    return found


_SHOWN = 8
"""Names of records in a refusal."""


def _chosen(records: Iterator[Observation], name: str, record: str) -> Observation:
    """The record of that name, or the only one; one is held at a time, a file may have very many."""
    first, names, count = None, [], 0
    for each in records:
        if record and each.name == record:
            return each
        first, count = first or each, count + 1
        names += [each.name] if count <= _SHOWN else []
    if first is None:
        raise NoMeasurement(f"{name} has no record: it measured nothing", 3)
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    if record:
        raise NoMeasurement(f"{name} has no record {record}; it has {', '.join(names)}{more}")
    if count > 1:
        raise NoMeasurement(
            f"{name} has {count} records; say which one, e.g. {name}#{first.name}; it has {', '.join(names)}{more}"
        )
    return first
