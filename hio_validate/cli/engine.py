"""hio engine: learn the settings of a build from its own --help."""

from __future__ import annotations

from pathlib import Path

import click

from hio_validate import recording, writing
from hio_validate.cli.shared import load_repo, repo_option, stop
from hio_validate.models.family import Family
from hio_validate.observe.hashing import default_cache, sha256_of
from hio_validate.observe.help_text import help_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import item_of
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import UnreadableHelp
from hio_validate.settings.knowledge import Settings
from hio_validate.source import read


@click.group()
def engine() -> None:
    """Learn the settings of an engine's build."""


@engine.command()
@click.option("--binary", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The program.")
@click.option("--help-file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="What its --help printed, kept in a file.")  # fmt: skip
@click.option("--family", help="Engine family (default: by the program's name).")
@click.option("--name", required=True, help="Name of the build, e.g. b11434.")
@click.option("--revision", help="Source revision a person recorded for it (declared).")
@repo_option
def learn(
    binary: Path | None,
    help_file: Path | None,
    family: str | None,
    name: str,
    revision: str | None,
    repo: Path | None,
) -> None:
    """Store the help text of a build and the hashes of its program and libraries.

    --binary runs the program's --help and hashes it; --help-file takes a text that was kept.
    """
    if (binary is None) == (help_file is None):
        stop("give either --binary or --help-file", 2)
    root, found = load_repo(repo)
    named = family or (families.recognised([str(binary)]) if binary else None)
    table = Settings(found).family(named) if named else None
    if table is None or named is None:
        what = (
            f"no family is called {named}"
            if named
            else f"{(binary or help_file or Path()).name} is of no family hio knows"
        )
        stop(f"{what}; give --family, known are {', '.join(families.PACKAGED)}", 2)
    try:
        text = help_file.read_bytes() if help_file else help_of(binary or Path(), table).encode()
        count = len(families.learn(text.decode("utf-8", errors="replace"), table).options)
    except Unobservable as error:
        stop(str(error))
    except UnreadableHelp as error:
        stop(f"the help text cannot be learned: {error}", 1)
    _store(root, name, table, text, binary, revision)
    click.echo(f"{count} settings learned")


def _store(
    root: Path, name: str, table: Family, text: bytes, binary: Path | None, revision: str | None
) -> None:
    folder = f"manifests/engines/{table.name}/{name}"
    file = f"{folder}/engine.yaml"
    identity = _identity(binary) if binary else None
    content = recording.engine_file(name, table.name, text, identity, revision, file)
    refused = item_of(read(content, file)).refused
    if refused:
        stop(refused[0].message, 2)
    try:
        writing.create(root / folder / "help.txt", text)
        writing.create(root / file, content)
    except FileExistsError:
        stop(f"{folder} exists; a build is recorded once, give another --name", 1)
    except OSError as error:
        stop(f"{folder} cannot be written: {error.strerror}")
    click.echo(f"wrote {file}")


def _identity(binary: Path) -> dict[str, object]:
    """Hashes of the program and of the shared libraries that stand beside it, by file name."""
    program = binary.resolve()
    libraries = sorted(
        path for path in program.parent.glob("*.so*") if path.is_file() and not path.is_symlink()
    )
    return {
        "kind": "native",
        "executable": _sha256(program),
        "libraries": {path.name: _sha256(path) for path in libraries},
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of(file, default_cache())
