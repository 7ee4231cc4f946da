"""hio log: the life of one setting."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, services_of
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.life import life
from hio_validate.report.life import as_shape, render
from hio_validate.rules.base import View


@click.command()
@click.argument("factor")
@click.option(
    "--service", metavar="SITE/NAME", help="The service (default: every one that knows the setting)."
)
@repo_option
@format_option
def log(factor: str, service: str | None, repo: Path | None, format_: str) -> None:
    """Tell the life of the setting FACTOR: every value it had, who accepted it on which run, what was tried and
    lost, and where it stands now.

    FACTOR is process.setting, or the setting alone, as in server.threads or threads.
    """
    _, found = load_repo(repo)
    view = View(found)
    told = [each for each in (life(view, named, factor) for named in services_of(found, service)) if each]
    if not told:
        stop(f"no stack, entry or matrix row of {service or 'any service'} knows a setting {factor}", 2)
    if format_ == "json":
        show(as_json({"version": 1, "settings": [as_shape(each) for each in told]}))
    else:
        show("\n".join(render(each, width()) for each in told))
