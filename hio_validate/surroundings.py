"""What must be read to judge some files, and what is to be judged with them: who cites whom, step by step.

Invariant: whatever is judged is judged as in the whole repository (tests/cli/test_one_file.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hio_validate.repo import (
    ENDINGS,
    Item,
    Reference,
    Repo,
    Tree,
    documents_in,
    evidence_files,
    item_of,
    joined,
    place_of,
    references,
    service_of,
)
from hio_validate.source import read

_HAS_A_FAMILY = frozenset({"stack/v1", "capture/v1", "engine/v1"})


def part(tree: Tree, files: Iterable[str]) -> Repo:
    """The documents among some files with everything that they lead to."""
    surroundings = _Surroundings(tree)
    return surroundings.repo(surroundings.needed(files))


def around(tree: Tree, files: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """What must be read to judge some files, and the files to be judged: these and all that depend on them.

    Invariant: whatever is judged is judged as in the whole repository (tests/cli/test_one_file.py).
    """
    surroundings = _Surroundings(tree)
    focus = surroundings.dependents(files)
    return surroundings.needed(focus), focus


@dataclass
class _Surroundings:
    """Which files depend on which; a file is parsed only where its bytes contain the name in question."""

    tree: Tree
    unreadable: dict[str, str] = field(default_factory=dict)
    _raw: dict[str, bytes] = field(default_factory=dict)
    _items: dict[str, Item] = field(default_factory=dict)

    def repo(self, files: Iterable[str]) -> Repo:
        """These documents, each read once."""
        items = {path: self.item(path) for path in sorted(files)}
        read_ = tuple(item for path, item in items.items() if path not in self.unreadable)
        return Repo(
            self.tree, read_, tuple(self.unreadable[path] for path in items if path in self.unreadable)
        )

    @cached_property
    def known(self) -> list[str]:
        return documents_in(self.tree)

    @cached_property
    def by_name(self) -> dict[tuple[str, str | None], list[str]]:
        """Documents by name and service."""
        found: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for path in self.known:
            found[place_of(path)].append(path)
        return found

    @cached_property
    def ledgers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.known:
            service = service_of(path) if path.startswith("ledger/") else None
            if service:
                found[service].append(path)
        return found

    @cached_property
    def tables(self) -> list[str]:
        return [path for path in self.known if path.endswith(("/family.yaml", "/engine.yaml"))]

    def raw(self, path: str) -> bytes:
        """The bytes of a file; none where it cannot be read, which `load` reports."""
        if path not in self._raw:
            try:
                self._raw[path] = self.tree.read(path)
            except OSError as error:
                self._raw[path] = b""
                self.unreadable[path] = f"{path}: {error.strerror or error}"
        return self._raw[path]

    def item(self, path: str) -> Item:
        if path not in self._items:
            self._items[path] = item_of(read(self.raw(path), path))
        return self._items[path]

    def dependents(self, files: Iterable[str]) -> frozenset[str]:
        """The files and everything that leads to one of them through names, pins, ledgers or tables."""
        found: set[str] = set()
        waiting = set(files)
        while waiting:
            found |= waiting
            named = [(_name_in_text(path), path) for path in waiting]
            waiting = {
                other for other in self.known if other not in found and self._leads_to_any(other, named)
            }
        return frozenset(found)

    def _leads_to_any(self, other: str, named: Sequence[tuple[bytes, str]]) -> bool:
        raw, service = self.raw(other), service_of(other)
        return any(self._is_near(path, other) for _, path in named if path.startswith("ledger/")) or any(
            self._cites(other, path) for name, path in named if _cited_as(name, path, service) in raw
        )

    def _is_near(self, path: str, other: str) -> bool:
        """A ledger counts as a whole: for its own entries and for the matrices of its service."""
        service = place_of(path)[1]
        return other.startswith((f"ledger/{service}/", f"matrix/{service}/"))

    def _cites(self, other: str, path: str) -> bool:
        item = self.item(other)
        if not path.endswith(ENDINGS):
            return any(joined(other, file) == path for _, file, _ in evidence_files(item))
        if path.endswith("/family.yaml"):
            return item.kind in _HAS_A_FAMILY
        if path.startswith("manifests/sites/") and item.kind == "matrix/v1" and item.service:
            return place_of(path)[0] == item.service.partition("/")[0]
        return item.model is not None and any(
            self._may_mean(reference, item, path) for reference in references(item)
        )

    def _may_mean(self, reference: Reference, item: Item, path: str) -> bool:
        """Whether a name in a document can lead to that file: one of its own service, of none, or as cited."""
        return place_of(path) in _meanings(reference, item)

    def needed(self, focus: Iterable[str]) -> frozenset[str]:
        """The files and everything that they lead to, also what shares a name with one of them."""
        found: set[str] = set()
        waiting = [path for path in focus if path.endswith(ENDINGS)]
        waiting += [same for path in waiting for same in self._namesakes(path)]
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self._leads_to(self.item(path))
        return frozenset(found)

    def _namesakes(self, path: str) -> list[str]:
        return self.by_name.get(place_of(path), [])

    def _leads_to(self, item: Item) -> Iterator[str]:
        for reference in references(item) if item.model is not None else ():
            for meaning in _meanings(reference, item):
                yield from self.by_name.get(meaning, ())
        if item.kind in ("matrix/v1", "entry/v1") and item.service:
            yield from self.ledgers.get(item.service, ())
        if item.kind == "matrix/v1" and item.service:
            # The site says what ${host} stands for.
            yield from self.by_name.get((item.service.partition("/")[0], None), ())
        if item.kind in _HAS_A_FAMILY:
            # All builds: where one's help is not learned, another one teaches the spelling.
            yield from self.tables


def _meanings(reference: Reference, item: Item) -> tuple[tuple[str, str | None], ...]:
    """Name and service of what a reference can lead to: as cited, else of the same service or of none."""
    cited, _, name = reference.name.rpartition("/")
    return ((name, cited),) if cited else ((name, item.service), (name, None))


def _cited_as(name: bytes, path: str, service: str | None) -> bytes:
    """The text by which a document of a service cites a file: its bare name, or its full one elsewhere."""
    # Evidence is named by its path from the document, which may stand in any service.
    own = service_of(path) if path.endswith(ENDINGS) else None
    return name if own is None or service is None or own == service else own.encode() + b"/" + name


def _name_in_text(path: str) -> bytes:
    """What stands in every document that cites a file: a document's name, any other file's last part."""
    name = place_of(path)[0] if path.endswith(ENDINGS) else path.rpartition("/")[2]
    return name.encode(errors="surrogateescape")
