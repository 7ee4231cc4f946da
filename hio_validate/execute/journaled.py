"""Something that is done on this host under keepers: its folder with its work and its journal, and whether it left the host unsafe.

Invariant: it is closed when its journal says so; what began, is not closed, and whose keepers are all dead makes the
host unsafe (contract 5.10), whatever happened to them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from hio_validate.execute import journal, owned
from hio_validate.execute.journal import Event

State = Literal["prepared", "running", "unsafe", "closed"]

WORK = "work.json"


class Unreadable(Exception):
    """A work that cannot be read."""


@dataclass(frozen=True)
class Journaled:
    """One trial or deployment, as its journal stands at the moment it is read."""

    folder: Path

    ROLES: ClassVar[Mapping[str, str]] = {}
    """Role of a keeper -> the event with which it begins."""

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def events(self) -> Sequence[Event]:
        return journal.read(self.folder)

    @property
    def work_is_as_prepared(self) -> bool:
        """Whether the work has the bytes that were written down at first."""
        prepared = self.last("prepared")
        try:
            return prepared is not None and prepared["sha256"] == sha256((self.folder / WORK).read_bytes())
        except OSError:
            return False

    def last(self, event: str) -> dict[str, Any] | None:
        """Data of the newest event of a name."""
        return next((each.data for each in reversed(self.events) if each.event == event), None)

    def has(self, event: str) -> bool:
        return self.last(event) is not None

    def current(self, event: str) -> dict[str, Any] | None:
        """Data of the newest event of a name since it was last taken up."""
        for each in reversed(self.events):
            if each.event == event:
                return each.data
            if each.event in ("prepared", "resumed"):
                return None
        return None

    @property
    def is_closed(self) -> bool:
        """Whether nothing of it is open: closed, and not resumed since."""
        return self.current("closed") is not None

    @property
    def keepers(self) -> dict[str, owned.Identity]:
        """The newest keepers by role, as far as they began."""
        found = {}
        for role, event in self.ROLES.items():
            data = self.current(event)
            if data is not None:
                found[role] = owned.identity_from(data[role])
        return found

    @property
    def state(self) -> State:
        if self.is_closed:
            return "closed"
        if any(owned.is_alive(who) for who in self.keepers.values()):
            return "running"
        return "unsafe" if self.keepers else "prepared"


Kind = TypeVar("Kind", bound=Journaled)


def all_in(folder: Path, kind: type[Kind]) -> list[Kind]:
    """Everything of a kind whose folder lies in one, the oldest first."""
    found: Iterable[Kind] = (
        [kind(each) for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []
    )
    return sorted(found, key=lambda each: (each.events[0].at if each.events else "", each.name))


def named(folder: Path, name: str, kind: type[Kind]) -> Kind | None:
    """The one of a name; None where there is none, or the name could lead elsewhere."""
    found = folder / name
    return kind(found) if "/" not in name and name not in ("", ".", "..") and found.is_dir() else None


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
