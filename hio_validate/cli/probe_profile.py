"""hio probe profile: what a sampling profiler wrote, as a profile document."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import __version__, recording
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.new_files import created_all
from hio_validate.cli.shared import FiniteRange, as_json, format_option, repo_option, show, stop, width
from hio_validate.models.base import JudgedBy
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import refusals
from hio_validate.models.profile import Profile
from hio_validate.observe.perf_report import Sampled, read_report
from hio_validate.observe.profile import parts_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Item, Repo
from hio_validate.report import profile as page
from hio_validate.report.probed import profile_shape
from hio_validate.rules import NEWEST
from hio_validate.source import digest_of

LARGEST = 64 << 20
"""Bytes of a report that is read."""
PATHS = ("setup", "load", "request", "prefill-token", "decode-token")
_TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ")


@click.command(short_help="Read what perf report wrote into a profile document.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--stack", required=True, metavar="NAME", help="The stack that ran.")
@click.option("--service", metavar="SITE/NAME", help="Its service, where several have a stack of that name.")
@click.option("--path", "path_", required=True, type=click.Choice(PATHS), help="The path that was profiled.")
@click.option("--fixture", metavar="NAME", help="What was asked meanwhile.")
@click.option("--threads", type=click.IntRange(1), help="Threads that were sampled.")
@click.option("--process", default="server", show_default=True, help="Role of the process in the stack.")
@click.option("--tool", help="The tool with its version and command (default: as the report's header says).")
@click.option(
    "--at", metavar="TIME", help="When, e.g. 2026-11-30T09:00:00Z (default: when FILE was written)."
)
@click.option("--slowed", type=FiniteRange(min=0), metavar="PERCENT", help="How much slower the tool made it.")  # fmt: skip
@click.option("--about", help="One sentence for whoever reads it in a year.")
@click.option("--name", help="Name of the profile (default: the stack, the path and the date).")
@click.option("--write", is_flag=True, help="Keep it with FILE beside it in the service's profiles/.")
@repo_option
@format_option
def profile(
    file: Path, stack: str, service: str | None, path_: str, fixture: str | None, threads: int | None, process: str,
    tool: str | None, at: str | None, slowed: float | None, about: str | None, name: str | None, write: bool,
    repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILE, what `perf report --stdio -n` or folded `perf script` wrote, and say which term each symbol is of.

    It runs nothing. Symbols that are not in the table of the engine's family stay `other`. What is written keeps FILE as
    it is: a report made with --header names the host and the command line.
    """
    root, found = load_repo(repo)
    item = named(found, "stack/v1", stack, service)
    if process not in item.model.processes:
        stop(f"{stack} has no process {process}; it has {', '.join(item.model.processes)}", 2)
    if at is not None and not _TIME.fullmatch(at):
        stop(f"--at {at} is no time: expected the form 2026-11-30T09:00:00Z", 2)
    asked = named(found, "fixture/v1", fixture, item.service) if fixture else None
    raw = _raw(file)
    try:
        sampled = read_report(raw.decode("utf-8", errors="replace"))
    except Unobservable as error:
        stop(f"{file}: {error}")
    when = at or f"{datetime.fromtimestamp(file.stat().st_mtime, UTC):%Y-%m-%dT%H:%M:%SZ}"
    title = name or f"{item.name}-{path_}-{when[:10]}"
    kept = f"{title}.perf.txt"
    data = {
        "hio": "profile/v1", "name": title, "service": item.service, "about": about,
        "stack": item.pin, "process": None if process == "server" else process, "fixture": asked.name if asked else None,
        "path": path_, "threads": threads, "tool": tool or _tool(sampled), "at": when,
        "raw": {"file": kept, "sha256": digest_of(raw).removeprefix("sha256:")} if write else None,
        "slowed_percent": slowed,
    }  # fmt: skip
    family = item.model.processes[process].engine
    made = _profile(data, sampled, family, path_, _formats(found, item))
    folder = f"manifests/services/{item.service}/profiles"
    wrote = [f"{folder}/{title}.yaml", f"{folder}/{kept}"] if write else []
    if write:
        created_all(root, [(wrote[0], recording.profile_file(made, wrote[0])), (wrote[1], raw)])
    if format_ == "json":
        show(as_json(profile_shape(made, wrote)))
        return
    show(page.text(made, width()))
    show("\n" + _kept(made, wrote))


def _kept(made: Profile, wrote: Sequence[str]) -> str:
    """What was written, and what reads it."""
    if not wrote:
        return "nothing was kept; --write keeps it\n"
    asked = ["--fixture", made.fixture] if made.fixture else []
    words = ["hio", "estimate", made.stack.partition("@")[0], "--service", made.service, *asked]
    return "".join(f"wrote {each}\n" for each in wrote) + f"next: {shlex.join(words)}\n"


def _profile(
    data: Mapping[str, object], sampled: Sampled, family: str, path: str, dtypes: Collection[str]
) -> Profile:
    given = {key: value for key, value in data.items() if value is not None}
    try:
        return Profile.model_validate(
            {
                **given,
                "parts": parts_of(sampled, family, path, dtypes),
                "judged_by": JudgedBy(hio=__version__, rules=NEWEST),
            }
        )
    except ValidationError as error:
        stop("; ".join(each.message for each in refusals(error, "profile/v1", given)), 2)


def _raw(file: Path) -> bytes:
    if not file.is_file():
        stop(f"{file} is no regular file: expected one that holds what perf report --stdio -n printed")
    try:
        if os.path.getsize(file) > LARGEST:
            stop(
                f"{file} is larger than {LARGEST >> 20} MiB: expected what perf report printed, not perf.data"
            )
        raw = file.read_bytes()
    except OSError as error:
        stop(f"{file} cannot be read: {error.strerror}")
    if raw.startswith(b"PERFILE2"):
        stop(f"{file} is perf's own data: expected text; perf report --stdio -n -i {file} prints it")
    return raw


def _tool(sampled: Sampled) -> str:
    version = f"perf {sampled.version}" if sampled.version else "perf"
    event = f", event {sampled.event}" if sampled.event else ""
    return f"{version}{event}" + (f": {sampled.command}" if sampled.command else "")


def _formats(found: Repo, stack: Item) -> set[str]:
    """Number formats of the weights of every shape of the service."""
    return {
        each.type
        for shape in found.of("shape/v1")
        if shape.service == stack.service
        for each in shape.model.weights
    }
