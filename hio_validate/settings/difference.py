"""What differs between two stacks, grouped by why (contract 3.3, 3.4).

Invariants: every setting of either side is in exactly one group or equal; a follower whose leader changed
never counts as a change of its own; unknown is neither equal nor different, and is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from hio_validate.settings.argv import Misread
from hio_validate.settings.setting import SET_BY_A_PERSON, Class, Effective, Origin, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN


class Group(StrEnum):
    """Why a setting differs, or what is known of it."""

    CHANGED = "changed by you"
    FOLLOWED = "followed"
    MOVED = "moved by the build"
    IDENTITY = "identity"
    BUILD_PART = "part of the build"
    """An executable, library or build flag that differs because the build does."""
    OPERATIONAL = "operational"
    UNKNOWN = "cannot be compared"
    ONE_SIDE = "observed on one side only"
    """An identity of which the other side was never captured."""
    ONE_BUILD = "known to one build only"
    """An option that nobody set and that only one of two builds has."""
    EQUAL = "equal"


NEEDS_A_ROW = frozenset({Group.CHANGED, Group.MOVED, Group.IDENTITY, Group.UNKNOWN})

LEAVES_NO_DIFFERENCE = frozenset({Group.EQUAL, Group.ONE_BUILD, Group.ONE_SIDE})


class Compared(NamedTuple):
    """One setting on both sides; a side that does not have it is None."""

    address: str
    parent: Setting | None
    candidate: Setting | None
    group: Group
    from_: str
    to: str

    @property
    def set_by_a_person(self) -> bool:
        return any(side is not None and side.set_by_a_person for side in (self.parent, self.candidate))

    @property
    def parent_sets(self) -> bool:
        return self.parent is not None and self.parent.set_by_a_person

    @property
    def class_(self) -> Class:
        return class_of_sides(self.parent, self.candidate)


def class_of_sides(*sides: Setting | None) -> Class:
    """The class that either side's family gives a setting; an engine without a table calls everything tuning."""
    return next((side.class_ for side in sides if side and side.class_ is not Class.TUNING), Class.TUNING)


Sides = tuple[Setting | None, Setting | None]


