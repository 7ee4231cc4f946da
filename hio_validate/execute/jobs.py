"""The jobs of this host: their folders, what their journals say of them, and which of them left the host unsafe.

What makes a host unsafe says execute/journaled.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from hio_validate.execute import journal, owned
from hio_validate.execute.journaled import WORK, Journaled, Unreadable, all_in, named, sha256
from hio_validate.execute.work import Work, as_text, from_text
from hio_validate.repo import Item, Repo

PREFLIGHT = "preflight.json"
LEG_ENDED = "leg-ended"


def state_folder() -> Path:
    """$HIO_STATE, else $XDG_STATE_HOME/hio, else ~/.local/state/hio."""
    own = os.environ.get("HIO_STATE")
    if own:
        return Path(own).resolve()
    base = os.environ.get("XDG_STATE_HOME", "")
    return Path(base if base.startswith("/") else os.path.expanduser("~/.local/state")) / "hio"


@dataclass(frozen=True)
class Job(Journaled):
    """One trial."""

    ROLES: ClassVar = {"guardian": "guarded", "supervisor": "started"}

    @property
    def mark(self) -> str:
        """What its processes carry in their environment; a job of this name in another state folder has another one."""
        return str(self.folder)

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
    return all_in(state / "jobs", Job)


def find(state: Path, name: str) -> Job | None:
    """The job of a name."""
    return named(state / "jobs", name, Job)


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
        "prepared", boot=owned.boot_id(), plan=work.plan, sha256=sha256(text.encode())
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
