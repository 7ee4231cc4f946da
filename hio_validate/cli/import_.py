"""hio import: foreign configurations become draft stacks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from hio_validate import writing
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import as_json, repo_option, root_of, show, stop
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.draft import Draft, drafts
from hio_validate.importing.configurations.found import Found
from hio_validate.importing.configurations.recognise import read
from hio_validate.report.importing import as_shape, render, summary
from hio_validate.report.visible import visible
from hio_validate.settings.family import PACKAGED
from hio_validate.settings.knowledge import Settings


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--engine", help="Engine family where no program names one, e.g. of an environment file.")
@click.option("--name", help="Name of the draft, where a file gives only one.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder to write the drafts into."
)
@click.option("--service", metavar="SITE/NAME", help="Service to write the drafts for; with --write.")
@click.option("--write", is_flag=True, help="Write them as stacks of the service; nothing is ever replaced.")
@repo_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="Output.",
)
def import_(
    files: tuple[Path, ...], engine: str | None, name: str | None, out: Path | None, service: str | None,
    write: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILEs into draft stacks: systemd units, llama-swap, Kubernetes, Helm values, docker compose, environment files, command lines.

    What a file is, is told by its content. What cannot be resolved stays as it is written and is listed with its line;
    paths, host and port become place-holders, secrets become references. Exit 1: a file cannot be read as a
    configuration; 3: nothing in it starts an engine.
    """
    if write != (service is not None):
        stop("--write and --service go together: --service SITE/NAME --write", 2)
    if service is not None and service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    settings = _settings(repo)
    if engine is not None and settings.family(engine) is None:
        stop(f"no family is called {engine}; known are {', '.join(PACKAGED)}", 2)
    found, refused, code = _found(files)
    if name is not None and len(found) > 1:
        stop(f"--name names one draft, and here are {len(found)}", 2)
    for each in found:
        each.name = name or each.name
    made = drafts(found, settings, engine)
    if out is not None or service is not None:
        root = out or root_of(repo)[0] / f"manifests/services/{service}/stacks"
        _write(made, root, "" if out else f"manifests/services/{service}/stacks/")
    elif format_ == "yaml":
        show(render(made))
    if format_ == "json":
        show(as_json(as_shape(made, refused)))
    click.echo(f"hio: {summary(made, refused)}", err=True)
    sys.exit(code)


def _settings(repo: Path | None) -> Settings:
    return Settings(load_repo(repo)[1])


def _found(files: Sequence[Path]) -> tuple[list[Found], list[str], int]:
    """What all files start, what could not be read, and the exit code: 3 before 1."""
    found: list[Found] = []
    refused, codes = [], {0}
    for file in files:
        try:
            found += read(file, visible(str(file)))
        except CannotImport as error:
            refused.append(visible(str(error)))
            codes.add(error.code)
            click.echo(f"hio: {refused[-1]}", err=True)
    return found, refused, 3 if 3 in codes else max(codes)


def _write(made: Sequence[Draft], folder: Path, shown: str) -> None:
    """All drafts, or none where one of them is there already."""
    there = [draft.name for draft in made if (folder / f"{draft.name}.yaml").exists()]
    if there:
        stop(f"{folder / there[0]}.yaml exists and is never replaced; give another --name, or move it", 1)
    for draft in made:
        path = folder / f"{draft.name}.yaml"
        try:
            writing.create(path, draft.content(f"{shown}{draft.name}.yaml"))
        except FileExistsError:
            stop(f"{path} exists and is never replaced", 1)
        except OSError as error:
            stop(f"{path} cannot be written: {error.strerror}")
        click.echo(f"wrote {path}")
