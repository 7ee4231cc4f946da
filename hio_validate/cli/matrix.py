"""hio matrix: begin, update and read an inheritance matrix."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hio_validate import scaffold, writing
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.inheritance import Inheritance, inheritance
from hio_validate.ledger import Ledger, ledgers
from hio_validate.models import reader
from hio_validate.repo import Item, Repo, item_of
from hio_validate.report.matrix import as_shape, render
from hio_validate.settings.knowledge import Settings
from hio_validate.source import read
from hio_validate.source.dump import dump
from hio_validate.source.edit import CannotEdit


@click.group()
def matrix() -> None:
    """Scaffold and show inheritance matrices."""


@matrix.command("new", short_help="Scaffold a matrix, or add what is new to it.")
@click.option("--parent", required=True, help="Stack that serves now.")
@click.option("--candidate", required=True, help="Stack that shall replace it.")
@click.option("--captures", help="Captures of both: PARENT,CANDIDATE.")
@click.option("--service", metavar="SITE/NAME", help="The service (default: the parent's).")
@click.option("--name", help="Name of the matrix (default: PARENT-to-CANDIDATE).")
@repo_option
def new(
    parent: str,
    candidate: str,
    captures: str | None,
    service: str | None,
    name: str | None,
    repo: Path | None,
) -> None:
    """Write the rows that deserve a person, undecided; run again, it adds what is new and keeps the rest."""
    root, found = load_repo(repo)
    theirs = named(found, "stack/v1", parent, service)
    mine = named(found, "stack/v1", candidate, service or theirs.service)
    if theirs is mine:
        stop(f"{parent} is both parent and candidate; a matrix compares two stacks", 2)
    service = service or theirs.service
    if service is None:
        stop("the parent belongs to no service; give --service SITE/NAME", 2)
    called = name or f"{theirs.name}-to-{mine.name}"
    file = f"matrix/{service}/{called}.yaml"
    sides = _captures(found, captures, service)
    if captures is None and not (root / file).exists():
        sides = _newest(found, service, theirs, mine)
    ledger = ledgers(found).get(service) or Ledger(service, {})
    begun = scaffold.skeleton(called, service, parent, candidate, sides, sorted(ledger.tips))
    try:
        if (root / file).exists():
            _update(root, file, begun, found)
        else:
            _write_new(root, file, begun, found, ledger)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")


def _captures(found: Repo, given: str | None, service: str) -> dict[str, str]:
    if given is None:
        return {}
    names = given.split(",")
    if len(names) != 2:
        stop(f"--captures takes two names, PARENT,CANDIDATE; got {given}", 2)
    for name in names:
        named(found, "capture/v1", name, service)
    return dict(zip(("parent", "candidate"), names, strict=True))


def _newest(found: Repo, service: str, theirs: Item, mine: Item) -> dict[str, str]:
    """The newest capture of each side, where there is one; said, since another may be meant."""
    seen = {
        side: scaffold.newest_capture(found, service, stack)
        for side, stack in (("parent", theirs), ("candidate", mine))
    }
    sides = {side: name for side, name in seen.items() if name is not None}
    for side, name in sides.items():
        click.echo(f"{side} as it was captured in {name}; --captures PARENT,CANDIDATE names others", err=True)
    return sides


def _write_new(root: Path, file: str, begun: dict[str, Any], found: Repo, ledger: Ledger) -> None:
    empty = _resolved(item_of(read(dump({**begun, "rows": []}), file)), found, ledger)
    pairs = scaffold.propose_pairs(empty.theirs, empty.ours)
    model = reader("matrix/v1").validate_python({**begun, "pairs": pairs, "rows": []})
    item = empty.item._replace(model=model)
    content = scaffold.new_matrix(begun, empty.under(item), pairs, file)
    writing.create(root / file, content)
    undecided = content.count(b"disposition: undecided")
    rows = "1 row" if undecided == 1 else f"{undecided} rows"
    click.echo(f"wrote {file}: {rows} to decide" + (f", {len(pairs)} pairs to review" if pairs else ""))


def _update(root: Path, file: str, begun: dict[str, Any], found: Repo) -> None:
    item = next((each for each in found.items if each.file == file), None)
    if item is None or item.model is None:
        stop(f"{file} exists and cannot be read; hio validate says why", 1)
    if (item.model.parent, item.model.candidate) != (begun["parent"], begun["candidate"]):
        stop(f"{file} is about {item.model.parent} -> {item.model.candidate}; give another --name", 1)
    ledger = ledgers(found).get(item.service or "") or Ledger(item.service or "", {})
    try:
        raw, told = scaffold.brought_up(item.document.raw, item.model, begun)
        content, said = scaffold.update(raw, _resolved(item_of(read(raw, file)), found, ledger))
        said = [*told, *said]
    except CannotEdit as error:
        stop(f"{file}: {error}", 1)
    if not said:
        click.echo(f"{file} is up to date")
        sys.exit(0)
    writing.replace(root / file, content)
    click.echo(f"updated {file}:")
    for sentence in said:
        click.echo(f"  {sentence}")


def _resolved(item: Item, found: Repo, ledger: Ledger) -> Inheritance:
    if item.model is None:
        refused = item.refused[0].message if item.refused else "it cannot be read"
        stop(f"{item.file}: {refused}", 2)
    resolved = inheritance(item, found, Settings(found), ledger)
    if resolved is None:
        stop(f"{item.model.parent} or {item.model.candidate} is no readable stack of this repository", 2)
    return resolved


@matrix.command("show", short_help="Show a matrix with its computed values.")
@click.argument("name")
@click.option("--service", metavar="SITE/NAME", help="Where the name alone is not enough.")
@repo_option
@format_option
def show_matrix(name: str, service: str | None, repo: Path | None, format_: str) -> None:
    """Show the matrix NAME with the values computed from its stacks."""
    _, found = load_repo(repo)
    item = named(found, "matrix/v1", Path(name).stem if name.endswith(".yaml") else name, service)
    resolved = _resolved(
        item, found, ledgers(found).get(item.service or "") or Ledger(item.service or "", {})
    )
    show(as_json(as_shape(resolved)) if format_ == "json" else render(resolved, width()))
