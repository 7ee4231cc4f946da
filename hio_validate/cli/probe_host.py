"""hio probe host: what this machine reaches at best, measured here."""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import __version__, recording, writing
from hio_validate.cli.alone import alone
from hio_validate.cli.progress import Measuring
from hio_validate.cli.shared import as_json, format_option, repo_option, root_of, show, stop, width
from hio_validate.execute import jobs, preflight
from hio_validate.models.base import JudgedBy
from hio_validate.models.ceilings import Ceilings
from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import holders_of, listeners
from hio_validate.probing import disk, memory
from hio_validate.probing import host as probing
from hio_validate.probing.extent import FULL, MIB, QUICK, Extent
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.report import ceilings, probed
from hio_validate.rules import NEWEST

VERB = "hio probe host"
_FOLDER = "manifests/ceilings"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)
_MOST_LISTENERS = 4


@click.command(short_help="Measure memory, matrix products, disk, HTTP, process start.")
@click.option("--yes", is_flag=True, help="Measure; without it only what would happen is shown.")
@click.option("--quick", is_flag=True, help="In under 20 s, with shorter repetitions.")
@click.option(
    "--disk", "disk_", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder on the disk that the models are on (default: that of temporary files).",
)  # fmt: skip
@click.option("--write", is_flag=True, help=f"Keep it as {_FOLDER}/NAME.yaml.")
@click.option("--name", help="Name of the document (default: the host's short id and the date).")
@repo_option
@format_option
def host(
    yes: bool, quick: bool, disk_: Path | None, write: bool, name: str | None, repo: Path | None, format_: str
) -> None:
    """Measure what this machine reaches at best: memory, matrix products, disk, loopback HTTP, process start.

    It loads every processor that this process may use, and nothing else should run. Without --yes it says so and
    measures nothing. Exit codes: 0 done, or nothing asked for; 1 refused; 3 nothing could be measured.
    """
    if disk_ is not None and not os.access(disk_, os.W_OK):
        stop(f"--disk {disk_} cannot be written: expected a folder where a file can be made for a moment", 2)
    extent, folder = QUICK if quick else FULL, disk_ or disk.default_folder()
    root, _ = root_of(repo)
    found = probing.machine()
    named = name if name is not None else f"{(found.host.id or 'host')[:12]}-{datetime.now(UTC):%Y-%m-%d}"
    file = f"{_FOLDER}/{named}.yaml"
    _check_name(named, root / file, write)
    facts, warnings = _facts(found, extent, folder), _warnings(found)
    if not yes:
        _nothing_yet(facts, warnings, format_)
        return
    with alone():
        measured = _measure(found, named, extent, folder, warnings)
    wrote = _keep(root, file, measured) if write else None
    if format_ == "json":
        show(as_json(probed.as_shape(measured, facts, warnings, wrote)))
    else:
        kept = f"wrote {wrote}\n" if wrote else f"nothing was kept; --write keeps it as {file}\n"
        show(f"{ceilings.text(measured, width())}\n{kept}")


def _check_name(name: str, file: Path, write: bool) -> None:
    """Before a minute is spent, not after it."""
    if not _NAME.fullmatch(name):
        stop(
            f"--name {name!r} is no name: expected letters, digits and . _ + -, beginning with one of the first",
            2,
        )
    if write and os.path.lexists(file):
        stop(f"{_FOLDER}/{file.name} exists and a measurement is never replaced; give another --name", 1)


def _facts(found: probing.Machine, extent: Extent, folder: Path) -> dict[str, str]:
    """What will happen: on what, how long, with how much."""
    usable = found.usable
    at = ", ".join(map(str, probing.counts(found, extent)))
    try:
        buffer = memory.stream(extent, found.cache, found.available)
        room = f"{2 * buffer.size / MIB:.0f} MiB: two buffers of {buffer.sentence}"
    except NotMeasured as error:
        room = f"not measured: {error}"
    return {
        "host": f"{(found.host.id or 'unknown')[:12]}  {found.host.cpu or 'processor of unknown name'}",
        "threads": f"all {usable.count} that may be used ({usable.sentence}), memory at {at}",
        "time": f"up to {extent.about_s:g} s",
        "memory": room,
        "disk": f"{disk.needed(extent) / MIB:.0f} MiB in {folder} ({disk.file_system(folder)}), without a name, gone at the end",
        "load": f"{found.load:g} (average of one minute)",
        "listening": _listening(),
    }


def _warnings(found: probing.Machine) -> list[str]:
    reason = preflight.refused(jobs.state_folder())
    said = [f"--yes would be refused: {reason}"] if reason else []
    if not found.is_busy:
        return said
    return [
        *said,
        f"the load is {found.load:g}, above {probing.HIGHEST_LOAD:g}: something else runs, and what is measured now is "
        "less than this machine reaches",
    ]


def _listening() -> str:
    """Who listens on this host, as far as it can be seen."""
    try:
        found = {each.inode: each for each in listeners()}
        holders = holders_of(found)
    except Unobservable as error:
        return f"unknown: {error}"
    said = dict.fromkeys(
        f"port {each.port} ({_program(min(holders[inode])) if inode in holders else 'unknown program'})"
        for inode, each in found.items()
    )
    more = len(said) - _MOST_LISTENERS
    shown = [*said][:_MOST_LISTENERS] + ([f"{more} more"] if more > 0 else [])
    return ", ".join(shown) or "nothing"


def _program(pid: int) -> str:
    try:
        return f"{os.path.basename(proc.executable_path(pid)[0])}, process {pid}"
    except Unobservable:
        return f"process {pid}"


def _nothing_yet(facts: dict[str, str], warnings: list[str], format_: str) -> None:
    if format_ == "json":
        show(as_json(probed.as_shape(None, facts, warnings, None)))
    else:
        show(
            f"{probed.before(VERB, facts, warnings, width())}"
            "nothing has been measured yet; --yes measures, --yes --write keeps it, too\n"
        )


def _measure(
    found: probing.Machine, name: str, extent: Extent, folder: Path, warnings: list[str]
) -> Ceilings:
    for each in warnings:
        click.echo(f"hio: warning: {each}", err=True)
    progress = Measuring(extent.about_s)
    try:
        return probing.ceilings(
            found, name, extent, folder, progress, JudgedBy(hio=__version__, rules=NEWEST)
        )
    except CannotProbe as error:
        stop(str(error))
    except KeyboardInterrupt:
        progress.close()
        click.echo("hio: interrupted: nothing was kept", err=True)
        sys.exit(130)
    finally:
        progress.close()


def _keep(root: Path, file: str, measured: Ceilings) -> str:
    try:
        writing.create(root / file, recording.ceilings_file(measured, file, VERB))
    except FileExistsError:
        stop(f"{file} exists and a measurement is never replaced; give another --name", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    return file
