"""The campaigns of this host: which began, what became of each cell, and the record that is written at the end.

Invariants: a cell is a job of its own, and its job's journal alone says how it went, so that a killed controller loses
nothing; a completed cell is never run again (contract 4.8); one controller a campaign.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from hio_validate import __version__
from hio_validate.evidence.campaign import cell_run_name, first_run_id
from hio_validate.execute import closing, jobs, journal, recovery
from hio_validate.execute.jobs import Job
from hio_validate.execute.journal import Journal
from hio_validate.execute.journaled import Unreadable
from hio_validate.models.campaign import Campaign
from hio_validate.moment import moment
from hio_validate.recording import modeline
from hio_validate.repo import Item, Repo
from hio_validate.rules import NEWEST
from hio_validate.source.dump import Row, dump

ROOM = "campaigns"
"""Folder of the state folder with a folder for each campaign that began here."""
_LOCK = "controller.lock"

OPEN = frozenset({"to-run", "running", "prepared", "resumable", "unsafe", "unrecorded"})
"""Standings of a cell that is not over."""


class Watched(Exception):
    """Another process runs this campaign already."""


@dataclass(frozen=True)
class Standing:
    """How a cell stands on this host."""

    cell: str
    run: str
    """What its job and its run are called."""
    state: str
    """to-run, running, prepared, unsafe, resumable, unrecorded, or an outcome: completed, aborted, failed, stopped."""
    why: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


@dataclass(frozen=True)
class Begun:
    """A campaign that began here."""

    folder: Path

    @property
    def run_id(self) -> str:
        return self.folder.name

    @cached_property
    def events(self) -> tuple[journal.Event, ...]:
        return tuple(journal.read(self.folder))

    @property
    def data(self) -> dict[str, Any]:
        """Of its beginning: `campaign` (pin), `service`, `root`; empty where nothing readable says it."""
        return next((each.data for each in self.events if each.event == "begun"), {})

    @property
    def at(self) -> str:
        return next((each.at for each in self.events if each.event == "begun"), "")

    @property
    def is_closed(self) -> bool:
        return any(each.event == "recorded" for each in self.events)

    @property
    def resumed(self) -> list[str]:
        return [each.at for each in self.events if each.event == "resumed"]

    def refused(self, cell: str) -> str:
        """Why a cell was last not allowed to begin; nothing where it was not refused since."""
        for each in reversed(self.events):
            if each.data.get("cell") == cell:
                return str(each.data.get("why", "")) if each.event == "refused" else ""
        return ""


def all_begun(state: Path) -> list[Begun]:
    """Every campaign of this host, the oldest first."""
    room = state / ROOM
    found = [Begun(each) for each in room.iterdir() if each.is_dir()] if room.is_dir() else []
    return sorted(found, key=lambda each: (each.at, each.run_id))


def open_of(state: Path, campaign: Item, root: Path) -> Begun | None:
    """The run of a campaign that began here in this repository and was not recorded yet."""
    mine = [
        each
        for each in all_begun(state)
        if not each.is_closed
        and each.data.get("service") == campaign.service
        and each.data.get("root") == str(root)
        and str(each.data.get("campaign", "")).partition("@")[0] == campaign.name
    ]
    return mine[-1] if mine else None


def run_id_for(campaign: Item, repo: Repo, state: Path, now: str) -> str:
    """The id of the next run: that of an acknowledgement that holds now and was not used, else the day and the name."""
    taken = {each.name for each in repo.of("campaign-run/v1") if each.service == campaign.service}
    taken |= {each.run_id for each in all_begun(state)}
    model: Campaign = campaign.model
    for given in model.acknowledgements:
        if given.run_id not in taken and moment(given.at) <= moment(now) < moment(given.until):
            return given.run_id
    first = first_run_id(campaign.name, now[:10])
    numbered = (first if number == 1 else f"{first}-{number}" for number in count(1))
    return next(each for each in numbered if each not in taken)


def begin(state: Path, run_id: str, campaign: Item, root: Path) -> Begun:
    """Write down that a campaign begins. Raises FileExistsError, OSError and JournalLost."""
    folder = state / ROOM / run_id
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(mode=0o700)
    Journal(folder).write(
        "begun",
        campaign=campaign.pin,
        service=campaign.service,
        root=str(root),
    )
    return Begun(folder)


def hold(begun: Begun) -> int:
    """Be its only controller, until this process ends however it ends. Raises Watched and OSError."""
    handle = os.open(begun.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Watched(f"{begun.run_id} is run by another process already") from None
    return handle


def standings(state: Path, run_id: str, cells: Mapping[str, Any]) -> Iterator[Standing]:
    """How every cell stands, in the order of the campaign."""
    return (standing(state, run_id, cell) for cell in cells)


def standing(state: Path, run_id: str, cell: str) -> Standing:
    """How one cell stands, by its job."""
    name = cell_run_name(run_id, cell)
    job = jobs.find(state, name)
    if job is None:
        return Standing(cell, name, "to-run")
    if job.state != "closed":
        return Standing(cell, name, job.state)
    closed = job.current("closed") or {}
    outcome, why = str(closed.get("outcome", "failed")), str(closed.get("why") or "")
    if job.is_unrecorded:
        said = (job.last("not-recorded") or {}).get("why", "nothing is known")
        return Standing(cell, name, "unrecorded", f"its run is not in the repository: {said}")
    if outcome != "completed" and _may_go_on(job):
        return Standing(cell, name, "resumable", f"{outcome}: {why}")
    return Standing(cell, name, outcome, "" if outcome == "completed" else why)


def _may_go_on(job: Job) -> bool:
    try:
        return recovery.why_not_resumable(job, closing.real_parts()) is None
    except Unreadable:
        return False


def record_of(begun: Begun, campaign: Item, repo: Repo, state: Path, now: str) -> tuple[str, bytes]:
    """(file, content) of the record: every cell with the run that it came to. Of a cell that nobody ran, why."""
    service = campaign.service or ""
    file = f"manifests/services/{service}/campaign-runs/{begun.run_id}.yaml"
    cells = {
        each.cell: Row(_cell(begun, each, repo, service))
        for each in standings(state, begun.run_id, campaign.model.cells)
    }
    data = {
        "hio": "campaign-run/v1",
        "name": begun.run_id,
        "service": service,
        "campaign": begun.data["campaign"],
        "at": begun.at,
        "ended": now,
        **({"resumed": begun.resumed} if begun.resumed else {}),
        "cells": cells,
        "judged_by": Row({"hio": __version__, "rules": NEWEST}),
    }
    return file, dump(data, head=modeline("campaign-run", file))


def _cell(begun: Begun, each: Standing, repo: Repo, service: str) -> dict[str, Any]:
    run = repo.find("run/v1", each.run, service)
    pin = run.pin if run is not None and run.model is not None else None
    if run is not None and run.model is not None:
        outcome, why = run.model.outcome or "failed", run.model.why
    elif refusal := begun.refused(each.cell):
        outcome, why = "refused", refusal
    elif each.state == "to-run":
        outcome, why = "not-run", None
    else:
        ended = each.state if each.state in ("aborted", "failed", "stopped") else "failed"
        outcome, why = ended, each.why or f"its job is {each.state}"
    said = {"outcome": outcome, "run": pin, "why": why if outcome != "completed" else None}
    return {key: value for key, value in said.items() if value}
