"""hio campaign new: begin a campaign from plans, or from a grid of settings over the current parent."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.campaigns.begin import begin, grid_of
from hio_validate.cli.loading import load_repo, named, the_service
from hio_validate.cli.new_files import create_all
from hio_validate.cli.shared import repo_option, stop, width
from hio_validate.evidence.metrics import METRICS
from hio_validate.plans.fixtures import fixture_is_there, no_fixture
from hio_validate.plans.refusal import CannotPlan
from hio_validate.report.paragraph import paragraph
from hio_validate.rules.base import View


@click.command(short_help="Begin a campaign from plans, or from a grid of settings.")
@click.argument("name", metavar="NAME")
@click.option("--service", metavar="SITE/NAME", help="The service (default: the only one).")
@click.option(
    "--plan", "plans", multiple=True, metavar="PLAN", help="A plan that is a cell; may be repeated."
)
@click.option("--grid", "grid", multiple=True, metavar="SETTING=VALUE,…",
              help="A setting to try over the parent; several of them are combined.")  # fmt: skip
@click.option("--metric", type=click.Choice(list(METRICS)),
              help="What decides in the plans that are begun (default: as of hio plan new).")  # fmt: skip
@click.option("--fixture", help="The request that is measured (default: the one of the latest run).")
@repo_option
def new(
    name: str, service: str | None, plans: tuple[str, ...], grid: tuple[str, ...], metric: str | None, fixture: str | None,
    repo: Path | None,
) -> None:  # fmt: skip
    """Begin the campaign NAME: the seven inputs as far as documents say them, and a plan for each point of the grid.

    What only a person can say stands as TODO or is left out; hio campaign check names each of it. An existing file is
    never replaced.
    """
    root, found = load_repo(repo)
    view = View(found)
    of = the_service(found, service)
    if fixture is not None and not fixture_is_there(view, of, fixture):
        stop(no_fixture(view, of, fixture), 2)
    items = [named(found, "plan/v1", each, service) for each in plans]
    try:
        begun = begin(view, of, name, items, grid_of(grid), metric, fixture)
    except CannotPlan as error:
        stop(str(error), 2)
    create_all(root, begun.files, "give the campaign another name")
    click.echo(f"{name}: {begun.said}")
    for hint in begun.hints:
        click.echo(paragraph(hint, width()), nl=False)
    todo = f"write what stands as TODO ({begun.todo}), then " if begun.todo else ""
    click.echo(f"next: {todo}hio campaign check {name}")
