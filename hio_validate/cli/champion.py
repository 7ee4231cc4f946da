"""hio champion: which cell of a campaign is the best measured one, or that the previous one stays."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.evidence.champion import Champion
from hio_validate.evidence.champion import champion as judge
from hio_validate.report.champion import as_shape, next_steps, render, what_is_left
from hio_validate.report.paragraph import paragraph
from hio_validate.rules.base import View


@click.command()
@click.argument("campaign")
@click.option(
    "--service", metavar="SITE/NAME", help="Whose campaign, where several services have one of that name."
)
@click.option("--gate", type=click.Choice(["champion"]), help="Exit 1 unless every gate is met.")
@click.option(
    "--write", is_flag=True, help="Add the winner's settings to the known-good registry of the model."
)
@repo_option
@format_option
def champion(
    campaign: str, service: str | None, gate: str | None, write: bool, repo: Path | None, format_: str
) -> None:
    """Say from the runs of CAMPAIGN which configuration is the best measured one: one for all, or one for each workload
    regime; else that there is no improvement and the previous one stays, with the reason of each cell.

    Gates: the seven inputs, predeclared coverage, accuracy, comparability, repeated trials, declared scope, no open
    correctness failure. Computed from raw rows each time.

    Exit codes: 0 told, a champion or an honest none; 1 with --gate champion, where a gate is not met, or nothing could be
    written; 3 nothing was measured.
    """
    root, found = load_repo(repo)
    item = named(found, "campaign/v1", campaign, service)
    view = View(found)
    judged = judge(item, view, view.settings)
    code = _exit_code(judged, gate)
    if format_ == "json":
        show(as_json(as_shape(judged, code)))
    else:
        show(render(judged, width()))
    if write:
        _write(judged, root, view)
    elif format_ == "text" and judged.winners:
        show("\nnext\n" + "".join(f"  {each}\n" for each in next_steps(judged, item.service or "")))
        if judged.overall is not None:
            show(f"  hio champion {item.name} --write adds its settings to the known-good registry\n")
    elif format_ == "text" and (left := what_is_left(judged)):
        show("\n" + "".join(paragraph(f"next: {each}", width()) for each in left))
    sys.exit(code)


def _exit_code(judged: Champion, gate: str | None) -> int:
    if not judged.is_measured:
        return 3
    return 1 if gate and not judged.gates_met else 0


def _write(judged: Champion, root: Path, view: View) -> None:
    # Imported here: most who ask for a champion write nothing.
    from hio_validate.cli.champion_writing import CannotWrite, write

    try:
        for line in write(judged, root, view):
            click.echo(line, err=True)
    except CannotWrite as error:
        stop(str(error), 1)
