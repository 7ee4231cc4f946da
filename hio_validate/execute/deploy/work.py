"""What a deployment or a rollback has to do, resolved once and kept beside its journal; also the plan a reviewer reads.

Invariant: worker, guardian and recovery act on this alone. Files are named by the SHA-256 of their bytes, which lie
in the folder of the deployment (or, in a plan, in it); secrets are named and never written.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from hio_validate.command import Command
from hio_validate.execute.work import Service

PLAN = "hio-deploy-plan/v1"


@dataclass(frozen=True)
class Side:
    """What serves on one side of the switch; neither stack nor command: nothing does."""

    stack: str | None = None
    """Pin of the stack."""
    command: Command | None = None


@dataclass(frozen=True)
class FileChange:
    """One file of the host, before and after."""

    path: str
    mode: int
    before: str | None
    """SHA-256 of the bytes that are there; None: no such file."""
    after: str | None
    """SHA-256 of the bytes that shall be there; None: no file."""
    foreign: bool = False
    """Whether hio did not write the bytes that are there, so that replacing them needs a word (contract 12.5)."""

    @property
    def back(self) -> FileChange:
        return replace(self, before=self.after, after=self.before, foreign=False)


@dataclass(frozen=True)
class Found:
    """The state of this host and of the ledger that a plan is bound to."""

    host: str
    """SHA-256 of the machine's id."""
    boot: str
    serving: Mapping[str, str | int] | None
    """Who listens on the port: pid, ticks, SHA-256 of its command line; None: nobody."""
    files: Mapping[str, str | None]
    """Path -> SHA-256 of what is there."""
    tips: tuple[str, ...]
    """The ledger's tips, pinned."""

    @property
    def digest(self) -> str:
        return _sha256(json.dumps(asdict(self), sort_keys=True).encode())


@dataclass(frozen=True)
class Work:
    """One switch of one service."""

    name: str
    """Of the deployment: its folder, its documents, its entry."""
    kind: Literal["deploy", "rollback"]
    at: str
    by: str
    """Who gave the word, for the entry."""
    root: str
    """Folder of the repository."""
    service: str
    backend: Literal["local", "systemd", "systemd-user"]
    unit: str | None
    address: str
    port: int
    role: str
    away: Side
    """What serves before the deployment, and again after its rollback."""
    to: Side
    """What serves after the deployment."""
    files: tuple[FileChange, ...]
    pins: Mapping[str, str]
    """What the entry pins: matrix, approval, qualification ...; role -> pin."""
    secrets: Mapping[str, str]
    """Secret that a command names -> where its value is read."""
    found: Found
    start_s: float = 120.0
    undoes: str | None = None
    """Rollback: the entry of the deployment that is taken back."""
    deployment: str | None = None
    """Rollback: the name of that deployment."""
    overwrite: bool = False
    """Whether the word was given that files which hio did not write may be replaced."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """Only in a plan: SHA-256 -> the bytes, as base64."""

    @property
    def site(self) -> str:
        return self.service.partition("/")[0]

    def serving(self, side: Side) -> Service:
        """The service as one side has it serve."""
        return Service(self.service, self.address, self.port, side.stack, side.command)

    @property
    def foreign(self) -> list[FileChange]:
        return [each for each in self.files if each.foreign]


def with_contents(work: Work, contents: Mapping[str, bytes]) -> Work:
    """The work as a plan holds it, with the bytes of its files."""
    return replace(work, contents={sha: base64.b64encode(each).decode() for sha, each in contents.items()})


def contents_of(work: Work) -> dict[str, bytes]:
    """SHA-256 -> bytes. Raises ValueError where they are not what their digest says."""
    found = {sha: base64.b64decode(text, validate=True) for sha, text in work.contents.items()}
    for sha, content in found.items():
        if _sha256(content) != sha:
            raise ValueError(f"the bytes that are called {sha[:12]} have another digest")
    return found


def as_text(work: Work) -> str:
    """The work as JSON."""
    return json.dumps({"hio": PLAN, **asdict(work)}, indent=1, ensure_ascii=False) + "\n"


def from_text(text: str) -> Work:
    """What `as_text` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    data = json.loads(text)
    if not isinstance(data, dict) or data.pop("hio", None) != PLAN:
        raise ValueError(f"it is no plan of a deployment: expected hio: {PLAN}")
    found = data["found"]
    return Work(
        **{
            **data,
            "away": _side(data["away"]),
            "to": _side(data["to"]),
            "files": tuple(FileChange(**each) for each in data["files"]),
            "found": Found(**{**found, "tips": tuple(found["tips"])}),
        }
    )


def _side(data: dict[str, Any]) -> Side:
    command = data["command"]
    return Side(
        data["stack"], Command(**{**command, "arguments": tuple(command["arguments"])}) if command else None
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