class Difference:
    """Every setting of two stacks, compared; found by address or by the bare factor where that is unambiguous.

    `sides`: address -> the setting of the parent and of the candidate. `touched`: all settings but those that
    are equal because neither side says anything of them. `not_understood`: what the parent and what the candidate
    give that their builds do not know: in force nowhere, and never equal.
    """

    def __init__(
        self,
        sides: Mapping[str, Sides],
        touched: tuple[Compared, ...],
        not_understood: tuple[Sequence[Misread], Sequence[Misread]] = ((), ()),
    ) -> None:
        self.sides, self.touched, self.not_understood = sides, touched, not_understood

    def __iter__(self) -> Iterator[Compared]:
        return (self._at(address) for address in self.sides)

    @cached_property
    def _touched(self) -> dict[str, Compared]:
        return {each.address: each for each in self.touched}

    def _at(self, address: str) -> Compared:
        found = self._touched.get(address)
        if found is None:
            theirs, mine = self.sides[address]
            value = theirs.value if theirs else ABSENT
            found = Compared(address, theirs, mine, Group.EQUAL, value, value)
        return found

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Any way to name a setting -> its address: full addresses, both sides' own addresses, and bare factors
        and spellings that mean one setting only."""
        names = {address: address for address in self.sides}
        bare: dict[str, str] = {}
        ambiguous: set[str] = set()
        for address, (theirs, mine) in self.sides.items():
            for side in (theirs, mine) if theirs is not mine else (mine,):
                if side is None:
                    continue
                names.setdefault(side.address, address)
                for spelling in side.bare_names:
                    if bare.setdefault(spelling, address) != address:
                        ambiguous.add(spelling)
        unambiguous = {name: address for name, address in bare.items() if name not in ambiguous}
        return {**unambiguous, **names}

    def find(self, name: str) -> Compared | None:
        # An address names itself: the index of all other names is made only where one of them is asked for.
        if name in self.sides:
            return self._at(name)
        address = self.names.get(name) or self.names.get(name.lstrip("-"))
        return self._at(address) if address else None

    def ambiguous(self, name: str) -> list[str]:
        """The addresses a bare factor could mean, where it means more than one."""
        ends = [address for address in self.sides if address.partition(".")[2] == name]
        return ends if len(ends) > 1 and name not in self.names else []

    def of(self, group: Group) -> list[Compared]:
        return [each for each in self if each.group is group]

    @property
    def leaves_nothing(self) -> bool:
        """Whether the two sides are the same as far as both are known, and all that they give is understood."""
        return not any(self.not_understood) and all(each.group in LEAVES_NO_DIFFERENCE for each in self)


Pairs = Mapping[str, Sequence[str]]


def difference(parent: Effective, candidate: Effective, pairs: Pairs | None = None) -> Difference:
    """Compare two sides setting by setting; `pairs` maps what two vocabularies call by different names."""
    aligned = _Alignment(parent, candidate, pairs or {})
    compared = [_compare(address, *sides, aligned) for address, sides in aligned.touched()]
    settled = tuple(_settle_followers(compared))
    return Difference(aligned.sides, settled, (_not_understood(parent), _not_understood(candidate)))


def _not_understood(side: Effective) -> tuple[Misread, ...]:
    """A setting given twice is understood: the last one wins."""
    return tuple(each for each in side.misread if each.rule != "env-argv-conflict")


def _is_untouched(theirs: Setting | None, mine: Setting | None) -> bool:
    """Whether both sides have one and the same known setting (settings/defaults.py) that no person set."""
    return (
        theirs is mine and mine is not None and mine.value != UNKNOWN and mine.origin not in SET_BY_A_PERSON
    )


class _Namesakes(Mapping[str, Sides]):
    """Settings beside those of the same address, and strangers after them.

    A pair is made where it is asked for: there are hundreds, and few are touched.
    """

    def __init__(self, theirs: Mapping[str, Setting], mine: Mapping[str, Setting]) -> None:
        self._theirs, self._mine = theirs, mine
        self._strangers: dict[str, Sides] = {}

    def __getitem__(self, address: str) -> Sides:
        mine = self._mine.get(address)
        return (self._theirs.get(address), mine) if mine else self._strangers[address]

    def __setitem__(self, address: str, sides: Sides) -> None:
        self._strangers[address] = sides

    def __iter__(self) -> Iterator[str]:
        return chain(self._mine, self._strangers)

    def __len__(self) -> int:
        return len(self._mine) + len(self._strangers)

    def touched(self) -> Iterator[tuple[str, Sides]]:
        """All but the untouched, without a pair for each of these."""
        theirs = self._theirs.get
        for address, mine in self._mine.items():
            other = theirs(address)
            if not _is_untouched(other, mine):
                yield address, (other, mine)
        yield from self._strangers.items()


class _Alignment:
    """Which setting of the parent is which setting of the candidate."""

    def __init__(self, parent: Effective, candidate: Effective, pairs: Pairs) -> None:
        self.parent, self.candidate = parent, candidate
        self.renamed = _renamed_processes(parent, candidate, pairs)
        self.sides: dict[str, Sides] | _Namesakes = {}
        self.paired: tuple[set[str], set[str]] = (set(), set())
        """Addresses of the parent and of the candidate that `pairs` speaks of."""
        self._pair(pairs)
        self.moved = self._moved(self.paired[0] | self.paired[1])
        if pairs or not self._place_by_name():
            self._place_each()

    def touched(self) -> Iterator[tuple[str, Sides]]:
        if isinstance(self.sides, _Namesakes):
            return self.sides.touched()
        return ((address, both) for address, both in self.sides.items() if not _is_untouched(*both))

    def _place_by_name(self) -> bool:
        """Place all settings beside their namesakes at once; False, and none, where one moved or was renamed."""
        if self.moved or any(process != other for process, other in self.renamed.items()):
            return False
        theirs, mine = self.parent.settings, self.candidate.settings
        self.sides = _Namesakes(theirs, mine)
        strangers = [each for address, each in theirs.items() if address not in mine]
        if not mine.keys().isdisjoint(map(self._counterpart, strangers)):
            self.sides = {}
            return False
        for setting in strangers:
            self._place_parent(setting)
        return True

    def _place_each(self) -> None:
        for setting in self.candidate.settings.values():
            if setting.address not in self.paired[1]:
                self.sides[self._free(setting.address)] = (None, setting)
        for setting in self.parent.settings.values():
            if setting.address not in self.paired[0]:
                self._place_parent(setting)

    def _pair(self, pairs: Pairs) -> None:
        for name, members in pairs.items():
            named = [member.split() for member in members]
            if any(len(words) != 2 for words in named):
                continue
            theirs = [self._lookup(self.parent, *words) for words in named[:-1]]
            first = next((each for each in theirs if each and each.address not in self.paired[0]), None)
            mine = self._lookup(self.candidate, *named[-1])
            if mine and mine.address in self.paired[1]:
                mine = None
            self.sides[name] = (first, mine)
            for setting, used in zip((first, mine), self.paired, strict=True):
                if setting:
                    used.add(setting.address)

    def _lookup(self, side: Effective, process: str, spelling: str) -> Setting | None:
        catalogue = side.catalogues.get(process)
        option = catalogue.find(spelling) if catalogue else None
        factor = option.factor if option else spelling.lstrip("-")
        found = side.settings.get(f"{process}.{factor}")
        return found or next((each for each in _of(side, process) if _is_spelt(each, spelling)), None)

    def _free(self, address: str) -> str:
        """The address, or one like it where a pair was given another setting's address for a name."""
        while address in self.sides:
            address += "+"
        return address

    def _place_parent(self, setting: Setting) -> None:
        address = self._counterpart(setting)
        mine = None
        if address in self.sides:
            theirs, mine = self.sides[address]
            if theirs is not None:
                address, mine = self._free(setting.address), None
        self.sides[address] = (setting, mine)

    def _counterpart(self, setting: Setting) -> str:
        """Where the candidate has a setting of the parent: under the same name, or under one of its flags."""
        process, _, factor = setting.address.partition(".")
        other = self.renamed.get(process, process)
        own = f"{other}.{factor}"
        if setting.address in self.moved or own in self.sides:
            return self.moved.get(setting.address, own)
        catalogue = self.candidate.catalogues.get(other)
        for spelling in setting.option.flags if setting.option else (setting.spelling,):
            found = catalogue.find(spelling) if catalogue and spelling else None
            if found and found.removed is None and spelling in (*found.flags, *found.env):
                return f"{other}.{found.factor}"
        if setting.option is None:
            return own
        unlearned = (
            each.address
            for each in _of(self.candidate, other)
            if each.option is None and _is_spelt(setting, each.spelling)
        )
        return next(unlearned, own)

    def process_of(self, process: str, side: Effective) -> str:
        """What one side calls the process of the other side."""
        if side is self.candidate:
            return self.renamed.get(process, process)
        return next((theirs for theirs, mine in self.renamed.items() if mine == process), process)

    def _moved(self, paired: set[str]) -> dict[str, str]:
        """Settings that moved to another process: a factor that one vanished and one new process have alone."""
        renamed = {*self.renamed.keys(), *self.renamed.values()}
        vanished = (
            self.parent.processes - self.candidate.processes - self.candidate.catalogues.keys() - renamed
        )
        new = self.candidate.processes - self.parent.processes - self.parent.catalogues.keys() - renamed
        theirs, mine = _alone(self.parent, vanished, paired), _alone(self.candidate, new, paired)
        return {theirs[factor]: mine[factor] for factor in theirs.keys() & mine.keys()}


