"""The ledger of a service: a DAG of entries, each after the tips it pins (contract 8.1).

Invariant: nothing here trusts times or file order; what follows what is read from `after` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from hio_validate.models.entry import Baseline, Increment, NegativeControl
from hio_validate.repo import Item, Repo


class Ledger:
    """All entries of one service, by id."""

    def __init__(self, service: str, entries: dict[str, Item]) -> None:
        self.service, self.entries = service, entries

    def after(self, id_: str) -> list[str]:
        """The ids an entry follows, also those that do not exist."""
        item = self.entries.get(id_)
        return [pin.partition("@")[0] for pin in item.model.after] if item else []

    @cached_property
    def tips(self) -> list[str]:
        """Entries that no other entry follows."""
        followed = {parent for id_ in self.entries for parent in self.after(id_)}
        return [id_ for id_ in self.entries if id_ not in followed]

    @cached_property
    def roots(self) -> list[str]:
        return [id_ for id_ in self.entries if not self.after(id_)]

    @cached_property
    def in_a_cycle(self) -> list[str]:
        """Entries that follow themselves through others; pins make this impossible unless one is wrong."""
        return [id_ for id_ in self.entries if id_ in self.ancestors(self.after(id_))]

    def ancestors(self, tips: Iterable[str]) -> set[str]:
        """The given entries and everything before them."""
        seen: set[str] = set()
        waiting = [tip.removeprefix(f"{self.service}/") for tip in tips]
        while waiting:
            id_ = waiting.pop()
            if id_ not in seen and id_ in self.entries:
                seen.add(id_)
                waiting += self.after(id_)
        return seen

    def as_of(self, tips: Iterable[str] | None = None) -> Iterator[Item]:
        """The entries up to some tips (all where none are given), each after what it follows."""
        wanted = self.ancestors(tips if tips else self.tips)
        done: set[str] = set()
        waiting = [id_ for id_ in self.entries if id_ in wanted]
        while waiting:
            ready = [id_ for id_ in waiting if all(p in done or p not in wanted for p in self.after(id_))]
            for id_ in ready or waiting:
                done.add(id_)
                yield self.entries[id_]
            waiting = [id_ for id_ in waiting if id_ not in done]

    def accepted(self, tips: Iterable[str] | None = None) -> list[Item]:
        """Accepted increments."""
        return [item for item in self.as_of(tips) if isinstance(item.model, Increment)]

    def exclusions(self, tips: Iterable[str] | None = None) -> list[Item]:
        """Measured exclusions: negative controls whose factor was not accepted later."""
        excluded: dict[str, Item] = {}
        for item in self.as_of(tips):
            if isinstance(item.model, NegativeControl):
                excluded[item.model.factor] = item
            elif isinstance(item.model, Increment):
                accepted = item.model.factor
                excluded = {
                    factor: each for factor, each in excluded.items() if not _one_setting(factor, accepted)
                }
        return list(excluded.values())

    def accepted_stacks(self, tips: Iterable[str] | None = None) -> list[str]:
        """Names of the stacks that were baseline or accepted, the current parent last."""
        names = []
        for item in self.as_of(tips):
            pins = item.model.pins if isinstance(item.model, Baseline | Increment) else None
            if pins and pins.stack:
                names.append(pins.stack.partition("@")[0])
        return names


def _one_setting(one: str, other: str) -> bool:
    """Whether two names can mean one setting: equal, or one is the other without its process."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def ledgers(repo: Repo) -> dict[str, Ledger]:
    """Every service's ledger."""
    entries: dict[str, dict[str, Item]] = {}
    for item in repo.of("entry/v1"):
        entries.setdefault(item.model.service, {})[item.name] = item
    return {service: Ledger(service, found) for service, found in entries.items()}
