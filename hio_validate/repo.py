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

from hio_validate.diagnostic import Path
from hio_validate.models import KINDS, reader
from hio_validate.models.capture import Capture
from hio_validate.models.core import ValidationError
from hio_validate.models.engine import Engine
from hio_validate.models.entry import Entry
from hio_validate.models.errors import Refusal, refusals, unknown_kind
from hio_validate.models.fixture import Fixture
from hio_validate.models.known_good import KnownGood
from hio_validate.models.matrix import Bundle, FactorRow, Matrix
from hio_validate.models.plan import Plan
from hio_validate.models.qualification import Qualification
from hio_validate.models.rollback import Rollback as RollbackPlan
from hio_validate.models.run import Executed, Run
from hio_validate.models.stack import Stack
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


class Reference(NamedTuple):
    """A place in a document that names another one; `digest` is set where it pins it."""

    path: Path
    kind: str
    name: str
    digest: str | None = None


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
    "plan/v1": "manifests/services/<site>/<model>/plans/",
    "run/v1": "manifests/services/<site>/<model>/runs/<name>/",
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
    "plan/v1": "/plans/",
    "run/v1": "/runs/",
    "qualification/v1": "/qualifications/",
    "rollback/v1": "/rollbacks/",
    "known-good/v1": "manifests/known-good/",
    "entry/v1": "ledger/",
}
PINNED = {"run": "run/v1", "stack": "stack/v1", "parent": "stack/v1", "candidate": "stack/v1",
          "rollback": "stack/v1", "capture": "capture/v1", "matrix": "matrix/v1", "plan": "plan/v1",
          "approval": "entry/v1", "qualification": "qualification/v1",
          "rollback_plan": "rollback/v1"}  # fmt: skip
"""Key among an entry's pins -> the kind of document it pins."""


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


def references(item: Item) -> Iterator[Reference]:
    """Every place where a valid document names or pins another one."""
    model = item.model
    match model:
        case Stack():
            for process, each in model.processes.items():
                if each.build:
                    yield Reference(("processes", process, "build"), "engine/v1", each.build)
        case Capture():
            yield from _captured(model)
        case Matrix():
            yield from _matrix(model)
        case Plan():
            yield from _plan(model)
        case Run():
            yield from _run(model)
        case KnownGood():
            yield from _known_good(model)
        case Qualification():
            yield _pin(("stack",), "stack/v1", model.stack)
            if model.build:
                yield Reference(("build",), "engine/v1", model.build)
            if model.capture:
                yield _pin(("capture",), "capture/v1", model.capture)
        case RollbackPlan():
            yield Reference(("site",), "site/v1", model.site)
            yield _pin(("takes_back",), "stack/v1", model.takes_back)
            if model.restores:
                yield _pin(("restores",), "stack/v1", model.restores)
        case _ if isinstance(model, Entry):
            yield from _entry(model)


def _known_good(registry: KnownGood) -> Iterator[Reference]:
    for index, opted_in in enumerate(registry.opted_in):
        for number, stack in enumerate(opted_in.stacks):
            yield Reference(("opted_in", index, "stacks", number), "stack/v1", stack)
    for index, requirement in enumerate(registry.settings):
        for key, kind in (("builds", "engine/v1"), ("entries", "entry/v1"), ("runs", "run/v1")):
            for number, name in enumerate(getattr(requirement, key)):
                yield Reference(("settings", index, key, number), kind, name)


def _captured(capture: Capture) -> Iterator[Reference]:
    if capture.stack:
        yield Reference(("stack",), "stack/v1", capture.stack)
    if capture.site:
        yield Reference(("site",), "site/v1", capture.site)
    for process, each in capture.processes.items():
        if each.build:
            yield Reference(("processes", process, "build"), "engine/v1", each.build)


def _matrix(matrix: Matrix) -> Iterator[Reference]:
    yield Reference(("parent",), "stack/v1", matrix.parent)
    yield Reference(("candidate",), "stack/v1", matrix.candidate)
    for side in ("parent", "candidate"):
        capture = getattr(matrix.captures, side, None)
        if capture:
            yield Reference(("captures", side), "capture/v1", capture)
    for index, tip in enumerate(matrix.as_of):
        yield Reference(("as_of", index), "entry/v1", tip)
    for index, row in enumerate(matrix.rows):
        if isinstance(row, FactorRow | Bundle) and row.evidence:
            yield Reference(("rows", index, "evidence"), "entry/v1", row.evidence)


