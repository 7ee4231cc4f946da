"""Everything that a document rests on, with the hashes of the bytes that are there.

Invariant: what is named and missing, or pinned with other bytes than are there, is told; it is never left out quietly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hio_validate.repo import Item, Reference, Repo, evidence_files, joined, references


class Kept(NamedTuple):
    """A file of the repository."""

    file: str
    sha256: str
    """64 hexadecimal digits, of the bytes that are there."""


class Broken(NamedTuple):
    """Something that a document relies on and that is not there as it was."""

    file: str
    """The document that relies on it."""
    line: int
    sentence: str


class RestsOn(NamedTuple):
    """Files by path, and what is broken among them."""

    files: tuple[Kept, ...]
    broken: tuple[Broken, ...]


def rests_on(repo: Repo, documents: Iterable[Item]) -> RestsOn:
    """The documents themselves, all that they name, what those name, and every file whose bytes they rely on.

    What an entry of the ledger follows is the ledger's own chain and is left out: an entry says what it relies on by
    its pins.
    """
    files: dict[str, Kept] = {}
    broken: dict[tuple[str, int, str], Broken] = {}
    waiting = list(documents)
    while waiting:
        item = waiting.pop()
        if item.file in files or item.model is None:
            continue
        files[item.file] = Kept(item.file, item.document.digest.removeprefix("sha256:"))
        for beside in _beside(repo, item):
            _put(beside, files, broken)
        for reference in references(item):
            if reference.path[0] != "after":
                found = _named(repo, item, reference)
                if isinstance(found, Item):
                    waiting.append(found)
                else:
                    _put(found, files, broken)
    return RestsOn(tuple(sorted(files.values())), tuple(sorted(broken.values())))


def _put(found: Kept | Broken, files: dict[str, Kept], broken: dict[tuple[str, int, str], Broken]) -> None:
    if isinstance(found, Kept):
        files[found.file] = found
    else:
        broken[found] = found


def _beside(repo: Repo, item: Item) -> Iterator[Kept | Broken]:
    for path, file, wanted in evidence_files(item):
        there = repo.digest_beside(item, file)
        line = item.document.locate(path).line
        if there is None:
            yield Broken(item.file, line, f"{file}, which it relies on, is not there")
        elif there != wanted:
            yield Broken(
                item.file, line, f"{file} has other bytes than it had: {there[:12]}, not {wanted[:12]}"
            )
        else:
            yield Kept(joined(item.file, file), there)


def _named(repo: Repo, item: Item, reference: Reference) -> Item | Broken:
    found = repo.find(reference.kind, reference.name, item.service)
    line = item.document.locate(reference.path).line
    what = f"the {reference.kind.partition('/')[0]} {reference.name}"
    if found is None:
        return Broken(item.file, line, f"{what} is not there")
    if found.model is None:
        return Broken(item.file, line, f"{what} is not valid: hio validate {found.file}")
    if reference.digest is not None and reference.digest != found.document.digest:
        return Broken(item.file, line, f"{what} has other bytes than are pinned")
    return found
