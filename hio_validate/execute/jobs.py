"""The jobs of this host: their folders, what their journals say of them, and which of them left the host unsafe.

Invariant: a job is closed when its journal says so; one that began, is not closed, and whose guardian and supervisor
are dead makes the host unsafe (contract 5.10), whatever happened to them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Literal

from hio_validate.execute import journal, owned
from hio_validate.execute.journal import Event
from hio_validate.execute.work import Work, as_text, from_text
from hio_validate.repo import Item, Repo

State = Literal["prepared", "running", "unsafe", "closed"]

WORK = "work.json"
PREFLIGHT = "preflight.json"
LEG_ENDED = "leg-ended"


class Unreadable(Exception):
    """A job whose work cannot be read."""


def state_folder() -> Path:
    """$HIO_STATE, else $XDG_STATE_HOME/hio, else ~/.local/state/hio."""
    own = os.environ.get("HIO_STATE")
    if own:
        return Path(own).resolve()
    base = os.environ.get("XDG_STATE_HOME", "")
    return Path(base if base.startswith("/") else os.path.expanduser("~/.local/state")) / "hio"


@dataclass(frozen=True)
class Job:
    """One job, as its journal stands at the moment it is read."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def mark(self) -> str:
        """What its processes carry in their environment; a job of this name in another state folder has another one."""
        return str(self.folder)

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

    @property
    def is_unrecorded(self) -> bool:
        """Whether its run could not be written into the repository, and still stands in the job's folder alone."""
        said = (each.event for each in reversed(self.events) if each.event in ("recorded", "not-recorded"))
        return next(said, "recorded") == "not-recorded"

    @property
    def is_readable(self) -> bool:
        """Whether its work can be read."""
        try:
            return self.work is not None
        except Unreadable:
            return False

    @property
    def work_is_as_prepared(self) -> bool:
        """Whether the work has the bytes that were written down at first."""
        prepared = self.last("prepared")
        try:
            return prepared is not None and prepared["sha256"] == _sha256((self.folder / WORK).read_bytes())
        except OSError:
            return False

    def last(self, event: str) -> dict[str, Any] | None:
        """Data of the newest event of a name."""
        return next((each.data for each in reversed(self.events) if each.event == event), None)

    @property
    def is_closed(self) -> bool:
        """Whether nothing of it is open: closed, and not resumed since."""
        return self.current("closed") is not None

    def current(self, event: str) -> dict[str, Any] | None:
        """Data of the newest event of a name since the job was last taken up."""
        for each in reversed(self.events):
            if each.event == event:
                return each.data
            if each.event in ("prepared", "resumed"):
                return None
        return None

    @property
    def keepers(self) -> dict[str, owned.Identity]:
        """Guardian and supervisor, by role, as far as they began."""
        found = {}
        for role, event in (("guardian", "guarded"), ("supervisor", "started")):
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

    @property
    def legs(self) -> list[dict[str, Any]]:
        """What was recorded of each leg that ran to its end, in order: its event with `place`, `number`, `record`."""
        return [
            each.data
            for each in self.events
            if each.event == LEG_ENDED and each.data.get("record") is not None
        ]

    @property
    def started_processes(self) -> list[owned.Identity]:
        """Every process that the trial started, as far as the journal knows."""
        return [owned.identity_from(each.data["who"]) for each in self.events if each.event == "process"]


def all_jobs(state: Path) -> list[Job]:
    """Every job of this host, the oldest first."""
    folder = state / "jobs"
    found = [Job(each) for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []
    return sorted(found, key=lambda job: (job.events[0].at if job.events else "", job.name))


def find(state: Path, name: str) -> Job | None:
    """The job of a name."""
    folder = state / "jobs" / name
    return Job(folder) if "/" not in name and name not in ("", ".", "..") and folder.is_dir() else None


def unsafe_jobs(state: Path) -> list[Job]:
    """Jobs that left this host unsafe: as long as there is one, no trial and no deployment begins (contract 5.10)."""
    return [job for job in all_jobs(state) if job.state == "unsafe"]


def create(state: Path, work: Work, preflight: Mapping[str, Any] | None = None) -> Job:
    """Write down a new job, and what was known before it (contract 4.9). Raises FileExistsError and OSError."""
    folder = state / "jobs" / work.job
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(mode=0o700)
    text = as_text(work)
    (folder / WORK).write_text(text)
    (folder / PREFLIGHT).write_text(json.dumps(preflight or {}, indent=1) + "\n")
    for name in (WORK, PREFLIGHT):
        os.chmod(folder / name, 0o600)
    journal.Journal(folder).write(
        "prepared", boot=owned.boot_id(), plan=work.plan, sha256=_sha256(text.encode())
    )
    return Job(folder)


def name_for(plan: Item, repo: Repo, state: Path) -> str:
    """What a job and its run are called where nobody names them: the day, the plan, and a number from the second on."""
    name = f"{journal.now()[:10]}-{plan.name}"
    taken = {run.name for run in repo.items if run.kind == "run/v1" and run.service == plan.service}
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(each for each in numbered if each not in taken and find(state, each) is None)


def places_left(job: Job) -> Iterator[int]:
    """Places of the order, 1 first, for which no leg ran to its end."""
    done = {leg["place"] for leg in job.legs}
    return (place for place in range(1, len(job.work.order) + 1) if place not in done)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
