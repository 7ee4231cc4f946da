"""What differs between two stacks, grouped by why (contract 3.3, 3.4).

Invariants: every setting of either side is in exactly one group or equal; a follower whose leader changed
never counts as a change of its own; unknown is neither equal nor different, and is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from hio_validate.settings.alignment import Alignment, Pairs, Sides, settings_of
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


def difference(parent: Effective, candidate: Effective, pairs: Pairs | None = None) -> Difference:
    """Compare two sides setting by setting; `pairs` maps what two vocabularies call by different names."""
    aligned = Alignment(parent, candidate, pairs or {})
    compared = [_compare(address, *sides, aligned) for address, sides in aligned.touched()]
    settled = tuple(_settle_followers(compared))
    return Difference(aligned.sides, settled, (_not_understood(parent), _not_understood(candidate)))


def _not_understood(side: Effective) -> tuple[Misread, ...]:
    """A setting given twice is understood: the last one wins."""
    return tuple(each for each in side.misread if each.rule != "env-argv-conflict")


def _compare(address: str, theirs: Setting | None, mine: Setting | None, aligned: Alignment) -> Compared:
    from_ = theirs.value if theirs else _unset(aligned, aligned.parent, mine)
    to = mine.value if mine else _unset(aligned, aligned.candidate, theirs)
    return Compared(address, theirs, mine, _group(theirs, mine, from_, to, aligned), from_, to)


def _unset(aligned: Alignment, side: Effective, other: Setting | None) -> str:
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
    return kind is not None and any(each.factor.startswith(kind) for each in settings_of(side, process))


def _group(theirs: Setting | None, mine: Setting | None, from_: str, to: str, aligned: Alignment) -> Group:
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


def _artifact_group(theirs: Setting | None, mine: Setting | None, aligned: Alignment) -> Group:
    """A file that only one side names is a change; another path is one unless both files were observed."""
    if not (theirs and mine and theirs.set_by_a_person and mine.set_by_a_person):
        return Group.CHANGED
    observed = aligned.parent.shows_artifacts and aligned.candidate.shows_artifacts
    return Group.OPERATIONAL if observed else Group.UNKNOWN


def _identity_group(
    theirs: Setting | None, mine: Setting | None, from_: str, to: str, aligned: Alignment
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
