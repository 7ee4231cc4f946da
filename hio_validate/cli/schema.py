"""hio schema: write the JSON Schemas, or check that the written ones are those of this version."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.shared import stop
from hio_validate.json_schema import schemas
from hio_validate.writing import replace


@click.command()
@click.option("--check", is_flag=True, help="Only say whether the files are up to date (exit 1 where not).")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), default=Path("schemas"), show_default=True,
              help="Folder of the schemas.")  # fmt: skip
def schema(check: bool, into: Path) -> None:
    """Write the JSON Schemas of all kinds of documents, for editors and other tools."""
    stale = [
        name for name, content in schemas().items()
        if not (into / name).is_file() or (into / name).read_bytes() != content
    ]  # fmt: skip
    if check:
        if stale:
            stop(f"not up to date in {into}: {', '.join(stale)}; run hio schema", 1)
        click.echo(f"{into}: {len(schemas())} schemas, all up to date")
        sys.exit(0)
    for name in stale:
        replace(into / name, schemas()[name])
    click.echo(f"{into}: {len(stale)} written, {len(schemas()) - len(stale)} unchanged")
