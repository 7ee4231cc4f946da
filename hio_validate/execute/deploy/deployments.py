"""The deployments and rollbacks of this host: their folders, and what their journals say of them.

Invariant: one that began, is not closed and whose guardian and worker are dead makes the host unsafe (contract 5.10).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hio_validate.execute import journal, owned
from hio_validate.execute.deploy.work import Work, as_text, contents_of, from_text
from hio_validate.execute.journal import Event

State = Literal["prepared", "running", "unsafe", "closed"]

WORK = "work.json"
FILES = "files"


class Unreadable(Exception):
    """A deployment whose work cannot be read."""


@dataclass(frozen=True)
class Deployment:
    """One deployment or rollback, as its journal stands at the moment it is read."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def events(self) -> Sequence[Event]:
        return journal.read(self.folder)

    @cached_property
    def work(self) -> Work:
        """Raises Unreadable."""
        try:
            return from_text((self.folder / WORK).read_text())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"{self.folder / WORK} cannot be read: {error}") from None

    def last(self, event: str) -> dict[str, Any] | None:
        """Data of the newest event of a name."""
        return next((each.data for each in reversed(self.events) if each.event == event), None)

    def has(self, event: str) -> bool:
        return self.last(event) is not None

    @property
    def work_is_as_prepared(self) -> bool:
        """Whether the work has the bytes that were written down at first."""
        prepared = self.last("prepared")
        try:
            return prepared is not None and prepared["sha256"] == sha256((self.folder / WORK).read_bytes())
        except OSError:
            return False

    @property
    def keepers(self) -> dict[str, owned.Identity]:
        """The newest guardian and worker, by role, as far as they began."""
        found = {}
        for role, event in (("guardian", "guarded"), ("worker", "started")):
            data = self.last(event)
            if data is not None:
                found[role] = owned.identity_from(data[role])
        return found

    @property
    def state(self) -> State:
        if self.has("closed"):
            return "closed"
        if any(owned.is_alive(who) for who in self.keepers.values()):
            return "running"
        return "unsafe" if self.keepers else "prepared"

    def content(self, sha: str) -> bytes:
        """Bytes that were kept. Raises OSError, and ValueError where they are others by now."""
        found = (self.folder / FILES / sha).read_bytes()
        if sha256(found) != sha:
            raise ValueError(f"{self.folder / FILES / sha} has other bytes than its name says")
        return found

    def keep(self, content: bytes) -> str:
        """Keep bytes under their digest, which is given back. Raises OSError."""
        sha = sha256(content)
        write(self.folder / FILES / sha, content)
        return sha


def folder_of(state: Path) -> Path:
    return state / "deployments"


def all_deployments(state: Path) -> list[Deployment]:
    """Every deployment and rollback of this host, the oldest first."""
    folder = folder_of(state)
    found = [Deployment(each) for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []
    return sorted(found, key=lambda each: (each.events[0].at if each.events else "", each.name))


def find(state: Path, name: str) -> Deployment | None:
    """The deployment of a name."""
    folder = folder_of(state) / name
    return Deployment(folder) if "/" not in name and name not in ("", ".", "..") and folder.is_dir() else None


def unsafe(state: Path) -> list[Deployment]:
    """Those that left this host unsafe: as long as there is one, no trial and no deployment begins."""
    return [each for each in all_deployments(state) if each.state == "unsafe"]


def carried_out(state: Path, digest: str) -> Deployment | None:
    """The deployment that a plan of this digest was used for already."""
    return next(
        (each for each in all_deployments(state) if (each.last("prepared") or {}).get("plan") == digest), None
    )


def create(state: Path, work: Work, plan: str) -> Deployment:
    """Write down a new deployment; `plan` is the digest of its plan. Raises FileExistsError and OSError."""
    folder = folder_of(state) / work.name
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(mode=0o700)
    made = Deployment(folder)
    for content in contents_of(work).values():
        made.keep(content)
    text = as_text(work)
    write(folder / WORK, text.encode())
    journal.Journal(folder).write("prepared", boot=owned.boot_id(), plan=plan, sha256=sha256(text.encode()))
    return Deployment(folder)


def written_by_hio(state: Path, service: str) -> Mapping[str, str | None]:
    """Path -> digest of what hio last put there for a service, by its own records."""
    found: dict[str, str | None] = {}
    for each in all_deployments(state):
        for event in each.events:
            if event.event in ("installed", "put-back"):
                found |= event.data["files"] if event.data.get("service") == service else {}
    return found


def write(path: Path, content: bytes) -> None:
    """Write a file of ours whole, synced, for nobody else to read. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
