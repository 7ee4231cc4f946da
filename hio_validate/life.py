"""The life of one setting in one service: every value, who accepted it, on which run, what was tried and lost.

Invariant: a value is computed from a stack whose bytes are the pinned ones; where they are not, it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hio_validate.inheritance import Covered
from hio_validate.ledger import DEPLOYED, PARENT, Ledger, one_setting, words
from hio_validate.models.entry import Deployment, Rollback
from hio_validate.models.run import Arm
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.rules.base import View
from hio_validate.settings.setting import Effective, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN, text_of


class Value(NamedTuple):
    """What the setting is somewhere: in a stack, or in an arm of a run."""

    where: str
    value: str
    origin: str
    """argv, environment, build default, ...; empty where the value is not known."""


class Happening(NamedTuple):
    """One entry that speaks of the setting, or that made a stack with another value of it the parent."""

    entry: Item
    values: tuple[Value, ...]
    """The value in what became the parent or was deployed, or in both arms of the run."""
    run: str


class Life(NamedTuple):
    """All of it, in the order of the ledger, and where the setting stands now."""

    address: str
    service: str
    happenings: tuple[Happening, ...]
    now: tuple[Value, ...]
    rows: tuple[tuple[str, str, str], ...]
    """(matrix, disposition, `from -> to`) of every row about it."""


def life(view: View, service: str, factor: str) -> Life | None:
    """What happened to a setting; None where no stack, entry or row of the service knows it."""
    found = _Life(view, service, factor.lstrip("-")).told()
    known = any(each.value != ABSENT for each in found.now)
    return found if known or found.rows or any(_is_about(each, found) for each in found.happenings) else None


def _is_about(each: Happening, found: Life) -> bool:
    factor = getattr(each.entry.model, "factor", None)
    return factor is not None and one_setting(factor, found.address)


@dataclass(frozen=True)
class _Life:
    view: View
    service: str
    factor: str

    @property
    def ledger(self) -> Ledger:
        return self.view.ledger(self.service)

    def told(self) -> Life:
        happenings = tuple(self._happenings())
        now = [self._in_stack(item, item.name) for item in self._stacks]
        return Life(self._address, self.service, happenings, tuple(now), tuple(self._rows()))

    @cached_property
    def _stacks(self) -> list[Item]:
        return [item for item in self.view.repo.of("stack/v1") if item.service == self.service]

    @cached_property
    def _names(self) -> frozenset[str]:
        """Everything that the setting is called in any stack of the service."""
        known = {self.factor}
        for item in self._stacks:
            for setting in self.view.settings.effective(item).settings.values():
                if self.factor in _names(setting):
                    known |= _names(setting)
        return frozenset(known)

    @property
    def _address(self) -> str:
        return next(
            (name for name in sorted(self._names) if "." in name and self._is_address(name)), self.factor
        )

    def _is_address(self, name: str) -> bool:
        return any(name in self.view.settings.effective(item).settings for item in self._stacks)

    def _speaks(self, factor: str | None) -> bool:
        return factor is not None and any(one_setting(factor.lstrip("-"), name) for name in self._names)

    def _happenings(self) -> Iterator[Happening]:
        last: tuple[str, ...] = ()
        told: set[str] = set()
        for item in self.ledger.as_of():
            values = tuple(self._values(item))
            shown = tuple(each.value for each in values)
            about = self._speaks(getattr(item.model, "factor", None))
            about = about or (isinstance(item.model, Deployment | Rollback) and bool(values))
            about = about or getattr(item.model, "corrects", "").rpartition("/")[2] in told
            about = about or any(kept.rpartition("/")[2] in told for kept in getattr(item.model, "keeps", ()))
            if about or (values and shown != last):
                told.add(item.name)
                yield Happening(
                    item, values if values else self._in_run(item), name_of(pin_of(item, "run") or "")
                )
            last = shown or last

    def _values(self, item: Item) -> Iterator[Value]:
        """The value in what an entry makes the parent, or deploys."""
        for stack in dict.fromkeys(
            each.outcome for each in words(item) if each.subject in (PARENT, DEPLOYED)
        ):
            yield self._pinned(stack, {})

    def _in_run(self, item: Item) -> tuple[Value, ...]:
        """The value in both arms of the run that an entry pins."""
        run = self.view.repo.run_of(item)
        result = getattr(item.model, "result", None)
        if run is None:
            return ()
        arms: dict[str, Arm] = run.model.arms
        named = [result.from_arm, result.to_arm] if result else list(arms)
        return tuple(self._pinned(arms[name].stack, arms[name].set, name) for name in named if name in arms)

    def _pinned(self, pin: str, delta: Mapping[str, object], arm: str = "") -> Value:
        name, _, digest = pin.partition("@")
        stack = self.view.repo.find("stack/v1", name, self.service)
        where = arm or name
        if stack is None or stack.model is None or stack.document.digest != digest:
            return Value(where, UNKNOWN, "")
        return self._in_stack(stack, where, {key: text_of(value) for key, value in delta.items()})

    def _in_stack(self, stack: Item, where: str, delta: dict[str, str] | None = None) -> Value:
        setting = self._find(self.view.settings.effective(stack, None, delta))
        if setting is None:
            return Value(where, ABSENT, "")
        return Value(where, setting.shown, str(setting.origin) if setting.known else "")

    def _find(self, effective: Effective) -> Setting | None:
        found = [each for each in effective.settings.values() if _names(each) & self._names]
        exact = [each for each in found if each.address in self._names]
        return next(iter(exact or found), None)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for item in self.view.repo.of("matrix/v1"):
            found = self.view.inheritance(item) if item.service == self.service else None
            for each in found.covered if found else ():
                if each.disposition != "preserved" and self._covers(each):
                    from_, to = (each.compared.from_, each.compared.to) if each.compared else (ABSENT, ABSENT)
                    yield item.name, each.disposition, f"{from_} -> {to}"

    def _covers(self, each: Covered) -> bool:
        sides = (each.compared.parent, each.compared.candidate) if each.compared else ()
        return self._speaks(each.name) or any(
            side is not None and side.address in self._names for side in sides
        )


def _names(setting: Setting) -> set[str]:
    """Everything that a setting is called."""
    return {name for name in (setting.address, *setting.bare_names) if name}
