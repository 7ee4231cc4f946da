"""What the repository has on record of the bytes of a process: by its build, its ledger, its qualifications.

Invariant: only what is pinned or was written by a machine speaks, and the nearest speaks first: the build that the
stack names, then the newest capture that an entry of the ledger pins, then the newest qualification of this very stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hio_validate.ledger import Ledger, ledgers
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.engine import Identity
from hio_validate.models.qualification import Identity as Qualified
from hio_validate.moment import moment
from hio_validate.repo import Item, Repo, name_of, pin_of
from hio_validate.settings.value import UNKNOWN


class Record(NamedTuple):
    """A digest and who says it."""

    sha256: str
    by: str


@dataclass(frozen=True)
class Recorded:
    """The records of one stack's process."""

    build: tuple[str, Identity] | None
    captures: tuple[tuple[str, CapturedProcess], ...]
    """Name of the capture and a process of it, newest first."""
    qualified: tuple[tuple[str, Qualified], ...]

    def executable(self, path: str | None) -> Record | None:
        """What the program at a path is."""
        if self.build and known(self.build[1].executable):
            return Record(str(self.build[1].executable), f"build {self.build[0]}")
        for name, process in self.captures:
            if process.executable.path == path and process.executable.sha256:
                return Record(process.executable.sha256, f"capture {name}")
        said = ((name, each.executable) for name, each in self.qualified)
        return next((Record(sha, f"qualification {name}") for name, sha in said if known(sha)), None)

    def library(self, name: str, path: str | None) -> Record | None:
        """What a library is; one of another version has another file name and is the same library of its build."""
        if self.build:
            libraries = self.build[1].libraries
            stem = {each.partition(".so")[0]: sha256 for each, sha256 in libraries.items()}
            sha256 = libraries.get(name) or stem.get(name.partition(".so")[0])
            if sha256:
                return Record(sha256, f"build {self.build[0]}")
        for capture, process in self.captures:
            mapped = process.libraries.get(name)
            if mapped is not None and mapped.path == path and mapped.sha256:
                return Record(mapped.sha256, f"capture {capture}")
        said = ((document, each.libraries.get(name)) for document, each in self.qualified)
        return next((Record(sha, f"qualification {doc}") for doc, sha in said if sha and known(sha)), None)

    def artifact(self, role: str, path: str | None) -> Record | None:
        """What the model or a companion at a path is."""
        for name, process in self.captures:
            for each in process.artifacts.values():
                if each.path == path and each.sha256:
                    return Record(each.sha256, f"capture {name}")
        said = ((name, each.artifacts.get(role)) for name, each in self.qualified)
        return next((Record(sha, f"qualification {name}") for name, sha in said if sha and known(sha)), None)


def recorded(repo: Repo, service: str, stack: Item, build: str | None) -> Recorded:
    """All records of a stack of a service."""
    engine = repo.find("engine/v1", build) if build else None
    identity = engine.model.identity if engine is not None and engine.model is not None else None
    return Recorded(
        (engine.name, identity) if engine is not None and identity is not None else None,
        tuple(_captures(repo, service)),
        tuple(_qualified(repo, service, stack)),
    )


def known(sha256: str | None) -> bool:
    """Whether a digest says anything."""
    return sha256 not in (None, UNKNOWN)


def _captures(repo: Repo, service: str) -> Iterator[tuple[str, CapturedProcess]]:
    ledger = ledgers(repo).get(service, Ledger(service, {}))
    for entry in reversed(list(ledger.as_of())):
        pin = None if entry.name in ledger.corrected else pin_of(entry, "capture")
        item = repo.find("capture/v1", name_of(pin), service) if pin else None
        if item is not None and item.model is not None and f"@{item.document.digest}" in str(pin):
            yield from ((item.name, process) for process in item.model.processes.values())


def _qualified(repo: Repo, service: str, stack: Item) -> Iterator[tuple[str, Qualified]]:
    same = [
        item
        for item in repo.of("qualification/v1")
        if item.service == service and item.model.stack.partition("@")[2] == stack.document.digest
    ]
    for item in sorted(same, key=lambda each: moment(each.model.at), reverse=True):
        yield item.name, item.model.process
