"""Two trees of one repository: which files differ, what depends on them, and which documents were only renamed.

Invariant: what neither differs nor depends on what differs is the same at both sides and is not read twice.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from hio_validate.history import Objects
from hio_validate.repo import ENDINGS, Item, Repo, documents_in, references, service_of
from hio_validate.review.changes import How
from hio_validate.rules.base import View
from hio_validate.surroundings import around, part

ALIKE = 0.6
"""Share of equal lines from which a new document counts as a removed one under another name."""
_MOST_PAIRS = 400
"""Beyond, only documents that say the same are taken for renamed."""
_RENAMED_FREELY = frozenset({"stack/v1", "matrix/v1", "site/v1", "engine/v1"})
"""Kinds that may have another name as long as nobody pins them."""


@dataclass(frozen=True)
class Layers:
    """A tree in parts, each read as a whole when a file of it is asked for."""

    all: Sequence[str]
    parts: tuple[Objects, ...]

    def paths(self) -> Sequence[str]:
        return self.all

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.all)

    def read(self, path: str) -> bytes:
        if path not in self._known:
            raise FileNotFoundError(errno.ENOENT, "not in this tree", path)
        return next(each for each in self.parts if path in each.ids).read(path)


def _layered(objects: Objects) -> tuple[Objects, Objects]:
    """Documents, and the evidence beside them, which is large and seldom asked for."""
    documents = {path for path in objects.ids if path.endswith(ENDINGS)}
    return objects.among(documents), objects.among(objects.ids.keys() - documents)


def differing(before: Objects, after: Objects) -> frozenset[str]:
    """Files that are on one side only, have other bytes, or became or ceased to be a link."""
    return frozenset(
        path
        for path in before.ids.keys() | after.ids.keys()
        if before.ids.get(path) != after.ids.get(path) or (path in before.links) != (path in after.links)
    )


@dataclass(frozen=True)
class Side:
    """One of the two trees, as far as the change concerns it."""

    repo: Repo

    @cached_property
    def view(self) -> View:
        return View(self.repo)

    @cached_property
    def by_file(self) -> dict[str, Item]:
        return {item.file: item for item in self.repo.items}

    def readable(self, file: str | None) -> Item | None:
        """The document at a path; None where there is none or it is not valid."""
        item = self.by_file.get(file) if file else None
        return item if item is not None and item.model is not None else None

    def is_readable(self, file: str) -> bool:
        """Whether the document at a path is valid, or there is none."""
        item = self.by_file.get(file)
        return item is None or item.model is not None


@dataclass(frozen=True)
class Trees:
    """Both sides of a change."""

    before: Side
    after: Side
    changed: frozenset[str]
    focus: frozenset[str]
    """The changed files and all that depend on one of them, on either side."""

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """Document -> where it stood before, of those that have another name now."""
        return renames(self.before.repo, self.after.repo, self.changed)

    @cached_property
    def _renamed_to(self) -> dict[str, str]:
        return {was: now for now, was in self.renamed.items()}

    def file_before(self, file: str) -> str:
        return self.renamed.get(file, file)

    def pairs(self, kind: str, service: str | None) -> Iterator[tuple[Item | None, Item | None]]:
        """The documents of a kind and service in focus, before and after; None where one side has none.

        One that a side cannot read is left out: it is neither new nor removed, and what it says is not known.
        """
        files = sorted(
            file
            for file in self.focus
            if file not in self._renamed_to and self._is(file, kind) and service_of(file) == service
        )
        for file in files:
            was = self.file_before(file)
            if self.before.is_readable(was) and self.after.is_readable(file):
                yield self.before.readable(was), self.after.readable(file)

    def _is(self, file: str, kind: str) -> bool:
        items = (self.after.by_file.get(file), self.before.by_file.get(self.file_before(file)))
        return any(item is not None and item.kind == kind for item in items)

    def how(self, before: Item | None, after: Item | None) -> How:
        """What became of a document that at least one side has."""
        if before is None:
            return How.NEW
        if after is None:
            return How.REMOVED
        return How.CHANGED if before.document.raw != after.document.raw else How.UNTOUCHED

    @cached_property
    def services(self) -> list[str]:
        """The services that the change concerns, by name."""
        found = {service_of(file) for file in self.focus}
        return sorted(service for service in found if service)


def trees(before: Objects, after: Objects) -> Trees:
    """Read what a change concerns on both sides; git is asked for each blob once."""
    changed = differing(before, after)
    own = before.among(changed)
    now = Layers(after.paths(), _layered(after))
    then = Layers(before.paths(), (*_layered(own), *now.parts))
    focus = around(then, changed)[1] | around(now, changed)[1]
    sides = [Side(part(tree, _with_services(tree, focus))) for tree in (then, now)]
    return Trees(sides[0], sides[1], changed, focus)


def _with_services(tree: Layers, focus: frozenset[str]) -> set[str]:
    """The focus with what says where the services that it touches stand: ledgers, matrices, stacks, sites."""
    services = {service for file in focus if (service := service_of(file))}
    sites = {service.partition("/")[0] for service in services}
    known = documents_in(tree)
    wanted = {path for path in known if path in focus}
    wanted |= {path for path in known if _STANDING.match(path) and service_of(path) in services}
    wanted |= {path for path in known if path.startswith("manifests/sites/") and _stem(path) in sites}
    return wanted


_STANDING = re.compile(r"ledger/|matrix/|manifests/services/[^/]+/[^/]+/stacks/")
"""Documents on which the status of a service's stacks rests; what these lead to is read with them."""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def renames(before: Repo, after: Repo, changed: Iterable[str]) -> dict[str, str]:
    """New path -> old path of documents that nobody pinned and that go on under another name.

    One that says the same goes first, then the most similar one of the same kind and service.
    """
    pinned = _pinned(before)
    gone = _candidates(before, changed, after.paths, pinned)
    come = _candidates(after, changed, before.paths, frozenset())
    few = len(gone) * len(come) <= _MOST_PAIRS
    alike = sorted(
        (-likeness, old.file, new.file)
        for old in gone
        for new in come
        if (old.kind, old.service) == (new.kind, new.service)
        and (likeness := _likeness(old, new, by_lines=few)) >= ALIKE
    )
    found: dict[str, str] = {}
    for _, was, now in alike:
        if now not in found and was not in found.values():
            found[now] = was
    return found


def _candidates(
    repo: Repo, changed: Iterable[str], elsewhere: frozenset[str], pinned: frozenset[str]
) -> list[Item]:
    return [
        item
        for item in repo.items
        if item.file in changed
        and item.file not in elsewhere
        and item.file not in pinned
        and item.model is not None
        and item.kind in _RENAMED_FREELY
    ]


def _pinned(repo: Repo) -> frozenset[str]:
    found = (
        repo.find(reference.kind, reference.name, item.service)
        for item in repo.items
        for reference in references(item)
        if reference.digest
    )
    return frozenset(item.file for item in found if item)


def _likeness(old: Item, new: Item, by_lines: bool) -> float:
    """2 where both say the same under another name, else the share of equal lines."""
    if _said(old) == _said(new):
        return 2.0
    if not by_lines:
        return 0.0
    return SequenceMatcher(None, old.document.lines, new.document.lines, autojunk=False).ratio()


def _said(item: Item) -> dict[str, object]:
    return {key: value for key, value in item.document.data.items() if key not in ("name", "about")}
