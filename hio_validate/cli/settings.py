"""hio settings: what a stack really runs with, and where each value comes from."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, width
from hio_validate.models.capture import Capture
from hio_validate.report.settings import as_shape, render
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.observed import Contradiction, contradictions


@click.command()
@click.argument("stack")
@click.option("--capture", "capture_", help="Capture whose observations decide what `auto` and -1 became.")
@click.option("--all", "everything", is_flag=True, help="Show defaults, too.")
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
@format_option
def settings(
    stack: str, capture_: str | None, everything: bool, service: str | None, repo: Path | None, format_: str
) -> None:
    """Show the settings of STACK in force: build default < model metadata < environment < argv."""
    _, found = load_repo(repo)
    item = named(found, "stack/v1", stack, service)
    observed = named(found, "capture/v1", capture_, item.service) if capture_ else None
    known = Settings(found)
    effective = known.effective(item, observed)
    said = _contradictions(observed.model, known) if observed else []
    if format_ == "json":
        show(as_json(as_shape(effective, said)))
    else:
        show(render(effective, said, everything, width()))


def _contradictions(capture: Capture, known: Settings) -> list[Contradiction]:
    return [
        each for role, process in capture.processes.items() for each in contradictions(role, process, known)
    ]
