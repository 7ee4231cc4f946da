"""Follows the journal of a job until it ends; leaving changes nothing of what runs."""

from __future__ import annotations

import sys
import time

import click

from hio_validate.cli.shared import show, stop
from hio_validate.execute import launch, owned
from hio_validate.execute.jobs import Job
from hio_validate.execute.journaled import Unreadable
from hio_validate.report.jobs import as_json, progress, unsafe_sentence

_LOOK_S = 0.2


def follow(job: Job, format_: str, guardian: launch.Guardian | None = None, seen: int = 0) -> int:
    """Tell what happens from event number `seen` on, until the job is closed or left open; the exit code.

    `format_`: text, json, or none where whoever calls tells the end itself.
    """
    try:
        return _follow(job, format_, guardian, seen)
    except KeyboardInterrupt:
        click.echo(
            f"\nno longer watching; {job.name} goes on. hio runs {job.name} --follow watches it again, "
            f"hio stop {job.name} ends it",
            err=True,
        )
        sys.exit(130)
    except Unreadable as error:
        stop(str(error))


def _follow(job: Job, format_: str, guardian: launch.Guardian | None, seen: int) -> int:
    while True:
        gone = guardian is not None and guardian.has_ended
        job = Job(job.folder)
        for event in job.events[seen:]:
            line = progress(event, len(job.work.order), job.work.ceilings)
            if line and format_ == "text":
                show(line)
        seen = len(job.events)
        alive = any(owned.is_alive(who) for who in job.keepers.values())
        if not alive and (job.keepers or gone or guardian is None):
            return _told(job, format_)
        time.sleep(_LOOK_S)


def _told(job: Job, format_: str) -> int:
    code = exit_code(job)
    if format_ == "json":
        show(as_json([job], code))
    elif job.state == "unsafe":
        click.echo(unsafe_sentence(job), err=True)
    elif job.state == "prepared":
        log = job.folder / launch.LOG
        click.echo(f"hio: {job.name} did not begin; {log} says why", err=True)
    return code


def exit_code(job: Job) -> int:
    """0: all legs ran and are recorded; 3: no leg counts; 1: ended otherwise, left open, or not recorded."""
    closed = job.current("closed")
    if not any(not leg["record"].get("invalid") for leg in job.legs):
        return 3
    if job.is_unrecorded:
        return 1
    return 0 if closed is not None and closed["outcome"] == "completed" else 1
