"""What was done to entries and frozen documents in the course of a history (contract 1.4, 8.1).

Frozen are entries, runs with all their files, and captures, from their first commit; a capture that nothing pins
may be deleted. Everything else is frozen from when an entry or a run pins its bytes: one that stands before the
commit that alters it, or that the same commit brings.

Invariant: a merge that takes an alteration over from one of its parents is not blamed for it, where the commit
that did it is; every other merge is judged against each of its parents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from hio_validate.history.hidden import Place
from hio_validate.history.log import REGULAR, Change, Commit, commits
from hio_validate.history.record import (
    Holder,
    Record,
    digest_of,
    holds_pins,
    is_pointer,
    pins_in,
    read_all,
    tree,
)
from hio_validate.places import frozen


@dataclass(frozen=True)
class Alteration:
    """A change of something frozen; `holder` pins it where its place alone does not freeze it."""

    change: Change
    holder: Holder | None = None
    came_from: str = ""
    """Where it stood, from the top of the work tree, before it came here with all rooms."""


@dataclass
class Course:
    """A history's changes, what stands at its end, and what is asked about both while they are judged."""

    at: Place
    changes: Sequence[Change]
    record: Record
    digests: dict[str, str] = field(default_factory=dict)
    """Object id -> digest, of whatever was frozen or could be pinned."""
    _commits: dict[str, Commit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.elsewhere = [change for change in self.changes if change.outside]
        self.changes = [change for change in self.changes if not change.outside]

    def alterations(self) -> list[Alteration]:
        """Every change of something that was frozen then; of a merge, those that it did itself. Raises GitError."""
        self._read_frozen()
        self._read_others()
        found = [Alteration(change) for change in self.changes if _frozen_by_place(change)]
        found += self._pinned()
        found += self._moved_here()
        self._commits |= commits(self.at.root, (each.change.commit for each in found), self.at.prefix)
        return self._own(found)

    def commit(self, id_: str) -> Commit:
        """A commit in full. Raises GitError."""
        if id_ not in self._commits:
            self._commits |= commits(self.at.root, [id_], self.at.prefix)
        return self._commits[id_]

    @cached_property
    def tree(self) -> Callable[[str], dict[str, tuple[str, str]]]:
        """The files of the rooms at a commit; a few trees are remembered. Raises GitError."""
        return lru_cache(maxsize=4)(lambda commit: tree(self.at.root, commit))

    def _read_frozen(self) -> None:
        """Bytes before and after an alteration; an altered holder still pinned what it pinned."""
        changes = [change for change in self.changes if frozen(change.path)]
        holders = defaultdict(set)
        for change in changes:
            if holds_pins(change.path):
                holders[change.old].add(change.path)
        before = (change.old for change in changes if change.old_mode in REGULAR)
        after = (change.new for change in changes if change.new_mode in REGULAR)
        for id_, raw in read_all(self.at.root, [*before, *after]):
            self.digests[id_] = digest_of(raw)
            if is_pointer(raw):
                self.record.pointers.add(id_)
            for path in holders.get(id_, ()):
                self.record.take(Holder(path, id_), raw)

    def _read_others(self) -> None:
        """Of drafts only the digests that anything pins are kept."""
        before = (change.old for change in self.changes if _frozen_by_pins(change))
        for id_, raw in read_all(self.at.root, before):
            digest = digest_of(raw)
            if digest.encode() in self.record.pinned_by:
                self.digests[id_] = digest

    def _moved_here(self) -> Iterator[Alteration]:
        """What was frozen in rooms that stood elsewhere in the work tree, in the commit that moved them here."""
        gone = [change for change in self.elsewhere if frozen(change.path)]
        known = commits(self.at.root, (change.commit for change in gone), self.at.prefix)
        for change in gone:
            for added in known[change.commit].changes:
                if added.path == change.path and added.status == "A" and not added.outside:
                    moved = added._replace(old=change.old, old_mode=change.old_mode)
                    yield Alteration(moved, came_from=change.outside)

    def _pinned(self) -> Iterator[Alteration]:
        """Changes of what was pinned then, and further ones of the same file while the pin stood."""
        pinned: dict[str, set[Holder]] = defaultdict(set)
        further = []
        for change in filter(_frozen_by_pins, self.changes):
            holder = self._holder(change)
            if holder is not None:
                pinned[change.path].add(holder)
                yield Alteration(change, holder)
            else:
                further.append(change)
        for change in further:
            stood = (each for each in sorted(pinned.get(change.path, ())) if self._stood(each, change))
            holder = next(stood, None)
            if holder is not None:
                yield Alteration(change, holder)

    def _holder(self, change: Change) -> Holder | None:
        """An entry or run that pinned the old bytes under this name, then or with the same commit."""
        digest = self.digests.get(change.old, "")
        for holder in self.record.pinned_by.get(digest.encode(), ()):
            after = self.tree(change.commit).get(holder.path, ("", ""))[1] == holder.id
            if (after or self._stood(holder, change)) and self._leads(holder, digest, change.path):
                return holder
        return None

    def _stood(self, holder: Holder, change: Change) -> bool:
        """Whether a holder stood in a parent that still had the old bytes."""
        return any(
            before.get(holder.path, ("", ""))[1] == holder.id
            and before.get(change.path) == (change.old_mode, change.old)
            for before in map(self.tree, self.commit(change.commit).parents)
        )

    def _leads(self, holder: Holder, digest: str, path: str) -> bool:
        ((_, raw),) = read_all(self.at.root, [holder.id])
        return any(pin.digest == digest and pin.means(path, holder) for pin in pins_in(raw, holder.path))

    def _own(self, found: Sequence[Alteration]) -> list[Alteration]:
        """Each file of a commit once, and no merge that only takes over what another commit did."""
        once = {(each.change.commit, each.change.path): each for each in reversed(found)}
        done = {_deed(each) for each in once.values() if not self._taken_over(each)}
        return [each for each in once.values() if _deed(each) not in done or not self._taken_over(each)]

    def _taken_over(self, each: Alteration) -> bool:
        """Whether a parent of a merge has the file as the merge has it."""
        commit = self.commit(each.change.commit)
        if len(commit.parents) < 2:
            return False
        differing = sum(change.path == each.change.path and not change.outside for change in commit.changes)
        return differing < len(commit.parents)


def _frozen_by_place(change: Change) -> bool:
    kind = frozen(change.path)
    return kind is not None and not (kind == "capture" and change.status == "D")


def _frozen_by_pins(change: Change) -> bool:
    return change.old_mode in REGULAR and not _frozen_by_place(change)


def _deed(each: Alteration) -> tuple[str, str, str, str]:
    """What was done to which file, whoever did it."""
    change = each.change
    return change.path, change.old, change.new, change.new_mode
