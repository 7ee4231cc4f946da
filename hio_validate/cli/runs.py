"""hio runs: what ran on this host, what runs, what left it unsafe; and its recovery."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.following import follow
from hio_validate.cli.shared import format_option, show, stop, width
from hio_validate.execute import closing, jobs, lock, recovery
from hio_validate.execute.jobs import Job
from hio_validate.execute.journaled import Unreadable
from hio_validate.report.jobs import as_json, job_list, one_job


@click.command()
@click.argument("job", required=False)
@click.option("--follow", "follows", is_flag=True, help="Tell what happens until it ends.")
@click.option(
    "--recover",
    is_flag=True,
    help="End what is left of an unsafe job, restore, prove, close it; record one that was not.",
)
@format_option
def runs(job: str | None, follows: bool, recover: bool, format_: str) -> None:
    """List the jobs of this host, or tell everything about JOB.

    Exit codes: 0 nothing is open; 1 a job left this host unsafe, or JOB was aborted or failed while followed.
    """
    if follows and recover:
        stop("--follow watches a job that runs, --recover closes one that is dead; give one of them", 2)
    state = jobs.state_folder()
    if recover:
        _recover(state, job)
    if follows:
        sys.exit(follow(_followed(state, job), format_))
    chosen = [_named(state, job)] if job else jobs.all_jobs(state)
    code = 1 if any(each.state == "unsafe" for each in chosen) else 0
    if format_ == "json":
        show(as_json(chosen, code))
    else:
        show(_told(chosen[0]) if job else job_list(chosen, width()))
    sys.exit(code)


def _told(job: Job) -> str:
    try:
        return one_job(job)
    except Unreadable as error:
        stop(str(error))


def _named(state: Path, name: str) -> Job:
    return jobs.find(state, name) or stop(f"no job is called {name}; hio runs lists them", 2)


def _followed(state: Path, name: str | None) -> Job:
    if name:
        return _named(state, name)
    running = [each for each in jobs.all_jobs(state) if each.state == "running"]
    return running[0] if running else stop("no job runs on this host", 2)


def _recover(state: Path, name: str | None) -> None:
    """Recover one job, or all that left the host unsafe; then the list tells how it stands."""
    unsafe = [_named(state, name)] if name else jobs.unsafe_jobs(state)
    for each in unsafe:
        if each.state != "unsafe" and not (each.is_closed and each.is_unrecorded):
            stop(f"{each.name} needs no recovery: it is {each.state}", 1)
    if not unsafe:
        click.echo("no job left this host unsafe", err=True)
        return
    try:
        taken = lock.take()
    except lock.Taken as error:
        stop(str(error), 1)
    with taken:
        for each in unsafe:
            again = recovery.record_again if each.is_closed else recovery.recover
            try:
                again(each, closing.real_parts())
            except recovery.CannotRecover as error:
                stop(f"{each.name} is not recovered: {error}", 1)
            click.echo(f"{each.name} is {'recorded' if each.is_closed else 'recovered and closed'}", err=True)
