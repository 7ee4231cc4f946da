"""Jobs as text and as JSON (version 1, which only gains optional fields): what happens, what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.execute.jobs import LEG_ENDED, Job
from hio_validate.execute.journal import Event
from hio_validate.execute.work import Ceilings
from hio_validate.quantity import counted
from hio_validate.report.json_ import dump
from hio_validate.report.table import table
from hio_validate.report.visible import visible

_QUIET = frozenset({"process", "programs", "guarded", "started", "prepared"})


def progress(event: Event, legs: int, limits: Ceilings) -> str | None:
    """One calm line about something that happened; None for what nobody waits for."""
    data = event.data
    match event.event:
        case "service-stopping":
            said = "stopping the service"
        case "service-stopped":
            said = f"{data['service']} is stopped"
        case "leg-started":
            left = legs - data["place"] + 1
            said = f"leg {data['place']} of {legs}, {data['arm']}; at most {min(left * limits.leg_s, limits.total_s):g} s left"
        case "leg-ended":
            said = f"leg {data['place']} of {legs} {_leg_end(data)}"
        case "ended":
            said = _end(data)
        case "restoring":
            said = f"the service is started again (process {data['who']['pid']})"
        case "restored":
            said = f"the service serves again, proven by {counted(len(data['checks']), 'check')}"
        case "not-restored":
            said = f"the service is NOT proven to serve again: {_failed(data)}"
        case "recorded":
            said = f"recorded in {data['run']}" if data["run"] else "nothing was recorded"
        case "not-recorded":
            said = f"NOT recorded: {data['why']}; put that right, then hio runs --recover JOB records it"
        case "closed":
            said = "closed"
        case "supervisor-lost":
            said = f"{data['why']}; its guardian brings the host back"
        case "left":
            said = f"NOT cleaned up: {data['why']}"
        case other:
            said = "" if other in _QUIET else other.replace("-", " ")
    return f"{event.at[11:19]}  {visible(said)}\n" if said else None


def _leg_end(data: dict[str, Any]) -> str:
    record = data.get("record")
    if record is None:
        return f"was given up: {data.get('why', 'unknown')}"
    invalid = record.get("invalid", [])
    return f"does not count: {'; '.join(invalid)}" if invalid else f"is measured{_tasks(record)}"


def _tasks(record: dict[str, Any]) -> str:
    found = record.get("quality")
    if not found:
        return ""
    failed = f", {found['unanswered']} not answered" if found["unanswered"] else ""
    return f"; {found['right']} of {found['items']} items right{failed}"


def _end(data: dict[str, Any]) -> str:
    return "all legs ran" if data["outcome"] == "completed" else f"{data['outcome']}: {data['why']}"


def _failed(data: dict[str, Any]) -> str:
    wrong = {name: each for name, each in data.get("checks", {}).items() if each != "passed"}
    return "; ".join(f"{name}: {each}" for name, each in wrong.items()) or str(data.get("why", "unknown"))


def job_list(jobs: Sequence[Job], width: int) -> str:
    """All jobs, those that left the host unsafe first, then the newest first."""
    if not jobs:
        return "no job has run on this host\n"
    ordered = sorted(jobs, key=_began, reverse=True)
    ordered.sort(key=lambda job: job.state != "unsafe")
    rows = [
        (job.name, _began(job)[:16].replace("T", " "), job.state, _legs(job), _why(job)) for job in ordered
    ]
    text = table(rows, width, ("job", "began (UTC)", "state", "legs", "how it ended"), whole=True)
    unsafe = [job for job in ordered if job.state == "unsafe"]
    return text + "".join(f"{unsafe_sentence(job)}\n" for job in unsafe)


def unsafe_sentence(job: Job) -> str:
    """What an unsafe job means and what to do."""
    return visible(
        f"this host is unsafe: {job.name} ended without proof that everything is back; "
        f"hio runs --recover {job.name} ends what is left, restores and proves it; until then hio run refuses"
    )


def one_job(job: Job) -> str:
    """Everything that happened to a job, a line each."""
    lines = [
        f"{visible(job.name)}: {job.state}, {_legs(job)}{', ' if _why(job) else ''}{visible(_why(job))}\n"
    ]
    lines += [
        line for event in job.events if (line := progress(event, len(job.work.order), job.work.ceilings))
    ]
    lines.append(f"files: {visible(str(job.folder))}\n")
    return "".join(lines) + (f"{unsafe_sentence(job)}\n" if job.state == "unsafe" else "")


def as_json(jobs: Sequence[Job], exit_code: int) -> str:
    """Version 1: a list of jobs, each with its state, legs and end."""
    return dump({"version": 1, "jobs": [_shape(job) for job in jobs], "exit_code": exit_code})


def _shape(job: Job) -> dict[str, Any]:
    ended = job.current("ended") or {}
    recorded, restored = job.last("recorded") or {}, job.last("restored") or job.last("not-restored")
    prepared = job.last("prepared") or {}
    return {
        "job": job.name,
        "state": job.state,
        "began": _began(job) or None,
        "plan": prepared.get("plan"),
        "legs": {"planned": _planned(job), "ran": len(job.legs), "valid": sum(not each["record"].get("invalid") for each in job.legs)},
        "outcome": ended.get("outcome"),
        "why": ended.get("why"),
        "resumable": ended.get("resumable"),
        "restored": restored,
        "run": recorded.get("run"),
        "folder": str(job.folder),
        "events": [{"at": each.at, "event": each.event, **each.data} for each in job.events if each.event != LEG_ENDED],
    }  # fmt: skip


def _began(job: Job) -> str:
    return job.events[0].at if job.events else ""


def _planned(job: Job) -> int:
    return len(job.work.order) if job.is_readable else 0


def _legs(job: Job) -> str:
    return f"{len(job.legs)} of {_planned(job)}"


def _why(job: Job) -> str:
    ended = job.current("ended")
    if ended is not None:
        return _end(ended)
    return {"prepared": "it never began", "unsafe": "guardian and supervisor died"}.get(job.state, "")
