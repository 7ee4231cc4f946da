"""Options and surroundings that several verbs share: the repository, the terminal, how to stop with a sentence."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from hio_validate.history import Folder, GitError, Unlistable, WorkTree, top_of
from hio_validate.repo import ROOMS, Repo, load

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


def tree_of(repo: Path | None) -> WorkTree | Folder:
    """The files on disk."""
    root, kept = root_of(repo)
    return WorkTree(root) if kept else Folder(root)


def load_repo(repo: Path | None) -> tuple[Path, Repo]:
    """The repository around the working directory, read whole."""
    tree = tree_of(repo)
    try:
        return tree.root, load(tree)
    except Unlistable as error:
        stop(f"could not read {tree.root}: {error}")


def services_of(found: Repo, named: str | None) -> list[str]:
    """The service that was named, or all that have a document; ends where there is none of that name."""
    known = sorted({item.service for item in found.items if item.service})
    if named is None:
        return known or stop("no document of this repository belongs to a service", 3)
    if named not in known:
        from difflib import get_close_matches  # only for a misspelt service

        near = get_close_matches(named, known, n=1)
        stop(f"no service is called {named}" + (f"; did you mean {near[0]}?" if near else ""), 2)
    return [named]


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
