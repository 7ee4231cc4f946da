"""How a job ends, whoever ends it: the service is brought back and proven, what there is is recorded, the job is closed.

Supervisor, guardian and recovery come here, each after it has ended all processes of the trial. Invariant: a job is
closed only if its restoration is proven and every line of its journal since could be written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hio_validate.execute import cgroup, owned, service
from hio_validate.execute.jobs import Job, places_left
from hio_validate.execute.journal import Journal, JournalLost
from hio_validate.execute.proof import Before, Restoration
from hio_validate.execute.watch import Watch
from hio_validate.execute.work import Work
from hio_validate.models.capture import CapturedProcess

BEFORE = "before.json"
RESTORED = "restored.json"


class RunLeg(Protocol):
    """One leg, from start to end; what it gives is kept in the journal, and is JSON."""

    def __call__(self, work: Work, place: int, number: int, watch: Watch, folder: Path) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Parts:
    """What measures and what writes the run: the tests of the execution bring their own."""

    leg: RunLeg
    record: Callable[[Path], Path | None]
    """Writes the run's folder from the job's folder and gives its place; None where there is nothing to write."""
    changed: Callable[[Work], str | None]
    """Why the documents that the work was prepared from hold no longer, in words."""


def real_parts() -> Parts:
    """The legs and the record of hio itself."""
    # Only where a trial runs or is closed: they read whole repositories.
    from hio_validate.execute import leg, pinned, record

    return Parts(leg.run, record.write, pinned.changed)


def conclude(folder: Path, parts: Parts, outcome: str, why: str, resumable: bool = False) -> bool:
    """Restore, record and close; whether the job is closed. Never raises: what fails leaves the job open."""
    ledger = Journal(folder)
    _noted(ledger, "ended", outcome=outcome, why=why, resumable=resumable)
    restored = _restored(Job(folder), ledger)
    group = _group(Job(folder))
    if group is not None and not group.remove():
        _noted(ledger, "left", why=f"{group.folder} cannot be removed")
        return False
    if not restored:
        return False
    record(folder, parts, ledger)
    if ledger.lost is not None:
        return False
    return _noted(ledger, "closed", outcome=outcome, why=why, resumable=resumable)


def how_it_ended(job: Job, why: str) -> tuple[str, str, bool]:
    """Outcome, reason and whether it may go on, of a job whose supervisor died; `why` is the reason if none is on record.

    A death after the last leg takes nothing from the legs: all of them ran.
    """
    ended = job.current("ended")
    if ended is not None:
        return ended["outcome"], ended["why"], ended["resumable"]
    if next(places_left(job), None) is None:
        return "completed", "all legs ran", False
    return "aborted", why, True


def end_what_is_left(job: Job, *, below_us: bool) -> bool:
    """End all that belongs to a job: journaled, in its group, marked with its name, and what runs below us if that is
    the job's alone; whether nothing stays. The service that a restoration began is none of it."""
    group, restoring = _group(job), begun_restoration(job)
    spared = {restoring, *owned.alive_below(restoring.pid)} if restoring else set()
    known = set(job.started_processes)

    def left() -> set[owned.Identity]:
        found = {who for who in known if owned.is_alive(who)} | owned.carriers(job.mark)
        found |= owned.alive_below(os.getpid()) if below_us else set()
        return (found | (group.members() if group else set())) - spared

    return not owned.end(left, term_s=2.0, reaping=below_us)


def keep_before(folder: Path, before: Before) -> None:
    """Keep what served, before it is stopped. Raises OSError."""
    data = {
        "who": before.who.as_data(),
        "process": before.process.model_dump(by_alias=True),
        "kept": before.kept,
    }
    _write(folder / BEFORE, data)


def kept_before(folder: Path) -> Before:
    """What `keep_before` kept. Raises OSError, ValueError, KeyError."""
    data = json.loads((folder / BEFORE).read_text())
    process = CapturedProcess.model_validate(data["process"])
    return Before(owned.identity_from(data["who"]), process, data.get("kept", False))


def begun_restoration(job: Job) -> owned.Identity | None:
    """The process that a restoration of this job started, and that is therefore none of the trial."""
    data = job.current("restoring")
    return owned.identity_from(data["who"]) if data else None


def _group(job: Job) -> cgroup.Group | None:
    """The control group that the supervisor made; it depends on where that ran, so only the journal knows it."""
    started = job.current("started")
    return cgroup.Group(Path(started["cgroup"])) if started and started["cgroup"] else None


def _restored(job: Job, ledger: Journal) -> bool:
    """Whether nothing had to be brought back, or it is back and proven."""
    stopping = job.current("service-stopping")
    if stopping is None:
        return True
    try:
        restoration = _bring_back(job, ledger, int(stopping["ticks"]))
    except Exception as error:  # a restoration that fails in any way leaves the host unsafe, and says so
        _noted(ledger, "not-restored", why=f"{type(error).__name__}: {error}")
        return False
    try:
        _write(job.folder / RESTORED, restoration.as_data())
    except OSError as error:
        ledger.lost = ledger.lost or f"what was restored cannot be kept: {error.strerror}"
    event = "restored" if restoration.proven else "not-restored"
    _noted(ledger, event, checks=restoration.checks, proven=restoration.proven)
    return restoration.proven


def _bring_back(job: Job, ledger: Journal, stopped_ticks: int) -> Restoration:
    serving = job.work.serving
    if serving is None:
        raise ValueError("the job does not say what served")
    state = job.folder.parent.parent

    def announce(who: owned.Identity) -> None:
        _noted(ledger, "restoring", who=who.as_data())

    return service.restore(
        service.with_secrets(serving, job.work.secrets),
        kept_before(job.folder),
        state / "services" / f"{serving.name}.log",
        job.work.ceilings.start_s,
        stopped_ticks=stopped_ticks,
        begun=begun_restoration(job),
        announce=announce,
        backend=service.keeper_of(serving, state),
    )


def record(folder: Path, parts: Parts, ledger: Journal) -> None:
    """Write the run of a job into its repository, and note whether that was possible. Never raises."""
    try:
        run = parts.record(folder)
        _noted(ledger, "recorded", run=str(run) if run else None)
    except (
        Exception
    ) as error:  # what was measured stays in the job's folder, and the host is not unsafe for it
        _noted(ledger, "not-recorded", why=f"{type(error).__name__}: {error}")


def _noted(ledger: Journal, event: str, **data: Any) -> bool:
    """Write an event; False where the journal is lost, which keeps the job open."""
    with suppress(JournalLost):
        ledger.write(event, **data)
        return True
    return False


def _write(path: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=1) + "\n"
    part = path.with_suffix(".part")
    part.write_text(text)
    os.replace(part, path)