def _of(side: Effective, process: str) -> Iterator[Setting]:
    return (each for each in side.settings.values() if each.address.partition(".")[0] == process)


def _is_spelt(setting: Setting, spelling: str) -> bool:
    """Whether a flag or environment name sets this setting, and not its negation."""
    option = setting.option
    known = (*option.flags, *option.env) if option else ()
    return bool(spelling) and spelling in (setting.spelling, *known, *(flag.lstrip("-") for flag in known))


def _alone(side: Effective, processes: Set[str], but: set[str]) -> dict[str, str]:
    """Factor -> address, of factors that exactly one of these processes has."""
    found: dict[str, list[str]] = {}
    for process in processes:
        for setting in _of(side, process):
            if setting.address not in but:
                found.setdefault(setting.factor, []).append(setting.address)
    return {factor: addresses[0] for factor, addresses in found.items() if len(addresses) == 1}


def _renamed_processes(parent: Effective, candidate: Effective, pairs: Pairs) -> dict[str, str]:
    """Parent process -> candidate process: as `pairs` says; a lone process on both sides is the same one."""
    renamed = {
        members[0]: members[-1]
        for members in pairs.values()
        if len(members) == 2 and all(len(member.split()) == 1 for member in members)
    }
    theirs, mine = parent.processes, candidate.processes
    if len(theirs) == 1 and len(mine) == 1:
        renamed.setdefault(next(iter(theirs)), next(iter(mine)))
    return renamed


def _compare(address: str, theirs: Setting | None, mine: Setting | None, aligned: _Alignment) -> Compared:
    from_ = theirs.value if theirs else _unset(aligned, aligned.parent, mine)
    to = mine.value if mine else _unset(aligned, aligned.candidate, theirs)
    return Compared(address, theirs, mine, _group(theirs, mine, from_, to, aligned), from_, to)


def _unset(aligned: _Alignment, side: Effective, other: Setting | None) -> str:
    """What a side that never mentions a setting has: absent, or unknown where its build's defaults are."""
    if other is None or other.origin in (Origin.IMPLICIT, Origin.FACT):
        return ABSENT
    process = aligned.process_of(other.address.partition(".")[0], side)
    if other.origin is Origin.IDENTITY:
        return ABSENT if _has_kin(side, process, other.factor) else UNKNOWN
    if other.origin is Origin.ENV and other.option is None:
        return ABSENT
    catalogues = side.catalogues
    known = catalogues[process] if process in catalogues else next(iter(catalogues.values()), None)
    return ABSENT if known else UNKNOWN


