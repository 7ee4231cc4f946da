"""hio deploy: show what a stack will change on this host, then switch to it and prove it, or take it back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from hio_validate import writing
from hio_validate.cli import switching
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, user, width
from hio_validate.execute import jobs, lock
from hio_validate.execute.deploy import deployments, found, parts, preparing
from hio_validate.execute.deploy.installing import content_at
from hio_validate.execute.deploy.preparing import Prepared
from hio_validate.execute.deploy.recovering import CannotRecover, recover
from hio_validate.execute.deploy.work import Work, as_text, contents_of, from_text
from hio_validate.execute.journal import now
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Repo, name_of
from hio_validate.report import deployment as told
from hio_validate.report.refusals import refusals
from hio_validate.rules.base import View
from hio_validate.settings.difference import Difference
from hio_validate.subjects import NoSubject, Surroundings, subject


@click.command()
@click.argument("stack", required=False)
@click.option(
    "--service", metavar="SITE/NAME", help="As which service, where several have a stack of that name."
)
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path), help="Keep the plan for a reviewer; do nothing."
)
@click.option(
    "--plan", metavar="FILE", type=click.Path(path_type=Path), help="Carry exactly this plan out, once."
)
@click.option("--yes", is_flag=True, help="Do it; without it only the page is shown.")
@click.option("--overwrite", is_flag=True, help="Replace files that hio did not write; they are kept.")
@click.option("--detach", is_flag=True, help="Return at once; hio deploy --list says how it ends.")
@click.option(
    "--recover",
    "recovers",
    is_flag=True,
    help="Finish or take back what nobody brought to its end (all, or one: its name as STACK).",
)
@click.option("--list", "lists", is_flag=True, help="List the deployments of this host.")
@repo_option
@format_option
def deploy(
    stack: str | None, service: str | None, out: Path | None, plan: Path | None, yes: bool, overwrite: bool,
    detach: bool, recovers: bool, lists: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Show what STACK will change on this host against what runs now; with --yes switch to it, prove it, record it.

    When any proof fails it is taken back, which is proven and recorded, too. It belongs to a guardian, not to this
    command. Exit codes: 0 shown or deployed; 1 refused, taken back or left open.
    """
    state = jobs.state_folder()
    if lists:
        known = deployments.all_deployments(state)
        show(as_json(told.listed_shape(known)) if format_ == "json" else told.listed(known, width()))
        return
    if recovers:
        _recover(state, stack, format_)
        return
    if (stack is None) == (plan is None):
        stop("say which STACK to deploy, or which --plan to carry out", 2)
    root, repository = load_repo(repo)
    if plan is not None:
        work, reasons = _planned(repository, root, state, plan, overwrite)
    else:
        work, reasons = _prepared(repository, root, state, stack or "", service, overwrite)
    _page(repository, work, reasons, yes, format_)
    if reasons:
        sys.exit(1)
    if out is not None:
        _keep(out, work)
        return
    if yes:
        switching.begin(state, work, detach, format_)
    elif format_ == "text":
        show("nothing has happened yet; add --yes to do it\n")


def _prepared(
    repository: Repo, root: Path, state: Path, stack: str, service: str | None, overwrite: bool
) -> tuple[Work, Sequence[str]]:
    item = named(repository, "stack/v1", stack, service)
    view, whose = View(repository), service or item.service or ""
    made = preparing.prepare(view, item, whose, root, state, now(), user(), parts.known_good)
    work = _or_refused(made)
    work = replace(work, overwrite=overwrite)
    return work, [*made.reasons, *preparing.unsaid(work)]


def _planned(
    repository: Repo, root: Path, state: Path, plan: Path, overwrite: bool
) -> tuple[Work, Sequence[str]]:
    """The work of a plan that somebody kept, and why it may not be carried out: elsewhere, twice, or too late."""
    try:
        work = from_text(plan.read_text())
        contents_of(work)
    except OSError as error:
        stop(f"{plan} cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError) as error:
        stop(f"{plan} is no plan of hio deploy: {error}", 1)
    work = replace(work, overwrite=work.overwrite or overwrite)
    if work.found.host != found.machine():
        stop(f"{plan} was made on another host: it is carried out there, or made again here", 1)
    used = deployments.carried_out(state, switching.digest_of(work)) or deployments.find(state, work.name)
    if used is not None:
        stop(f"{plan} was carried out already, as {used.name}: a plan is used once; make it again", 1)
    item = named(repository, "stack/v1", name_of(work.to.stack or ""), work.service)
    again = preparing.prepare(
        View(repository), item, work.service, root, state, now(), work.by, parts.known_good, work.name
    )
    return work, preparing.why_not(work, again)


def _or_refused(made: Prepared) -> Work:
    if made.work is None:
        stop("; ".join(made.reasons), 1)
    return made.work


def _page(repository: Repo, work: Work, reasons: Sequence[str], yes: bool, format_: str) -> None:
    difference, notes = _difference(repository, work)
    if format_ == "json":
        if reasons or not yes:
            show(as_json({**told.as_shape(work, reasons, difference), "exit_code": 1 if reasons else 0}))
        return
    contents = contents_of(work)
    there = {each.path: content_at(each.path) for each in work.files}
    new = {each.path: contents.get(each.after or "") for each in work.files}
    show(told.page(work, switching.serving(work), difference, notes, there, new, width()))
    show(("\n" if reasons else "") + refusals(reasons, width()))


def _difference(repository: Repo, work: Work) -> tuple[Difference | None, list[str]]:
    """The settings of the stack that serves, as its command was found to be, beside those of the new one."""
    if work.away.stack is None:
        return None, []
    view = View(repository)
    around = Surroundings(repository, view.settings, work.service)
    try:
        old, new = (subject(name_of(side.stack or ""), around) for side in (work.away, work.to))
    except (NoSubject, Unobservable) as error:
        return None, [f"what serves now cannot be compared: {error}"]
    notes = [f"{side.label}: {note}" for side in (old, new) for note in side.notes]
    return view.settings.difference(old.effective, new.effective), list(dict.fromkeys(notes))


def _keep(out: Path, work: Work) -> None:
    try:
        writing.create(out, as_text(work).encode())
    except FileExistsError:
        stop(f"{out} is there already; name another file", 2)
    except OSError as error:
        stop(f"{out} cannot be written: {error.strerror}")
    click.echo(
        f"the plan is kept in {out}; hio deploy --plan {out} --yes carries exactly that out, once", err=True
    )


def _recover(state: Path, name: str | None, format_: str) -> None:
    """Recover one deployment, or all that left this host unsafe."""
    chosen = [_named(state, name)] if name else deployments.unsafe(state)
    if not chosen:
        click.echo("no deployment left this host unsafe", err=True)
    for each in chosen:
        if each.state != "unsafe":
            stop(f"{each.name} needs no recovery: it is {each.state}", 1)
    if chosen:
        _recover_each(chosen)
    if format_ == "json":
        show(as_json(told.listed_shape([deployments.Deployment(each.folder) for each in chosen])))


def _recover_each(chosen: Sequence[deployments.Deployment]) -> None:
    try:
        taken = lock.take()
    except lock.Taken as error:
        stop(str(error), 1)
    with taken:
        for each in chosen:
            try:
                outcome = recover(each, parts.real_parts())
            except CannotRecover as error:
                stop(str(error), 1)
            click.echo(f"{each.name} is recovered: {outcome.replace('-', ' ')}", err=True)


def _named(state: Path, name: str) -> deployments.Deployment:
    return deployments.find(state, name) or stop(
        f"no deployment is called {name}; hio deploy --list lists them", 2
    )
