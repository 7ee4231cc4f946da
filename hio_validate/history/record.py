"""What stands at a commit: its files in the rooms, what its entries and runs pin, its anchors and redactions.

Invariant: an object that git does not have is an error; a pin is found even in a document that no longer reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from hio_validate.history.git import TRUE_HISTORY, GitError, blobs, git
from hio_validate.history.log import REGULAR
from hio_validate.places import ENDINGS, ROOMS, frozen, place_of

_A_PIN = re.compile(rb"@(sha256:[0-9a-f]{64})")
_WHOLE_PIN = re.compile(r"(?:([^/@]+/[^/@]+)/)?([^/@]+)@(sha256:[0-9a-f]{64})")
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LARGEST_POINTER = 1024
"""Bytes, as the format of Git LFS says."""


class Holder(NamedTuple):
    """An entry or a run, by file and object, that pins others."""

    path: str
    id: str


class Pin(NamedTuple):
    """`[site/model/]name@sha256:…`, as it stands in a holder."""

    service: str | None
    name: str
    digest: str

    def means(self, path: str, holder: Holder) -> bool:
        """Whether a file stands where this pin leads: a name of the same service or of none, or as cited."""
        service = place_of(path)[1]
        wanted = {self.service} if self.service else {place_of(holder.path)[1], None}
        return service in wanted and self.name in _names(path)


class Special(NamedTuple):
    """An anchor or a redaction: its file and what it says."""

    path: str
    said: Mapping[str, Any]


@dataclass
class Record:
    """The files of the rooms at a commit, and what is in those that matter to an audit."""

    root: Path
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Path -> mode and object id."""
    pointers: set[str] = field(default_factory=set)
    """Ids of objects that are Git LFS pointers."""
    special: list[Special] = field(default_factory=list)
    pinned_by: dict[bytes, list[Holder]] = field(default_factory=dict)
    """Digest -> the entries and runs that hold it."""

    @cached_property
    def frozen(self) -> dict[str, str]:
        """Path -> what it is, of every file that is frozen by where it stands."""
        kinds = ((path, frozen(path)) for path in self.files)
        return {path: kind for path, kind in kinds if kind}

    @property
    def documents(self) -> set[str]:
        return {path for path in self.files if path.endswith(ENDINGS)}

    def of(self, kind: str) -> list[Special]:
        """The entries of a kind that could be read."""
        return [each for each in self.special if each.said.get("kind") == kind]

    def take(self, holder: Holder, raw: bytes) -> None:
        """Remember what an entry or a run pins, be it of this commit or of an earlier one."""
        for digest in _A_PIN.findall(raw):
            self.pinned_by.setdefault(digest, []).append(holder)


def holds_pins(path: str) -> bool:
    """Whether a file is an entry or a run, the only documents that pin."""
    return frozen(path) in ("entry", "run")


def standing(root: Path, commit: str) -> Record:
    """What stands at a commit. Raises GitError."""
    record = Record(root, tree(root, commit))
    kinds = record.frozen
    regular = [path for path in kinds if record.files[path][0] in REGULAR]
    holders = [path for path in regular if kinds[path] in ("entry", "run")]
    for path, raw in contents(record, holders):
        record.take(Holder(path, record.files[path][1]), raw)
        if raw.startswith(_LFS_POINTER):
            record.pointers.add(record.files[path][1])
        elif (b"anchor" in raw or b"redaction" in raw) and kinds[path] == "entry":
            record.special += _special(path, raw)
    read = set(holders)
    record.pointers |= _pointers(root, [record.files[path][1] for path in regular if path not in read])
    return record


def tree(root: Path, commit: str) -> dict[str, tuple[str, str]]:
    """Path -> (mode, object id) of the files in the rooms at a commit. Raises GitError."""
    listed = git(root, "ls-tree", "-r", "-z", commit, "--", *ROOMS, more=TRUE_HISTORY)
    found = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, _, id_ = about.split(" ")
        found[path] = (mode, id_)
    return found


def pins_in(raw: bytes, path: str) -> Iterator[Pin]:
    """Every pin of an entry or a run, whatever key it stands under."""
    # Imported late: most audits end before a document must be understood.
    from hio_validate.source import read

    data = read(raw, path).data
    texts = re.findall(r"[^\s\"'\[\]{},]+", raw.decode(errors="replace")) if data is None else _texts(data)
    for match in filter(None, map(_WHOLE_PIN.fullmatch, texts)):
        yield Pin(*match.groups())


def contents(record: Record, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of some files of a record. Raises GitError where one is missing."""
    if not paths:
        return
    ids = [record.files[path][1] for path in paths]
    for path, raw in zip(paths, blobs(record.root, ids, TRUE_HISTORY), strict=True):
        if raw is None:
            raise GitError(f"the object {record.files[path][1]} of {path} is missing")
        yield path, raw


def read_all(root: Path, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """(id, bytes) of objects, each once. Raises GitError where one is missing."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    for id_, raw in zip(wanted, blobs(root, wanted, TRUE_HISTORY), strict=True):
        if raw is None:
            raise GitError(f"the object {id_} is missing")
        yield id_, raw


def digest_of(raw: bytes) -> str:
    """`sha256:` and what `sha256sum` prints."""
    return "sha256:" + sha256(raw).hexdigest()


def is_pointer(raw: bytes) -> bool:
    """Whether bytes are a Git LFS pointer: the hash of the real ones, which are elsewhere."""
    return len(raw) <= _LARGEST_POINTER and raw.startswith(_LFS_POINTER)


def _pointers(root: Path, ids: list[str]) -> set[str]:
    """Those objects that are Git LFS pointers; large ones are not read."""
    if not ids:
        return set()
    asked = "".join(f"{id_}\n" for id_ in ids).encode()
    sizes = git(root, "cat-file", "--batch-check", "--buffer", stdin=asked, more=TRUE_HISTORY).decode()
    small = []
    for line in sizes.splitlines():
        id_, kind, *size = line.split(" ")
        if kind == "missing":
            raise GitError(f"the object {id_} is missing")
        if int(size[0]) <= _LARGEST_POINTER:
            small.append(id_)
    return {id_ for id_, raw in read_all(root, small) if is_pointer(raw)}


def _special(path: str, raw: bytes) -> list[Special]:
    from hio_validate.source import read  # most entries are neither anchor nor redaction

    data = read(raw, path).data
    return [Special(path, data)] if isinstance(data, dict) else []


def _texts(data: Any) -> Iterator[str]:
    """Every text in a document, keys left out."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _names(path: str) -> set[str]:
    """What a file can be called: its document's name, its own, and that without its endings."""
    last = path.rpartition("/")[2]
    return {place_of(path)[0], last, last.partition(".")[0]}
