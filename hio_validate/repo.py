"""The repository: files become documents, documents become items found by kind, service and name.

Invariants: a document that cannot be read is still known to exist, so that its absence is never blamed on
those who cite it; a name leads to at most one item per kind and service.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from hio_validate.citing import PINNED as PINNED
from hio_validate.citing import Reference as Reference
from hio_validate.citing import evidence_files as evidence_files
from hio_validate.citing import name_of as name_of
from hio_validate.citing import pin_of as pin_of
from hio_validate.citing import references as references
from hio_validate.models import KINDS, reader
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import Refusal, refusals, unknown_kind
from hio_validate.places import ENDINGS as ENDINGS
from hio_validate.places import ROOMS as ROOMS
from hio_validate.places import place_of as place_of
from hio_validate.places import service_of as service_of
from hio_validate.source import Document, digest_of, read


class Tree(Protocol):
    """Files by path, as they are in a work tree, an index or a revision."""

    def paths(self) -> Sequence[str]:
        """Every file, relative to the root, with `/`."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises OSError."""
        ...


class Item(NamedTuple):
    """A document with what its path and its `hio:` line say it is. `model` is None where it is not valid."""

    document: Document
    kind: str
    name: str
    service: str | None
    model: Any = None
    refused: tuple[Refusal, ...] = ()

    @property
    def file(self) -> str:
        return self.document.file

    @property
    def full_name(self) -> str:
        """The name by which documents of other services cite it."""
        return f"{self.service}/{self.name}" if self.service else self.name

    @property
    def pin(self) -> str:
        """The name with the digest of the file's bytes: what is pinned is frozen (contract 1.4)."""
        return f"{self.name}@{self.document.digest}"


class Repo:
    """All documents of one tree."""

    def __init__(self, tree: Tree, items: tuple[Item, ...], unreadable: tuple[str, ...] = ()) -> None:
        self.tree, self.items, self.unreadable = tree, items, unreadable
        self._bytes: dict[str, bytes | None] = {}

    @cached_property
    def _index(self) -> dict[tuple[str, str | None, str], list[Item]]:
        index: dict[tuple[str, str | None, str], list[Item]] = defaultdict(list)
        for item in self.items:
            index[item.kind, item.service, item.name].append(item)
        return index

    @cached_property
    def _anywhere(self) -> dict[tuple[str, str], list[Item]]:
        named: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for item in self.items:
            named[item.kind, item.name].append(item)
        return named

    @cached_property
    def _unread_names(self) -> frozenset[str]:
        return frozenset(item.name for item in self.items if item.model is None)

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(self.tree.paths())

    def of(self, kind: str) -> Iterator[Item]:
        """The valid items of a kind, in path order."""
        return (item for item in self.items if item.kind == kind and item.model is not None)

    def find(self, kind: str, name: str, service: str | None = None) -> Item | None:
        """The item that a reference in a document of `service` means; None where there is none.

        A bare name means one of the same service (or of none, as sites and builds are); `site/model/name`
        means exactly that one. Without a service, as on a command line, a bare name is found anywhere.
        """
        cited = name.count("/") == 2
        if cited:
            service, _, name = name.rpartition("/")
        if service is None:
            found = self._anywhere.get((kind, name))
        else:
            found = self._index.get((kind, service, name))
            found = found or (None if cited else self._index.get((kind, None, name)))
        return found[0] if found else None

    def meant(self, kind: str, name: str, service: str | None = None) -> list[Item]:
        """Every item that a name on a command line can mean: with a service one at most, without it one of each."""
        if service is not None or name.count("/") == 2:
            found = self.find(kind, name, service)
            return [found] if found else []
        return self._anywhere.get((kind, name), [])

    def run_of(self, entry: Item) -> Item | None:
        """The readable run that an entry pins."""
        pin = pin_of(entry, "run")
        run = self.find("run/v1", name_of(pin), entry.service) if pin else None
        return run if run is not None and run.model is not None else None

    def names(self, kind: str) -> list[str]:
        """The names of a kind's documents, by where they stand; those that were not read, too."""
        room = _ROOM_OF[kind]
        return sorted({place_of(path)[0] for path in documents_in(self.tree) if room in path})

    def unread(self, kind: str, name: str, service: str | None = None) -> Item | None:
        """The document of that name where the kind's documents stand, whose bytes do not even say what it is."""
        cited, _, bare = name.rpartition("/")
        room = _ROOM_OF[kind]
        return next(
            (
                item for item in self.items
                if not item.kind and item.name == bare and room in item.file
                and (cited or service) in ("", None, item.service)
            ),
            None,
        )  # fmt: skip

    def maybe_unread(self, name: str) -> bool:
        """Whether a document of that name exists and could not be read, so that its kind is not known."""
        return name.rpartition("/")[2] in self._unread_names

    def bytes_of(self, path: str) -> bytes | None:
        """The bytes of any file of the tree, None where there is none; evidence is read through here."""
        if path not in self._bytes:
            try:
                self._bytes[path] = self.tree.read(path)
            except OSError:
                self._bytes[path] = None
        return self._bytes[path]

    def beside(self, item: Item, file: str) -> bytes | None:
        """A file named relative to a document."""
        return self.bytes_of(joined(item.file, file))

    def digest_beside(self, item: Item, file: str) -> str | None:
        raw = self.beside(item, file)
        return None if raw is None else digest_of(raw).removeprefix("sha256:")