def _plan(plan: Plan) -> Iterator[Reference]:
    for name, arm in plan.arms.items():
        yield Reference(("arms", name, "stack"), "stack/v1", arm.stack)
    if plan.fixture:
        yield Reference(("fixture",), "fixture/v1", plan.fixture)
    for index, check in enumerate(plan.checks):
        yield Reference(("checks", index), "fixture/v1", check)
    if plan.decide.noise:
        yield Reference(("decide", "noise"), "run/v1", plan.decide.noise)
    if plan.serving.restore:
        yield Reference(("serving", "restore"), "stack/v1", plan.serving.restore)
    if plan.reproduces:
        yield Reference(("reproduces",), "run/v1", plan.reproduces)
    if plan.again:
        yield Reference(("again", "run"), "run/v1", plan.again.run)


def _run(run: Run) -> Iterator[Reference]:
    if run.plan:
        yield _pin(("plan",), "plan/v1", run.plan)
    for index, fixture in enumerate(run.fixtures):
        yield _pin(("fixtures", index), "fixture/v1", fixture)
    for index, approval in enumerate(run.approvals):
        yield _pin(("approvals", index), "entry/v1", approval)
    if run.preflight and run.preflight.live:
        yield _pin(("preflight", "live"), "capture/v1", run.preflight.live)
    if run.restored:
        yield _pin(("restored", "stack"), "stack/v1", run.restored.stack)
        if run.restored.capture:
            yield _pin(("restored", "capture"), "capture/v1", run.restored.capture)
    for index, leg in enumerate(run.legs):
        if leg.capture:
            yield _pin(("legs", index, "capture"), "capture/v1", leg.capture)
    for name, arm in run.arms.items():
        yield _pin(("arms", name, "stack"), "stack/v1", arm.stack)
        for index, capture in enumerate(arm.captures):
            yield _pin(("arms", name, "captures", index), "capture/v1", capture)


def _entry(entry: Any) -> Iterator[Reference]:
    for index, tip in enumerate(entry.after):
        yield _pin(("after", index), "entry/v1", tip)
    pins = getattr(entry, "pins", None)
    for key, kind in PINNED.items():
        pinned = getattr(pins, key, None)
        if pinned:
            yield _pin(("pins", key), kind, pinned)
    attempted = getattr(entry, "attempted", None)
    if attempted:
        yield _pin(("attempted",), "stack/v1", attempted)
    for key in ("corrects", "undoes"):
        named = getattr(entry, key, None)
        if named:
            yield Reference((key,), "entry/v1", named)
    for index, kept in enumerate(getattr(entry, "keeps", ())):
        yield Reference(("keeps", index), "entry/v1", kept)


def pin_of(entry: Item, role: str) -> str | None:
    """What an entry pins in a role (PINNED); None where its kind has no such pin or it leaves it out."""
    pin: str | None = getattr(getattr(entry.model, "pins", None), role, None)
    return pin


def name_of(pin: str) -> str:
    """The name in a pin, `name@sha256:...`."""
    return pin.partition("@")[0]


def _pin(path: Path, kind: str, pin: str) -> Reference:
    name, _, digest = pin.partition("@")
    return Reference(path, kind, name, digest)


def evidence_files(item: Item) -> Iterator[tuple[Path, str, str]]:
    """(path in the document, file beside it, SHA-256) of every file whose bytes a document relies on."""
    model = item.model
    if isinstance(model, Engine) and model.help:
        yield ("help", "sha256"), model.help.file, model.help.sha256
    if isinstance(model, Engine) and model.source:
        for index, patch in enumerate(model.source.patches):
            yield ("source", "patches", index, "sha256"), patch.file, patch.sha256
    if isinstance(model, Run):
        yield ("raw", "sha256"), model.raw.file, model.raw.sha256
        for key in ("events", "samples"):
            kept = getattr(model, key)
            if kept:
                yield (key, "sha256"), kept.file, kept.sha256
        for index, command in enumerate(model.commands):
            yield from _output(index, command)
        for index, log in enumerate(model.logs):
            yield ("logs", index, "sha256"), log.file, log.sha256
    if isinstance(model, Qualification) and model.rows:
        yield ("rows", "sha256"), model.rows.file, model.rows.sha256
    if isinstance(model, Fixture):
        if model.file:
            yield ("file", "sha256"), model.file.file, model.file.sha256
        for index, tool in enumerate(model.tools):
            yield ("tools", index, "sha256"), tool.file, tool.sha256


def _output(index: int, command: Executed) -> Iterator[tuple[Path, str, str]]:
    for stream in ("stdout", "stderr"):
        kept = getattr(command, stream)
        if kept:
            yield ("commands", index, stream, "sha256"), kept.file, kept.sha256
