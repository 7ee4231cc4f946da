"""hio rollback: take back the deployment that serves by the ledger, by the plan that it left."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.cli import switching
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, user, width
from hio_validate.execute import jobs
from hio_validate.execute.deploy import deployments, preparing, rolling
from hio_validate.execute.journal import now
from hio_validate.observe.refusal import Unobservable
from hio_validate.report import deployment as told
from hio_validate.report.refusals import refusals
from hio_validate.rules.base import View


@click.command()
@click.argument("deployment", required=False, metavar="[SERVICE|DEPLOYMENT]")
@click.option("--yes", is_flag=True, help="Do it; without it only the page is shown.")
@click.option("--overwrite", is_flag=True, help="Also over files that were edited since; they are kept.")
@click.option("--detach", is_flag=True, help="Return at once; hio deploy --list says how it ends.")
@repo_option
@format_option
def rollback(
    deployment: str | None, yes: bool, overwrite: bool, detach: bool, repo: Path | None, format_: str
) -> None:
    """Take back the deployment that serves: stop it, put its files back, start what served before, prove it.

    Exit codes: 0 shown or rolled back; 1 refused or left open.
    """
    state = jobs.state_folder()
    root, repository = load_repo(repo)
    view = View(repository)
    try:
        entry = rolling.deployed(view, deployment)
        work = rolling.prepare(view, entry, root, state, now(), user(), overwrite)
    except (rolling.CannotRollBack, Unobservable, OSError) as error:
        stop(str(error), 1)
    refused = preparing.unsaid(work)
    if format_ == "text":
        folder = deployments.folder_of(state) / (work.deployment or work.name)
        show(told.way_back_page(work, str(folder), switching.serving(work), width()))
        show(("\n" if refused else "") + refusals(refused, width()))
    elif refused or not yes:
        show(as_json({**told.as_shape(work, refused), "exit_code": 1 if refused else 0}))
    if refused:
        raise SystemExit(1)
    if yes:
        switching.begin(state, work, detach, format_)
    elif format_ == "text":
        show("nothing has happened yet; add --yes to do it\n")
