"""New files of a verb: nothing that is there is ever replaced, and of several files all are written or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hio_validate import writing
from hio_validate.cli.shared import stop


def create(path: Path, content: bytes, there: str, named: str = "") -> None:
    """Write one file and say so; ends with the sentence `there` where it exists. `named` is how it is told."""
    told = named or path
    try:
        writing.create(path, content)
    except FileExistsError:
        stop(f"{told} exists {there}", 1)
    except OSError as error:
        stop(f"{told} cannot be written: {error.strerror}")
    click.echo(f"wrote {told}")


def create_all(root: Path, files: Sequence[tuple[str, bytes]], advice: str) -> None:
    """Write files of a repository, the last one first, so that nothing names what is not there yet."""
    there = f"and stays as it is; {advice}"
    for file, _ in files:
        if (root / file).exists():
            stop(f"{file} exists {there}", 1)
    for file, content in reversed(files):
        create(root / file, content, there, file)


def created_all(root: Path, files: Sequence[tuple[str, bytes]]) -> None:
    """As `create_all`, and nothing is told: for an answer that is data."""
    for file, _ in files:
        if (root / file).exists():
            stop(f"{file} exists and stays as it is; give another --name", 1)
    for file, content in reversed(files):
        try:
            writing.create(root / file, content)
        except OSError as error:
            stop(
                f"{file} cannot be written: {error.strerror}", 1 if isinstance(error, FileExistsError) else 3
            )
