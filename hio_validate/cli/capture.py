"""hio capture: write down what a live process is, and the stack and site that say so."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import recording, writing
from hio_validate.cli.loading import load_repo
from hio_validate.cli.progress import hashing
from hio_validate.cli.shared import repo_option, show, stop
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import refusals
from hio_validate.models.family import Family
from hio_validate.observe.capture import capture as as_document
from hio_validate.observe.log_owner import stranger
from hio_validate.observe.recognise import recognised_process
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import owner_of
from hio_validate.repo import Repo
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.family import PACKAGED
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.places import place_of, values
from hio_validate.source.edit import CannotEdit

Grammar = Mapping[str, tuple[Family | None, Catalogue | None]]


@click.command()
@click.option("--pid", type=click.IntRange(min=1), help="The process.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="The port it listens on; with --pid, which of several."
)
@click.option(
    "--service", metavar="SITE/NAME", help="Service it belongs to; says where the capture is written."
)
@click.option(
    "--stack", metavar="NAME", help="Stack it claims to be; drafted where there is none of that name."
)
@click.option("--name", help="Name of the capture (default: the stack's and the date).")
@click.option(
    "--process", "role", default="server", show_default=True, help="Role of the process in the stack."
)
@click.option("--engine", "family", help="Engine family, where the program's name does not say it.")
@click.option("--log", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The server's log.")
@repo_option
def capture(
    pid: int | None, port: int | None, service: str | None, stack: str | None, name: str | None,
    role: str, family: str | None, log: Path | None, repo: Path | None,
) -> None:  # fmt: skip
    """Capture the process PID, or the one that listens on PORT.

    With --service the capture is written into the repository, else it is printed. Secrets are withheld; no
    prompt and no answer of anybody is read.
    """
    if pid is None and port is None:
        stop("say which process: --pid PID or --port PORT", 2)
    if service is not None and service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    root, found = load_repo(repo)
    known = Settings(found)
    if family is not None and known.family(family) is None:
        stop(f"no family is called {family}; known are {', '.join(PACKAGED)}", 2)
    try:
        with hashing() as progress:
            text = log.read_text(encoding="utf-8", errors="replace") if log else None
            pid = pid or owner_of(port or 0).pid
            seen = recognised_process(pid, known, family=family, port=port, log=text, progress=progress)
        site = service.partition("/")[0] if service else None
        named = name or f"{stack or f'pid-{pid}'}-{datetime.now(UTC):%Y-%m-%d}"
        document = as_document(named, {role: seen.process}, service=service, stack=stack, site=site)
    except Unobservable as error:
        stop(str(error))
    except ValidationError as error:
        given: dict[str, object] = {"name": name, "stack": stack, "processes": {role: {}}}
        stop("; ".join(refusal.message for refusal in refusals(error, "capture/v1", given)), 2)
    _check_log(log, text, seen.process)
    for note in seen.notes:
        click.echo(f"note: {note}", err=True)
    if service is None:
        show(recording.capture_file(document, "capture.yaml").decode())
        sys.exit(0)
    capture_file = f"manifests/services/{service}/captures/{document.name}.yaml"
    _create(root, capture_file, recording.capture_file(document, capture_file))
    if stack is not None:
        grammar = {role: (known.family(seen.process.family), seen.catalogue)}
        _draft(root, document, service, stack, grammar, known.repo)


def _check_log(log: Path | None, text: str | None, process: CapturedProcess) -> None:
    line = stranger(text.split("\n"), process) if text is not None else None
    if line:
        stop(f"{log}:{line.line} is of another process: {line.said!r}; expected {line.expected}", 2)


def _draft(root: Path, document: Capture, service: str, stack: str, grammar: Grammar, found: Repo) -> None:
    """The stack that the capture shows and the places of its site, as far as nobody wrote them yet."""
    place = place_of(service, found)
    file = f"manifests/services/{service}/stacks/{stack}.yaml"
    drafted, places = recording.draft_stack(stack, document, grammar, file, values(place) if place else None)
    exists = (root / file).exists()
    if exists:
        click.echo(f"kept {file}: it exists; hio diff compares it with the capture")
    else:
        _create(root, file, drafted)
    if not exists or place is None:
        _add_places(root, service, places, recording.programs_of(document), found)


def _add_places(
    root: Path, service: str, places: Mapping[str, str], programs: Mapping[str, str], found: Repo
) -> None:
    """Write the site, or add to it what it does not say; what a person wrote stays."""
    site, _, model = service.partition("/")
    file = f"manifests/sites/{site}.yaml"
    if not (root / file).exists():
        _create(root, file, recording.draft_site(site, model, places, file, programs))
        return
    if not places and not programs:
        click.echo(f"kept {file}: no place was recognised in what the process was started with")
        return
    item = found.find("site/v1", site)
    try:
        if item is None or item.model is None:
            raise CannotEdit("it cannot be read; hio validate says why")
        content = recording.with_places(item.document.raw, item.model, model, places, programs)
        if content == item.document.raw:
            click.echo(f"kept {file}: it says where {service} runs")
            return
        writing.replace(root / file, content)
        click.echo(f"added {service} to {file}")
    except CannotEdit as error:
        click.echo(f"kept {file}: {error}; it does not say where {service} runs")
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")


def _create(root: Path, file: str, content: bytes) -> None:
    try:
        writing.create(root / file, content)
    except FileExistsError:
        stop(f"{file} exists and a capture is never replaced; give another --name", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    click.echo(f"wrote {file}")
