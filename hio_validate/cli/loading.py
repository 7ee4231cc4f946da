"""The repository that a verb reads whole; apart from what verbs share that read no document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from hio_validate.cli.shared import root_of, stop
from hio_validate.history import Folder, Unlistable, WorkTree
from hio_validate.repo import Item, Repo, load
from hio_validate.spelling import nearest


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
        stop(f"no service is called {named}{_instead(named, known)}", 2)
    return [named]


def the_service(found: Repo, named: str | None) -> str:
    """The service that was named, or the only one; ends where several have documents."""
    services = services_of(found, named)
    if len(services) > 1:
        stop(f"several services have documents: say --service {' or '.join(services)}", 2)
    return services[0]


def named(found: Repo, kind: str, name: str, service: str | None = None) -> Item:
    """The one readable document that a name on the command line means; else the end, with a sentence."""
    meant, word = found.meant(kind, name, service), kind.partition("/")[0]
    if len(meant) > 1:
        names = " or ".join(item.full_name for item in meant)
        stop(f"several {word} documents are called {name}: say {names}, or give --service", 2)
    item = meant[0] if meant else found.unread(kind, name, service)
    if item is None:
        not_there(found, kind, name, service)
    if item.model is None:
        said = f"the {word} {name} is not valid: {_first_fault(item)}"
        stop(f"{said}; hio validate {item.file} says all", 2)
    return item


def not_there(found: Repo, kind: str, name: str, service: str | None = None) -> NoReturn:
    """The end; says what the name may have meant: another service's, one like it, or how a first one comes to be."""
    if service:
        services_of(found, service)
    told = f"no readable {kind.partition('/')[0]} is called {name}" + (f" in {service}" if service else "")
    elsewhere = [each.full_name for each in found.meant(kind, name)] if service else []
    if elsewhere:
        stop(f"{told}; there is {' and '.join(elsewhere)}", 2)
    stop(told + (_instead(name, found.names(kind)) or _begun_by(kind, found)), 2)


_FEW = 6
"""Names that are listed where none is like the one that was given."""


def _instead(name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"; did you mean {near}?"
    return f"; there is {' or '.join(known)}" if 0 < len(known) <= _FEW else ""


_BEGUN_BY = {
    "campaign/v1": "hio campaign new begins one",
    "plan/v1": "hio plan new begins one",
    "run/v1": "hio run makes one of a plan",
    "stack/v1": "hio capture or hio import makes one",
}


def _begun_by(kind: str, found: Repo) -> str:
    """How a first document of a kind comes to be."""
    return f"; there is none yet, {_BEGUN_BY[kind]}" if kind in _BEGUN_BY and not found.names(kind) else ""


def _first_fault(item: Item) -> str:
    """The first thing that is wrong with a document that cannot be read, and where."""
    if item.refused:
        refused = item.refused[0]
        place = item.document.locate(refused.path, key=refused.at_key)
        return f"{place}: {refused.message}"
    fault = item.document.faults[0]
    return f"{item.file}:{fault.line}:{fault.column}: {fault.message}"
