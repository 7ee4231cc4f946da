"""hio import: foreign configurations become draft stacks, result files of other tools become observations."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from hio_validate.cli import importing
from hio_validate.cli.import_writing import Asked, pinned
from hio_validate.cli.shared import repo_option, stop
from hio_validate.models.base import NAME, SERVICE
from hio_validate.report.visible import visible
from hio_validate.settings.family import PACKAGED

_OF_NAMES = "letters, digits and . _ + - that begin with a letter or digit"


def _is(kind: Mapping[str, Any], text: str) -> bool:
    """Whether a text is a name of that kind, as documents have it: it becomes a part of a path."""
    return len(text) <= kind["max_length"] and re.fullmatch(kind["pattern"], text) is not None


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--engine", help="Engine family where no program names one, e.g. of an environment file.")
@click.option("--name", help="Name of the document, where a file gives only one.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder to write the drafts into.",
)
@click.option("--service", metavar="SITE/NAME", help="Service to write the documents for; with --write.")
@click.option("--write", is_flag=True, help="Write them for the service; nothing is ever replaced.")
@click.option("--stack", help="Stack of the service that was measured, as you say; results are pinned to it.")
@click.option(
    "--keep-content", is_flag=True, help="Keep also files that may hold the prompts and answers of requests."
)
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
    write: bool, stack: str | None, keep_content: bool, skip_log_lines: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILEs: results of benchmarks, servers and harnesses into observations; systemd units, llama-swap, Kubernetes, Helm values, docker compose, environment files and command lines into draft stacks.

    What a file is, is told by its content. Of a configuration, what cannot be resolved stays as it is written and is
    listed with its line; paths, host and port become place-holders, secrets become references. Of results, each number
    keeps its unit and gets the definition by which it was counted.

    Exit codes: 0 read; 1 a file cannot be read as what it is, or its numbers contradict each other; 2 usage; 3 nothing
    in it was measured, or starts an engine.
    """
    if write != (service is not None):
        stop("--write and --service go together: --service SITE/NAME --write", 2)
    if service is not None and not _is(SERVICE, service):
        stop(f"a service is SITE/NAME, each of {_OF_NAMES}, got {visible(service)}", 2)
    if name is not None and not _is(NAME, name):
        stop(f"--name is of {_OF_NAMES}, got {visible(name)}", 2)
    settings = importing.settings_of(repo)
    if engine is not None and settings.family(engine) is None:
        stop(f"no family is called {engine}; known are {', '.join(PACKAGED)}", 2)
    if (stack is not None or keep_content) and service is None:
        stop("--stack and --keep-content are about what is written; give --service SITE/NAME --write", 2)
    pin = None if stack is None or service is None else pinned(stack, service, repo)
    asked = Asked(format_, engine, name, out, service, pin, keep_content, repo)
    sys.exit(importing.carry_out(files, skip_log_lines, settings, asked))
