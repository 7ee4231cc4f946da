"""Options and surroundings that several verbs share: the repository, the terminal, how to stop with a sentence."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from hio_validate.history import GitError, top_of
from hio_validate.places import ROOMS

repo_option = click.option(
    "--repo",
    "repo",
    type=click.Path(path_type=Path),
    help="Repository (default: around the working directory).",
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output.",
)


def stop(message: str, code: int = 3) -> NoReturn:
    """End with one sentence on standard error."""
    click.echo(f"hio: {message}", err=True)
    sys.exit(code)


def root_of(repo: Path | None) -> tuple[Path, bool]:
    """The folder that holds the rooms, and whether git keeps it.

    The nearest one around the given folder that has any of them, so that several hio repositories can live in
    one git repository; the top of the work tree where none has.
    """
    folder = (repo or Path()).resolve()
    if not folder.is_dir():
        stop(f"{repo} is no folder", 2)
    try:
        top = top_of(folder)
    except GitError as error:
        stop(f"git does not let hio read {folder}: {error}")
    if top is None:
        return folder, False
    around = [each for each in (folder, *folder.parents) if each == top or top in each.parents]
    return next((each for each in around if any((each / room).is_dir() for room in ROOMS)), top), True


def user() -> str:
    """Who runs hio."""
    import getpass  # only for who writes an entry

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        stop("this user has no name; say who decided with --by", 2)


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def color() -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR says otherwise."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show(text: str) -> None:
    """Print a report as it is; undecodable file names stay printable."""
    sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
    sys.stdout.flush()


def as_json(shape: dict[str, Any]) -> str:
    """A versioned JSON answer."""
    import json  # only where JSON was asked for

    return json.dumps(shape, indent=2, ensure_ascii=False) + "\n"
