"""Taking a job up again: recovering a host that nobody brought back, and resuming what was interrupted.

Invariant: nothing is proven by assumption. A recovery ends what is left by identity, restores, checks, and only then
closes the job; a job is resumed only as exactly the same work, documents and programs on the same boot (contract 4.5, 4.8).
"""

from __future__ import annotations

from hio_validate.execute import closing, jobs, owned, programs
from hio_validate.execute.closing import Parts
from hio_validate.execute.jobs import Job
from hio_validate.execute.journal import Journal, JournalLost, now
from hio_validate.execute.journaled import Unreadable
from hio_validate.moment import moment
from hio_validate.observe.refusal import Unobservable


class CannotRecover(Exception):
    """The host stays unsafe; one sentence with what to do."""


def recover(job: Job, parts: Parts) -> None:
    """End what is left of an unsafe job, bring the service back, prove it, record and close. Raises CannotRecover.

    Whoever calls holds the lock of this host.
    """
    try:
        _ = job.work
    except Unreadable as error:
        raise CannotRecover(f"{error}; nothing says what has to be restored") from None
    ledger = Journal(job.folder)
    try:
        ledger.write("recovering")
    except JournalLost as lost:
        raise CannotRecover(f"{lost}; make room in {job.folder} and recover again") from None
    if not closing.end_what_is_left(job, below_us=False):
        raise CannotRecover(
            f"processes of {job.name} cannot be ended; {job.folder / 'journal.jsonl'} names them"
        )
    ended = closing.how_it_ended(job, "guardian and supervisor died")
    if not closing.conclude(job.folder, parts, *ended):
        raise CannotRecover(_why_open(Job(job.folder)))


def record_again(job: Job, parts: Parts) -> None:
    """Write the run of a closed job that could not be recorded when it ended. Raises CannotRecover.

    Whoever calls holds the lock of this host.
    """
    closing.record(job.folder, parts, Journal(job.folder))
    now_ = Job(job.folder)
    if now_.is_unrecorded:
        said = now_.last("not-recorded") or {}
        raise CannotRecover(f"its run is not in the repository: {said.get('why', 'nothing is known')}")


def why_not_resumable(job: Job, parts: Parts) -> str | None:
    """Why a job may not go on; None where it may. One sentence. Raises Unreadable."""
    if job.state == "unsafe":
        return f"it left this host unsafe; hio runs --recover {job.name} comes first"
    closed = job.current("closed")
    if closed is not None and closed["outcome"] == "completed":
        return "all its legs ran"
    if closed is not None and not closed["resumable"]:
        return f"it was not interrupted but {closed['outcome']}: {closed['why']}; that needs another plan"
    prepared = job.last("prepared")
    if prepared is None or not job.work_is_as_prepared:
        return "its work has other bytes than those it was started with"
    if prepared["boot"] != owned.boot_id():
        return "this host was started anew since, so its legs could not be compared"
    if not list(jobs.places_left(job)):
        return "all its legs ran"
    return _changed(job) or parts.changed(job.work)


def resume(job: Job) -> None:
    """Note that the job goes on. Raises JournalLost."""
    Journal(job.folder).write("resumed", left=list(jobs.places_left(job)))


def _changed(job: Job) -> str | None:
    for each in job.work.approvals:
        if moment(each.until) <= moment(now()):
            return f"the approval {each.entry.partition('@')[0]} ({each.approves}) expired at {each.until}"
    used = job.last("programs")
    if used is None:
        return None  # it ended before it looked at any
    try:
        replaced = programs.replaced(used["sha256"], programs.digests(job.work))
    except Unobservable as error:
        return error.reason
    return f"a program is not what it was: {replaced}" if replaced else None


def _why_open(job: Job) -> str:
    found = job.current("not-restored")
    if found is None:
        return f"{job.name} cannot be closed; its journal in {job.folder} says how far it came"
    wrong = {name: each for name, each in found.get("checks", {}).items() if each != "passed"}
    said = "; ".join(f"{name}: {each}" for name, each in wrong.items()) or found.get(
        "why", "nothing is known"
    )
    return f"the service of {job.name} is not proven to serve as before ({said}); put that right, then recover again"
