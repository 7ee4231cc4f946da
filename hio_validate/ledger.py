"""The ledger of a service: a DAG of entries, each after the tips it pins (contract 8.1).

Invariant: nothing here trusts times or file order; what follows what is read from `after` alone. Where two
branches were merged and had decided the same thing differently, the merge entry says what stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from hio_validate.models.entry import (
    Baseline,
    Decision,
    Deployment,
    Increment,
    NegativeControl,
    Rollback,
)
from hio_validate.moment import moment
from hio_validate.repo import Item, Repo, name_of

PARENT = "the parent"
DEPLOYED = "what is deployed"
NOTHING = "nothing"
"""What serves after a first deployment was taken back."""


class Word(NamedTuple):
    """What one entry says about one subject: a setting, the parent, or what is deployed."""

    subject: str
    outcome: str
    """Equal outcomes agree: the pinned document where there is one."""


class Disagreement(NamedTuple):
    """A subject that two branches decided differently, with the last entry of each that speaks of it."""

    subject: str
    entries: tuple[str, ...]


class Ledger:
    """All entries of one service, by id."""

    def __init__(self, service: str, entries: dict[str, Item]) -> None:
        self.service, self.entries = service, entries

    def after(self, id_: str) -> list[str]:
        """The ids an entry follows, also those that do not exist."""
        item = self.entries.get(id_)
        return [name_of(pin) for pin in item.model.after] if item else []

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
        settled = set(self._sorted(set(self.entries)))
        return [id_ for id_ in self.entries if id_ not in settled and id_ in self.ancestors(self.after(id_))]

    def entry(self, name: str) -> Item | None:
        """The entry that a name in a document of this service means; None where this ledger has none."""
        return self.entries.get(name.removeprefix(f"{self.service}/"))

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

    def before(self, id_: str) -> Ledger:
        """The ledger as it was when an entry was appended: what that entry follows, and nothing later."""
        ancestors = self.ancestors(self.after(id_))
        return Ledger(self.service, {each: item for each, item in self.entries.items() if each in ancestors})

    def until(self, time: str) -> Ledger:
        """The ledger of the entries that say they were made by then; only for what happened outside the ledger."""
        then = moment(time)
        known = {id_: item for id_, item in self.entries.items() if moment(item.model.at) <= then}
        return Ledger(self.service, known)

    def as_of(self, tips: Iterable[str] | None = None) -> Iterator[Item]:
        """The entries up to some tips (all where none are given), each after what it follows."""
        wanted = self.ancestors(tips if tips else self.tips)
        order = self._sorted(wanted)
        yield from (self.entries[id_] for id_ in order)
        in_a_circle = wanted - set(order)
        yield from (self.entries[id_] for id_ in self.entries if id_ in in_a_circle)

    def _sorted(self, wanted: set[str]) -> list[str]:
        """Entries after what they follow, else in the order of the files; what is in a circle is left out."""
        position = {id_: number for number, id_ in enumerate(self.entries)}
        open_ = {id_: {each for each in self.after(id_) if each in wanted} for id_ in wanted}
        followers = defaultdict(list)
        for id_, parents in open_.items():
            for parent in parents:
                followers[parent].append(id_)
        ready = [(position[id_], id_) for id_, parents in open_.items() if not parents]
        heapify(ready)
        order = []
        while ready:
            _, id_ = heappop(ready)
            order.append(id_)
            for follower in followers[id_]:
                open_[follower].discard(id_)
                if not open_[follower]:
                    heappush(ready, (position[follower], follower))
        return order

    def accepted(self, tips: Iterable[str] | None = None) -> list[Item]:
        """Accepted increments that no merge has overruled."""
        return [
            item
            for item in self.as_of(tips)
            if isinstance(item.model, Increment) and (item.name, item.model.factor) not in self.overruled
        ]

    def exclusions(self, tips: Iterable[str] | None = None) -> list[Item]:
        """Measured exclusions: negative controls whose factor was not accepted later."""
        excluded: dict[str, Item] = {}
        for item in self.as_of(tips):
            model = item.model
            if (
                not isinstance(model, NegativeControl | Increment)
                or (item.name, model.factor) in self.overruled
            ):
                continue
            excluded = {
                factor: each for factor, each in excluded.items() if not one_setting(factor, model.factor)
            }
            if isinstance(model, NegativeControl):
                excluded[model.factor] = item
        return list(excluded.values())

    def accepted_stacks(self, tips: Iterable[str] | None = None) -> list[str]:
        """Names of the stacks that were baseline, accepted or deployed, the current parent last."""
        return [
            name_of(outcome)
            for item in self.as_of(tips)
            for subject, outcome in self.words(item)
            if subject == PARENT and (item.name, PARENT) not in self.overruled
        ]

    def words(self, item: Item) -> Iterator[Word]:
        """What an entry decides; a merge says again what it keeps."""
        for kept in getattr(item.model, "keeps", ()):
            entry = self.entries.get(kept.rpartition("/")[2])
            if entry is not None:
                yield from words(entry)
        yield from words(item)

    def says(self, id_: str, subject: str) -> str:
        """What an entry says of a subject, in words; a pin without its digest."""
        outcomes = (
            word.outcome for word in self.words(self.entries[id_]) if one_setting(word.subject, subject)
        )
        return f"{id_}: {next(outcomes, 'nothing').partition('@')[0]}"

    @property
    def parent(self) -> str | None:
        """Name of the current parent: what was accepted or deployed last, or what a rollback went back to."""
        return next(reversed(self.accepted_stacks()), None)

    @property
    def parent_entry(self) -> Item | None:
        """The entry that made the current parent the parent."""
        said = [
            item
            for item in self.as_of()
            if any(word.subject == PARENT for word in self.words(item))
            and (item.name, PARENT) not in self.overruled
        ]
        return said[-1] if said else None

    @property
    def deployment(self) -> Item | None:
        """The deployment or rollback entry that says what serves; None where the ledger knows of none."""
        return next(self._newest_deployments(), None)

    @property
    def standing(self) -> Item | None:
        """The deployment that serves, or the rollback that took it back; an attempt that came to nothing left it standing."""
        return next((each for each in self._newest_deployments() if not _is_attempt(each)), None)

    def _newest_deployments(self) -> Iterator[Item]:
        for item in reversed(list(self.as_of())):
            if isinstance(item.model, Deployment | Rollback) and (item.name, DEPLOYED) not in self.overruled:
                yield item

    @cached_property
    def corrected(self) -> dict[str, str]:
        """Entry -> the later correction that puts it right."""
        found = {}
        for item in self.entries.values():
            named = self.entry(getattr(item.model, "corrects", None) or "")
            if named is not None and named.name in self.ancestors(self.after(item.name)):
                found[named.name] = item.name
        return found

    @cached_property
    def disagreements(self) -> list[Disagreement]:
        """What the open tips decided differently; empty with one tip."""
        return self._between(self.tips)

    def between_tips_of(self, merge: Item) -> list[Disagreement]:
        """What the tips that a merge closes had decided differently."""
        return self._between(self.after(merge.name))

    def _between(self, tips: Iterable[str]) -> list[Disagreement]:
        last: dict[str, dict[str, str]] = defaultdict(dict)  # subject -> entry -> outcome
        for tip in tips:
            for subject, (id_, outcome) in self._last_words(tip).items():
                last[_known_as(subject, last)][id_] = outcome
        found = []
        for subject, said in last.items():
            standing = [id_ for id_ in said if not self._is_before(id_, set(said) - {id_})]
            if len({said[id_] for id_ in standing}) > 1:
                found.append(Disagreement(subject, tuple(sorted(standing))))
        return found

    def _last_words(self, tip: str) -> dict[str, tuple[str, str]]:
        return {
            subject: (item.name, outcome)
            for item in self.as_of([tip])
            for subject, outcome in self.words(item)
        }

    def _is_before(self, id_: str, others: set[str]) -> bool:
        return any(id_ in self.ancestors(self.after(other)) for other in others)

    @cached_property
    def overruled(self) -> set[tuple[str, str]]:
        """(entry, subject) pairs that a merge let go of, with everything their branch had said before."""
        lost = set()
        for merge in self.entries.values():
            kept = {each.rpartition("/")[2] for each in getattr(merge.model, "keeps", ())}
            for subject, entries in self.between_tips_of(merge) if kept else ():
                standing = self.ancestors(kept & set(entries))
                for id_ in self.ancestors(entries) - standing if standing else ():
                    lost |= set(_lost_words(self.entries[id_], subject))
        return lost


def words(item: Item) -> Iterator[Word]:
    """What an entry decides: about its setting, about the parent, about what is deployed."""
    model = item.model
    match model:
        case Increment():
            run = model.pins.run if model.pins else None
            yield Word(model.factor, f"accepted {run or item.name}")
        case NegativeControl():
            yield Word(model.factor, "excluded")
        case Deployment():
            yield Word(DEPLOYED, model.pins.candidate)
        case Rollback():
            yield Word(DEPLOYED, model.pins.stack or NOTHING)
    for stack in _parents(item):
        yield Word(PARENT, stack)


def _lost_words(item: Item, subject: str) -> Iterator[tuple[str, str]]:
    """What an entry no longer says where it was overruled about a subject; a stack falls with the setting it accepts."""
    said = [word.subject for word in words(item)]
    if any(one_setting(each, subject) for each in said):
        falls = isinstance(item.model, Increment) and subject != PARENT
        yield from ((item.name, each) for each in said if falls or one_setting(each, subject))


def _parents(item: Item) -> Iterator[str]:
    """The stack that an entry makes the parent of what comes next, as a pin."""
    model = item.model
    match model:
        case Baseline() | Increment() | Rollback() if model.pins and model.pins.stack:
            yield model.pins.stack
        case Deployment():
            yield model.pins.candidate
        case Decision(decision="experimental-default") if model.pins and model.pins.stack:
            yield model.pins.stack


def one_setting(one: str, other: str) -> bool:
    """Whether two names can mean one setting: equal, or one is the other without its process."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _known_as(subject: str, known: Iterable[str]) -> str:
    return next((each for each in known if one_setting(each, subject)), subject)


def ledgers(repo: Repo) -> dict[str, Ledger]:
    """Every service's ledger."""
    entries: dict[str, dict[str, Item]] = {}
    for item in repo.of("entry/v1"):
        entries.setdefault(item.model.service, {})[item.name] = item
    return {service: Ledger(service, found) for service, found in entries.items()}


def _is_attempt(item: Item) -> bool:
    """Whether an entry takes back what never became a deployment."""
    return isinstance(item.model, Rollback) and item.model.undoes is None and item.model.attempted is not None
