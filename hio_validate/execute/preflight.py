"""What is known before a trial starts (contract 4.9), and what keeps it from starting on this host at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hio_validate.execute import jobs, lock
from hio_validate.execute.deploy import deployments
from hio_validate.execute.journal import now
from hio_validate.execute.live import serving_on
from hio_validate.execute.work import Work
from hio_validate.models.plan import Plan
from hio_validate.models.run import Run
from hio_validate.observe.readings import HostReadings
from hio_validate.observe.sockets import listening
from hio_validate.repo import Repo

_LAST_RUNS = 3


def refused(state: Path) -> str | None:
    """Why no trial and no deployment may start on this host now, in one sentence; None where one may."""
    unsafe = jobs.unsafe_jobs(state)
    if unsafe:
        return (
            f"this host is unsafe since {unsafe[0].name}, of which nobody proved that everything is back: "
            f"hio runs --recover {unsafe[0].name} comes first"
        )
    open_ = deployments.unsafe(state)
    if open_:
        return (
            f"this host is unsafe since {open_[0].name}, of which nobody proved what serves now: "
            f"hio deploy --recover {open_[0].name} comes first"
        )
    return lock.TAKEN if lock.is_taken() else None


def occupied(work: Work) -> str | None:
    """Why the trial's port cannot be used: somebody listens there whom the plan does not stop. One sentence."""
    if work.method != "http" or work.during == "stop" or not listening(work.port):
        return None
    return (
        f"{serving_on(work.port)}: let the plan stop and restore it (serving: {{during: stop, restore: STACK}}), "
        "give the plan a port of its own (port:), or end it yourself"
    )


def held(plan: Plan, port: int | None, own: int | None) -> list[str]:
    """What listens on this host now against what a plan says of it, a sentence each; `own`: the port of its service."""
    if plan.method != "http" or plan.serving.during == "stop":
        return []
    said = []
    if port is not None and listening(port):
        said.append(
            f"the trial's port is taken on this host now: {serving_on(port)}; hio run refuses to start"
        )
    if plan.serving.during == "none" and own is not None and own != port and listening(own):
        said.append(
            f"serving: none says that nothing serves here, and on the service's port {serving_on(own)}; "
            "write during: stop, or leave where it may keep serving"
        )
    return said


def preflight(state: Path, repo: Repo, service: str) -> dict[str, Any]:
    """Other trials, the last runs of the service with their failures, jobs that are open, the host: as run/v1 keeps it."""
    known = jobs.all_jobs(state)
    reading = HostReadings(device=True).read(())
    host = {
        "memory-available": reading.available,
        "device-memory-used": reading.device_memory,
        "temperature-c": reading.temperature_c,
        "load-1": float(Path("/proc/loadavg").read_text().split()[0]),
    }
    return {
        "at": now(),
        "active": [job.name for job in known if job.state == "running"],
        "last": _last_runs(repo, service),
        "pending": [f"{job.name}: {job.state}" for job in known if job.state in ("unsafe", "prepared")],
        "host": {name: value for name, value in host.items() if value is not None},
    }


def _last_runs(repo: Repo, service: str) -> list[str]:
    found = [item.model for item in repo.of("run/v1") if item.service == service and item.model is not None]
    newest = sorted((run for run in found if run.at), key=lambda run: run.at or "", reverse=True)
    return [_told(run) for run in newest[:_LAST_RUNS]]


def _told(run: Run) -> str:
    invalid = [f"leg {leg.leg} does not count: {leg.invalid[0]}" for leg in run.legs if leg.invalid]
    said = [run.outcome or "outcome not recorded", *([run.why] if run.why else []), *invalid]
    return f"{run.name}: {'; '.join(said)}"