ROOM_OF = {
    "stack/v1": "manifests/services/<site>/<model>/stacks/",
    "site/v1": "manifests/sites/",
    "engine/v1": "manifests/engines/<family>/<build>/",
    "family/v1": "manifests/engines/<family>/",
    "capture/v1": "manifests/services/<site>/<model>/captures/",
    "matrix/v1": "matrix/<site>/<model>/",
    "fixture/v1": "manifests/services/<site>/<model>/fixtures/",
    "tasks/v1": "manifests/services/<site>/<model>/tasks/",
    "plan/v1": "manifests/services/<site>/<model>/plans/",
    "run/v1": "manifests/services/<site>/<model>/runs/<name>/",
    "observation/v1": "manifests/services/<site>/<model>/observations/<name>/",
    "campaign/v1": "manifests/services/<site>/<model>/campaigns/",
    "campaign-run/v1": "manifests/services/<site>/<model>/campaign-runs/",
    "receipt/v1": "manifests/services/<site>/<model>/receipts/",
    "ceilings/v1": "manifests/ceilings/",
    "shape/v1": "manifests/services/<site>/<model>/shapes/",
    "estimate/v1": "manifests/services/<site>/<model>/estimates/",
    "profile/v1": "manifests/services/<site>/<model>/profiles/",
    "qualification/v1": "manifests/services/<site>/<model>/qualifications/",
    "rollback/v1": "manifests/services/<site>/<model>/rollbacks/",
    "known-good/v1": "manifests/known-good/",
    "entry/v1": "ledger/<site>/<model>/<year>/",
}
"""Where the documents of a kind stand."""
_ROOM_OF = {
    "stack/v1": "/stacks/",
    "site/v1": "manifests/sites/",
    "engine/v1": "manifests/engines/",
    "family/v1": "/family.yaml",
    "capture/v1": "/captures/",
    "matrix/v1": "matrix/",
    "fixture/v1": "/fixtures/",
    "tasks/v1": "/tasks/",
    "plan/v1": "/plans/",
    "run/v1": "/runs/",
    "observation/v1": "/observations/",
    "campaign/v1": "/campaigns/",
    "campaign-run/v1": "/campaign-runs/",
    "receipt/v1": "/receipts/",
    "ceilings/v1": "manifests/ceilings/",
    "shape/v1": "/shapes/",
    "estimate/v1": "/estimates/",
    "profile/v1": "/profiles/",
    "qualification/v1": "/qualifications/",
    "rollback/v1": "/rollbacks/",
    "known-good/v1": "manifests/known-good/",
    "entry/v1": "ledger/",
}


def joined(document: str, file: str) -> str:
    """A relative path from the folder of a document; `..` is resolved, leaving the tree gives no file."""
    parts = document.split("/")[:-1]
    for part in file.split("/"):
        if part == "..":
            if not parts:
                return "\0"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def load(tree: Tree) -> Repo:
    """Read every document under matrix/, ledger/ and manifests/."""
    items, unreadable = [], []
    for path in documents_in(tree):
        try:
            raw = tree.read(path)
        except OSError as error:
            unreadable.append(f"{path}: {error.strerror or error}")
            continue
        items.append(item_of(read(raw, path)))
    return Repo(tree, tuple(items), tuple(unreadable))


def documents_in(tree: Tree) -> list[str]:
    """The paths of all documents in the three rooms."""
    return [path for path in tree.paths() if path.endswith(ENDINGS) and path.startswith(_ROOM_PREFIXES)]


_ROOM_PREFIXES = tuple(f"{room}/" for room in ROOMS)


def item_of(document: Document) -> Item:
    """What one document is, and whether its kind accepts it."""
    name, service = place_of(document.file)
    if document.data is None:
        return Item(document, "", name, service)
    kind = document.data.get("hio")
    if not isinstance(kind, str) or kind not in KINDS:
        return Item(document, "", name, service, None, (_no_kind(document),))
    try:
        model = reader(kind).validate_python(document.data)
    except ValidationError as error:
        return Item(document, kind, name, service, None, tuple(refusals(error, kind, document.data)))
    return Item(document, kind, name, service or getattr(model, "service", None), model)


def _no_kind(document: Document) -> Refusal:
    if "hio" in document.data:
        return unknown_kind(document.data["hio"], list(KINDS))
    return Refusal(
        (), 'the key "hio" is missing: what kind of document is this?', f"one of {', '.join(KINDS)}"
    )


_NAME_IN_ROOM = r"[^/]+"
_IN_ROOM = {
    kind: re.compile(re.sub("<[a-z]+>", _NAME_IN_ROOM, room).removesuffix("<year>/") + ".*")
    for kind, room in ROOM_OF.items()
}


_IN_ROOM["capture/v1"] = re.compile(
    f"(?:{_IN_ROOM['capture/v1'].pattern}|{_IN_ROOM['run/v1'].pattern.removesuffix('.*')}captures/.*)"
)


def in_its_room(item: Item) -> bool:
    """Whether a document stands where its kind is looked for and, where it is written once, frozen."""
    return _IN_ROOM[item.kind].fullmatch(item.file) is not None
