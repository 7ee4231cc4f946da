"""Which setting of one stack is which setting of the other one (contract 3.3).

Two stacks may speak two vocabularies: builds rename options, processes are renamed or divided, and a matrix may say by
`pairs` what has another name. Invariant: every setting of either side stands in exactly one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from hio_validate.settings.setting import SET_BY_A_PERSON, Effective, Setting
from hio_validate.settings.value import UNKNOWN

Sides = tuple[Setting | None, Setting | None]
"""A setting of the parent and of the candidate; a side that does not have it is None."""
Pairs = Mapping[str, Sequence[str]]
"""Name -> what each side calls it: a process, or a process and a spelling."""


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


class Alignment:
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
        return found or next((each for each in settings_of(side, process) if _is_spelt(each, spelling)), None)

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
            for each in settings_of(self.candidate, other)
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


def settings_of(side: Effective, process: str) -> Iterator[Setting]:
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
        for setting in settings_of(side, process):
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
