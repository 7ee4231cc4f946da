"""hio status: how far every stack of a service has come, and what the next level lacks."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, services_of
from hio_validate.cli.shared import as_json, format_option, repo_option, show, width
from hio_validate.report.status import as_shape, render
from hio_validate.rules.base import View
from hio_validate.status import statuses


@click.command()
@click.argument("service", required=False, metavar="[SITE/NAME]")
@repo_option
@format_option
def status(service: str | None, repo: Path | None, format_: str) -> None:
    """Say of every stack of SITE/NAME (of all services without it) whether it is experimental, tested, accepted
    or deployed, on which entry, and why it is not more.

    The answer follows from the ledger alone: a commit, a capture or a smoke test raises nothing.
    """
    _, found = load_repo(repo)
    view = View(found)
    known = {each: statuses(view, each) for each in services_of(found, service)}
    show(as_json(as_shape(known)) if format_ == "json" else render(known, width()))
