"""What must be read to judge some files, and what is to be judged with them: who cites whom, step by step.

Invariant: whatever is judged is judged as in the whole repository (tests/cli/test_one_file.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
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
    name_of,
    place_of,
    references,
    service_of,
)
from hio_validate.source import read

_KNOWN_GOOD = "manifests/known-good/"
_ESTIMATES = "/estimates/"
_HAS_A_FAMILY = frozenset({"stack/v1", "capture/v1", "engine/v1", "known-good/v1"})


def part(tree: Tree, files: Iterable[str]) -> Repo:
    """The documents among some files with everything that they lead to."""
    surroundings = _Surroundings(tree)
    return surroundings.repo(surroundings.needed(files))


def around(
    tree: Tree,
    files: Iterable[str],
    gone: Set[str] = frozenset(),
    judged: Callable[[str], bool] | None = None,
) -> tuple[Repo, frozenset[str]]:
    """What is read to judge some files, and the files to be judged: these and all that depend on them.

    `gone` are those of the files that are no longer there, so that nobody tries to read them. With `judged`, only
    those for which it holds are judged.
    """
    surroundings = _Surroundings(tree)
    focus = surroundings.dependents(files)
    if judged is not None:
        focus = frozenset(filter(judged, focus))
    return surroundings.repo(surroundings.needed(focus) - gone), focus


class _Surroundings:
    """Which files depend on which; a file is parsed only where its bytes contain the name in question."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.unreadable: dict[str, str] = {}
        self._raw: dict[str, bytes] = {}
        self._items: dict[str, Item] = {}
        self._cited: dict[str | None, tuple[list[str], list[str]]] = {}

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
    def _services(self) -> dict[str, str | None]:
        """Documents and their services."""
        return {path: service_of(path) for path in self.known}

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
        waiting = list(files)
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                named = (other for other in self._namers(path) if other not in found)
                waiting += [other for other in named if self._cites(other, path)]
                waiting += self._whole_ledger(path)
        beside = (
            self._filled_by(found)
            | self._plans_beside(found)
            | self._held_against(found)
            | self._asking(found)
        )
        return frozenset(found | beside)

    def _held_against(self, files: Iterable[str]) -> set[str]:
        """The matrices and deployments that are held against a known-good registry among the files."""
        if not any(path.startswith(_KNOWN_GOOD) for path in files):
            return set()
        return {
            path
            for path in self.known
            if path.startswith("matrix/") or (path.startswith("ledger/") and b"deployment" in self.raw(path))
        }

    def _asking(self, files: Iterable[str]) -> set[str]:
        """What asks the stacks among the files: fixtures and task sets are in the words of their service's engines."""
        services = {self._services.get(path) or service_of(path) for path in files if "/stacks/" in path}
        return (
            {path for path in self.known if _asks(path) and self._services[path] in services}
            if services
            else set()
        )

    def _filled_by(self, files: Iterable[str]) -> set[str]:
        """The stacks whose place-holders a site among the files fills; nothing that leads to them changes by it."""
        sites = [place_of(path)[0] for path in files if path.startswith("manifests/sites/")]
        rooms = tuple(f"manifests/services/{site}/" for site in sites)
        return {path for path in self.known if path.startswith(rooms) and "/stacks/" in path}

    def _plans_beside(self, files: Iterable[str]) -> set[str]:
        """The plans of the services among the files: each is judged by the ledger, the site, the runs and the other plans."""
        services = {self._services.get(path) or service_of(path) for path in files if _concerns_plans(path)}
        sites = {place_of(path)[0] for path in files if path.startswith("manifests/sites/")}
        return {
            path
            for path, service in self._services.items()
            if "/plans/" in path and service and (service in services or service.partition("/")[0] in sites)
        }

    def _whole_ledger(self, path: str) -> list[str]:
        """A ledger counts as a whole: for its own entries, and for matrices, rollback plans and estimates of its service."""
        if not path.startswith("ledger/"):
            return []
        service = service_of(path)
        home = f"manifests/services/{service}"
        rooms = (f"ledger/{service}/", f"matrix/{service}/", f"{home}/rollbacks/", f"{home}/estimates/")
        return [other for other in self.known if other.startswith(rooms)]

    def _namers(self, path: str) -> Iterator[str]:
        """The documents that have the text by which they would cite a file: its bare name, elsewhere its full one."""
        # Evidence is named by its path from the document, which may stand in any service.
        service = service_of(path) if path.endswith(ENDINGS) else None
        name = _name_in_text(path)
        near, far = self._readers(service)
        yield from (other for other in near if name in self.raw(other))
        full = f"{service}/".encode() + name
        yield from (other for other in far if full in self.raw(other))

    def _readers(self, service: str | None) -> tuple[list[str], list[str]]:
        """Who can cite what a service has by its bare name, and who of the other services writes that service's name."""
        if service not in self._cited:
            documents = self._services.items()
            near = [other for other, theirs in documents if not service or theirs in (service, None)]
            full = f"{service}/".encode()
            far = [other for other in self._services.keys() - near if full in self.raw(other)]
            self._cited[service] = near, far
        return self._cited[service]

    def _cites(self, other: str, path: str) -> bool:
        item = self.item(other)
        if not path.endswith(ENDINGS):
            return any(joined(other, file) == path for _, file, _ in evidence_files(item))
        if path.endswith("/family.yaml"):
            return item.kind in _HAS_A_FAMILY
        if path.startswith("manifests/sites/") and item.kind == "matrix/v1" and item.service:
            return place_of(path)[0] == item.service.partition("/")[0]
        if _ESTIMATES in path and item.kind == "entry/v1":
            return True  # the evidence of a decision names it in words
        return item.model is not None and any(
            self._may_mean(reference, item, path) for reference in references(item)
        )

    def _may_mean(self, reference: Reference, item: Item, path: str) -> bool:
        """Whether a name in a document can lead to that file: one of its own service, of none, or as cited."""
        return place_of(path) in _meanings(reference, item)

    def needed(self, focus: Iterable[str]) -> frozenset[str]:
        """The files and everything that they lead to, also what shares a name with one of them."""
        found: set[str] = set()
        asked = list(focus)
        waiting = [path for path in asked if path.endswith(ENDINGS)]
        waiting += [same for path in waiting for same in self._namesakes(path)]
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self._leads_to(self.item(path))
        for path in asked:
            found.update(self._beside(path, found))
        return frozenset(found)

    def _beside(self, path: str, found: Set[str]) -> list[str]:
        """What some files are held against: read, and not followed.

        The plans and runs of a plan, the runs of a run's own plan, the known-good registries of what may be deployed,
        the stacks that a fixture or a task set may ask.
        """
        if _asks(path):
            return [each for each in self._stacks.get(service_of(path), ()) if each not in found]
        if path.startswith(("matrix/", "ledger/")):
            return [each for each in self.known if each.startswith(_KNOWN_GOOD)]
        item = self.item(path) if path.endswith(ENDINGS) and ("/plans/" in path or "/runs/" in path) else None
        if item is None or item.model is None or item.kind not in ("plan/v1", "run/v1"):
            return []
        near = [each for each in self._experiments.get(item.service, ()) if each not in found]
        if item.kind == "plan/v1":
            return near
        plan = name_of(item.model.plan).rpartition("/")[2].encode() if item.model.plan else None
        return [each for each in near if plan and plan in self.raw(each)]

    @cached_property
    def _stacks(self) -> dict[str | None, list[str]]:
        """Service -> its stacks."""
        found: dict[str | None, list[str]] = defaultdict(list)
        for path, service in self._services.items():
            if "/stacks/" in path:
                found[service].append(path)
        return found

    @cached_property
    def _experiments(self) -> dict[str | None, list[str]]:
        """Service -> its plans and runs, without the captures of their legs."""
        found: dict[str | None, list[str]] = defaultdict(list)
        for path, service in self._services.items():
            if "/plans/" in path or ("/runs/" in path and "/captures/" not in path):
                found[service].append(path)
        return found

    @cached_property
    def _estimates(self) -> dict[str | None, list[str]]:
        """Service -> its estimates."""
        found: dict[str | None, list[str]] = defaultdict(list)
        for path, service in self._services.items():
            if _ESTIMATES in path:
                found[service].append(path)
        return found

    def _namesakes(self, path: str) -> list[str]:
        return self.by_name.get(place_of(path), [])

    def _leads_to(self, item: Item) -> Iterator[str]:
        for reference in references(item) if item.model is not None else ():
            for meaning in _meanings(reference, item):
                yield from self.by_name.get(meaning, ())
        if item.kind in ("matrix/v1", "entry/v1", "plan/v1", "rollback/v1", "estimate/v1") and item.service:
            yield from self.ledgers.get(item.service, ())
        if item.kind == "entry/v1":
            said = self.raw(item.file)
            yield from (path for path in self._estimates.get(item.service, ()) if _name_in_text(path) in said)
        if item.kind in ("stack/v1", "matrix/v1", "plan/v1") and item.service:
            # The site says what ${host} stands for, and which ports are taken.
            yield from self.by_name.get((item.service.partition("/")[0], None), ())
        for service in item.model.respect if item.kind == "plan/v1" and item.model is not None else ():
            yield from self.by_name.get((service.partition("/")[0], None), ())
        if item.kind in _HAS_A_FAMILY:
            # All builds: where one's help is not learned, another one teaches the spelling.
            yield from self.tables


def _asks(path: str) -> bool:
    return "/fixtures/" in path or "/tasks/" in path


def _concerns_plans(path: str) -> bool:
    return path.startswith("ledger/") or "/plans/" in path or "/runs/" in path


def _meanings(reference: Reference, item: Item) -> tuple[tuple[str, str | None], ...]:
    """Name and service of what a reference can lead to: as cited, else of the same service or of none."""
    cited, _, name = reference.name.rpartition("/")
    return ((name, cited),) if cited else ((name, item.service), (name, None))


def _name_in_text(path: str) -> bytes:
    """What stands in every document that cites a file: a document's name, any other file's last part."""
    name = place_of(path)[0] if path.endswith(ENDINGS) else path.rpartition("/")[2]
    return name.encode(errors="surrogateescape")
