"""The deployments and rollbacks of this host: their folders, and what their journals say of them.

What makes a host unsafe says execute/journaled.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from hio_validate.execute import journal, owned
from hio_validate.execute.deploy.work import Work, as_text, contents_of, from_text
from hio_validate.execute.journaled import WORK, Journaled, Unreadable, all_in, named, sha256

FILES = "files"


@dataclass(frozen=True)
class Deployment(Journaled):
    """One deployment or rollback."""

    ROLES: ClassVar = {"guardian": "guarded", "worker": "started"}

    @cached_property
    def work(self) -> Work:
        """Raises Unreadable."""
        try:
            return from_text((self.folder / WORK).read_text())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"{self.folder / WORK} cannot be read: {error}") from None

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
    return all_in(folder_of(state), Deployment)


def find(state: Path, name: str) -> Deployment | None:
    """The deployment of a name."""
    return named(folder_of(state), name, Deployment)


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
