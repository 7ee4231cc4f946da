"""hio import: foreign configurations become draft stacks, result files of other tools become observations."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli import importing
from hio_validate.cli.shared import repo_option, stop
from hio_validate.settings.family import PACKAGED


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--engine", help="Engine family where no program names one, e.g. of an environment file.")
@click.option("--name", help="Name of the document, where a file gives only one.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder to write the drafts into."
)
@click.option("--service", metavar="SITE/NAME", help="Service to write the documents for; with --write.")
@click.option("--write", is_flag=True, help="Write them for the service; nothing is ever replaced.")
@click.option(
    "--skip-log-lines", is_flag=True, help="Leave out lines of a log between the results, and say how many."
)
@repo_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "yaml", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="Output; yaml is what text is for drafts, jsonl streams one record a line.",
)
def import_(
    files: tuple[Path, ...], engine: str | None, name: str | None, out: Path | None, service: str | None,
    write: bool, skip_log_lines: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILEs: results of benchmarks, servers and harnesses into observations; systemd units, llama-swap, Kubernetes, Helm values, docker compose, environment files and command lines into draft stacks.

    What a file is, is told by its content. Of a configuration, what cannot be resolved stays as it is written and is
    listed with its line; paths, host and port become place-holders, secrets become references. Of results, each number
    keeps its unit and gets the definition by which it was counted. Exit 1: a file cannot be read as what it is, or its
    numbers contradict each other; 3: nothing in it was measured, or starts an engine.
    """
    if write != (service is not None):
        stop("--write and --service go together: --service SITE/NAME --write", 2)
    if service is not None and service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    settings = importing.settings_of(repo)
    if engine is not None and settings.family(engine) is None:
        stop(f"no family is called {engine}; known are {', '.join(PACKAGED)}", 2)
    asked = importing.Asked(format_, engine, name, out, service, repo)
    sys.exit(importing.carry_out(files, skip_log_lines, settings, asked))
