"""hio run: show what a plan will do to this host, then do it under guard."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hio_validate.cli.following import follow
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.execute import closing, jobs, launch, lock, preflight, recovery
from hio_validate.execute.journal import JournalLost, now
from hio_validate.execute.journaled import Unreadable
from hio_validate.execute.prepare import prepare
from hio_validate.execute.work import Work
from hio_validate.repo import Item, Repo
from hio_validate.report import trial
from hio_validate.report.refusals import refusals
from hio_validate.rules.base import View


@click.command()
@click.argument("plan", required=False)
@click.option(
    "--service", metavar="SITE/NAME", help="Whose plan, where several services have one of that name."
)
@click.option("--name", "job", help="Name of the job and its run (default: the day and the plan's).")
@click.option("--resume", metavar="JOB", help="Go on with an interrupted job; watch one that runs.")
@click.option("--yes", is_flag=True, help="Start it; without it only the page is shown.")
@click.option("--detach", is_flag=True, help="Return at once; hio runs JOB --follow watches it.")
@repo_option
@format_option
def run(
    plan: str | None, service: str | None, job: str | None, resume: str | None, yes: bool, detach: bool,
    repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Run PLAN on this host: every leg in a process of its own, ended by its limits, the service brought back.

    The trial belongs to a guardian, not to this command: a lost terminal changes nothing. Exit codes: 0 all
    legs ran; 1 refused, aborted or failed; 3 nothing was measured.
    """
    if (plan is None) == (resume is None):
        stop("say which PLAN to run, or which job to --resume", 2)
    state = jobs.state_folder()
    if resume is not None:
        _resume(state, resume, yes, detach, format_)
        return
    root, found = load_repo(repo)
    item = named(found, "plan/v1", plan or "", service)
    work = _work(found, item, root, job or jobs.name_for(item, found, state), format_)
    before = preflight.preflight(state, found, work.service)
    _page(work, item.model.question, item.model.serving.then, before, yes, format_)
    _refuse(state, work)
    if not yes:
        _nothing_yet(format_)
        return
    taken = _lock()
    try:
        created = jobs.create(state, work, before)
    except FileExistsError:
        stop(f"a job is called {work.job} already; give another --name", 2)
    except (OSError, JournalLost) as error:
        stop(f"the job cannot be written down in {state}: {error}")
    _start(created, taken, detach, format_)


def prepared(found: Repo, item: Item, root: Path, job: str) -> Work | list[str]:
    """The work of a plan, or every reason against it."""
    return prepare(View(found), item, root, job, now())


def _work(found: Repo, item: Item, root: Path, job: str, format_: str) -> Work:
    made = prepared(found, item, root, job)
    if isinstance(made, Work):
        return made
    if format_ == "json":
        show(as_json({"version": 1, "job": job, "refused": made, "exit_code": 1}))
    else:
        show(refusals(made, width()))
    sys.exit(1)


def _page(work: Work, question: str, then: str, before: Mapping[str, Any], yes: bool, format_: str) -> None:
    if format_ == "text":
        show(trial.as_text(work, question, then, before, width()))
    elif not yes:
        show(as_json({**trial.as_shape(work, question, then, before), "refused": [], "exit_code": 0}))


def _nothing_yet(format_: str) -> None:
    if format_ == "text":
        show("nothing has happened yet; add --yes to start it\n")


def _refuse(state: Path, work: Work) -> None:
    reason = preflight.refused(state) or preflight.occupied(work)
    if reason:
        stop(reason, 1)


def _lock() -> lock.Lock:
    try:
        return lock.take()
    except lock.Taken as error:
        stop(str(error), 1)


def _resume(state: Path, name: str, yes: bool, detach: bool, format_: str) -> None:
    job = jobs.find(state, name)
    if job is None:
        stop(f"no job is called {name}; hio runs lists them", 2)
    if job.state == "running":
        click.echo(f"{name} runs already; it is watched, not started twice", err=True)
        sys.exit(follow(job, format_))
    try:
        why_not = recovery.why_not_resumable(job, closing.real_parts())
        work, places = job.work, list(jobs.places_left(job))
    except Unreadable as error:
        stop(str(error))
    if why_not:
        stop(f"{name} does not go on: {why_not}", 1)
    left = replace(work, order=tuple(work.order[place - 1] for place in places))
    before = json.loads((job.folder / jobs.PREFLIGHT).read_text())
    _page(left, "It goes on with the legs that are left.", "restore-parent", before, yes, format_)
    _refuse(state, work)
    if not yes:
        _nothing_yet(format_)
        return
    taken, seen = _lock(), len(job.events)
    try:
        recovery.resume(job)
    except JournalLost as error:
        stop(str(error))
    _start(jobs.Job(job.folder), taken, detach, format_, seen)


def _start(job: jobs.Job, taken: lock.Lock, detach: bool, format_: str, seen: int = 0) -> None:
    try:
        guardian = launch.start(job.folder, taken)
    except OSError as error:
        stop(f"the guardian cannot be started: {error.strerror}")
    taken.close()
    if detach:
        click.echo(f"{job.name} runs; hio runs {job.name} --follow watches it, hio stop {job.name} ends it")
        guardian.leave()
        return
    sys.exit(follow(job, format_, guardian, seen))