def _has_kin(side: Effective, process: str, factor: str) -> bool:
    """Whether all libraries or artifacts of a process were seen, so that one which is not there is absent."""
    kind = next((each for each in ("lib.", "artifact.") if factor.startswith(each)), None)
    return kind is not None and any(each.factor.startswith(kind) for each in _of(side, process))


def _group(theirs: Setting | None, mine: Setting | None, from_: str, to: str, aligned: _Alignment) -> Group:
    sides = [side for side in (theirs, mine) if side is not None]
    origins = {side.origin for side in sides}
    if Origin.IDENTITY in origins:
        return _identity_group(theirs, mine, from_, to, aligned)
    explicit = not origins.isdisjoint(SET_BY_A_PERSON)
    if UNKNOWN in (from_, to):
        return _unknown_group(theirs, mine, explicit, class_of_sides(theirs, mine))
    if from_ == to:
        return Group.EQUAL
    class_ = class_of_sides(theirs, mine)
    if class_ is Class.ARTIFACT and explicit:
        return _artifact_group(theirs, mine, aligned)
    if class_ is not Class.TUNING:
        return Group.OPERATIONAL if explicit or len(sides) == 2 else Group.ONE_BUILD
    if explicit:
        return Group.CHANGED
    if len(sides) == 1:
        return Group.ONE_BUILD
    return Group.FOLLOWED if Origin.FOLLOWS in origins else Group.MOVED


def _artifact_group(theirs: Setting | None, mine: Setting | None, aligned: _Alignment) -> Group:
    """A file that only one side names is a change; another path is one unless both files were observed."""
    if not (theirs and mine and theirs.set_by_a_person and mine.set_by_a_person):
        return Group.CHANGED
    observed = aligned.parent.shows_artifacts and aligned.candidate.shows_artifacts
    return Group.OPERATIONAL if observed else Group.UNKNOWN


def _identity_group(
    theirs: Setting | None, mine: Setting | None, from_: str, to: str, aligned: _Alignment
) -> Group:
    seen = theirs or mine
    if UNKNOWN in (from_, to) and seen is not None:
        if (theirs and mine) or seen.factor.startswith("build"):
            return Group.UNKNOWN if theirs and mine else Group.ONE_SIDE
        side = aligned.parent if theirs is None else aligned.candidate
        process = aligned.process_of(seen.address.partition(".")[0], side)
        return Group.UNKNOWN if process in side.observed else Group.ONE_SIDE
    return Group.EQUAL if from_ == to else Group.IDENTITY


def _unknown_group(theirs: Setting | None, mine: Setting | None, explicit: bool, class_: Class) -> Group:
    """Unknown on a side: nothing to say where nobody set it and both ask for the same; else it must be said."""
    if class_ not in (Class.TUNING, Class.ARTIFACT):
        return Group.EQUAL if not explicit else Group.OPERATIONAL
    if not explicit and (theirs is None or mine is None or theirs.declared == mine.declared):
        return Group.EQUAL
    return Group.UNKNOWN


def _asks_the_same(each: Compared) -> bool:
    """Two builds that ask for different things under one preset have moved a default."""
    return bool(each.parent and each.candidate and each.parent.declared == each.candidate.declared)


def _settle_followers(compared: Sequence[Compared]) -> list[Compared]:
    """A follower lives in its leader's row; one that stopped or began to follow stands on its own.

    An untouched leader is not among those compared: it did not move.
    """
    groups = {each.address: each.group for each in compared}
    theirs = {each.parent.address: each.address for each in compared if each.parent}
    mine = {each.candidate.address: each.address for each in compared if each.candidate}
    settled = []
    for each in compared:
        leaders = [
            addresses.get(side.leader, "")
            for side, addresses in ((each.parent, theirs), (each.candidate, mine))
            if side and side.leader
        ]
        moved = any(groups.get(leader) in (*NEEDS_A_ROW, Group.FOLLOWED) for leader in leaders)
        group = each.group
        if group in (Group.FOLLOWED, Group.UNKNOWN, Group.MOVED) and leaders and not each.set_by_a_person:
            both_follow = len(leaders) == 2
            still = Group.EQUAL if both_follow and _asks_the_same(each) else Group.UNKNOWN
            group = Group.FOLLOWED if moved else still if group is Group.UNKNOWN else Group.MOVED
        elif (
            group is Group.IDENTITY
            and _is_part_of_build(each)
            and groups.get(_build_of(each)) is Group.IDENTITY
        ):
            group = Group.BUILD_PART
        settled.append(
            each if group is each.group
            else Compared(each.address, each.parent, each.candidate, group, each.from_, each.to)
        )  # fmt: skip
    return settled


def _is_part_of_build(each: Compared) -> bool:
    factor = each.address.partition(".")[2]
    return factor == "executable" or factor.startswith(("lib.", "build."))


def _build_of(each: Compared) -> str:
    return each.address.partition(".")[0] + ".build"
