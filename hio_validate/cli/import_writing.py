"""Writes what hio import read into a folder or a service: drafts as stacks, results as observations; nothing is replaced."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from hio_validate import __version__, writing
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import root_of, stop
from hio_validate.evidence.observed import Observation
from hio_validate.history.git import GitError, git
from hio_validate.importing.configurations.draft import Draft
from hio_validate.importing.results import keeping
from hio_validate.importing.results.reading import Reading
from hio_validate.report.visible import visible
from hio_validate.rules import NEWEST


class Asked(NamedTuple):
    """What to do with what was read."""

    format: str
    engine: str | None
    name: str | None
    out: Path | None
    service: str | None
    stack: str | None
    """A pin of it."""
    keep_content: bool
    repo: Path | None

    @property
    def for_people(self) -> bool:
        """Whether standard output is for people, not for data."""
        return self.format in ("text", "yaml")


def pinned(stack: str, service: str, repo: Path | None) -> str:
    """The pin of a stack of the service; ends hio where there is none."""
    found = load_repo(repo)[1].find("stack/v1", stack, service)
    if found is None or found.model is None:
        known = ", ".join(item.name for item in load_repo(repo)[1].of("stack/v1") if item.service == service)
        stop(f"{service} has no stack that is called {stack} and can be read; known are {known or 'none'}", 2)
    return f"{stack}@{found.document.digest}"


def written(reading: Reading, asked: Asked, seen: Callable[[Observation], None]) -> str:
    """Write one result file as an observation; its path. Raises CannotImport."""
    assert asked.service is not None
    name = asked.name or keeping.name_of(reading.source.path)
    about = keeping.Asked(
        name, asked.service, asked.stack, asked.keep_content, {"hio": __version__, "rules": NEWEST}
    )
    root = root_of(asked.repo)[0]
    try:
        file = keeping.write(reading, about, root, seen)
    except FileExistsError as error:
        raise reading.source.refuse(
            f"{error.filename} exists and is never replaced", "give another --name"
        ) from None
    except OSError as error:
        stop(f"{reading.file} cannot be imported into {root}: {error.strerror}")
    click.echo(f"wrote {file}", err=not asked.for_people)
    _tell_ignored(root, file.rpartition("/")[0])
    return file


def _tell_ignored(root: Path, folder: str) -> None:
    """Say which of the written files git will never hold: the observation pins them, and a clone would lack them."""
    try:
        listed = git(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", folder)
    except GitError:
        return  # no git keeps this repository
    names = [os.fsdecode(path).rpartition("/")[2] for path in listed.split(b"\0") if path]
    if names:
        click.echo(
            f"hio: git ignores {' and '.join(map(visible, names))} in {folder}, so no commit will hold what the observation "
            f"pins; git check-ignore -v {folder}/{visible(names[0])} names the line of .gitignore to change, or git add -f it",
            err=True,
        )


def written_drafts(made: Sequence[Draft], asked: Asked) -> None:
    """All drafts, or none where one of them is there already."""
    room = f"manifests/services/{asked.service}/stacks/"
    folder = asked.out or root_of(asked.repo)[0] / room
    there = [draft.name for draft in made if (folder / f"{draft.name}.yaml").exists()]
    if there:
        stop(f"{folder / there[0]}.yaml exists and is never replaced; give another --name, or move it", 1)
    for draft in made:
        path = folder / f"{draft.name}.yaml"
        try:
            writing.create(path, draft.content(f"{'' if asked.out else room}{draft.name}.yaml"))
        except FileExistsError:
            stop(f"{path} exists and is never replaced", 1)
        except OSError as error:
            stop(f"{path} cannot be written: {error.strerror}")
        click.echo(f"wrote {path}", err=not asked.for_people)
