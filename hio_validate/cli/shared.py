"""Options that several verbs share, beside what the console offers all of them."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate.console import as_json, color, load_repo, root_of, show, stop, tree_of, width
from hio_validate.repo import Item, Repo

__all__ = [
    "as_json",
    "color",
    "format_option",
    "load_repo",
    "named",
    "repo_option",
    "root_of",
    "services_of",
    "show",
    "stop",
    "tree_of",
    "width",
]

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


def named(found: Repo, kind: str, name: str, service: str | None = None) -> Item:
    """The one readable document that a name on the command line means; else the end, with a sentence."""
    meant, word = found.meant(kind, name, service), kind.partition("/")[0]
    if len(meant) > 1:
        names = " or ".join(item.full_name for item in meant)
        stop(f"several {word} documents are called {name}: say {names}, or give --service", 2)
    if not meant or meant[0].model is None:
        stop(f"no readable {word} is called {name}" + (f" in {service}" if service else ""), 2)
    return meant[0]
