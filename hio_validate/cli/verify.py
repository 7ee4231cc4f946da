"""hio verify: whether what serves is the stack, point by point."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.progress import hashing
from hio_validate.cli.shared import FiniteRange, as_json, format_option, repo_option, show, stop, width
from hio_validate.command import Command, Unplaced, command_of
from hio_validate.execute.found import pid_at, pid_of_unit
from hio_validate.execute.verified import Verification
from hio_validate.execute.verify import nobody
from hio_validate.execute.verify import verify as verified
from hio_validate.models.site import Place, Site
from hio_validate.observe.asked import Asked
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Item, Repo
from hio_validate.report.verification import as_shape, changes, render, summary
from hio_validate.settings.places import place_of


@click.command()
@click.argument("stack")
@click.option(
    "--service", metavar="SITE/NAME", help="Whose stack, where several services have one of that name."
)
@click.option("--pid", type=click.IntRange(min=1), help="The process (default: who listens on the port).")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="The port it must listen on (default: the site's)."
)
@click.option("--unit", metavar="NAME.service", help="The process of a systemd unit.")
@click.option(
    "--file", "files", multiple=True, type=click.Path(path_type=Path),
    help="Configuration that the process must have started after; may be repeated.",
)  # fmt: skip
@click.option(
    "--watch", type=FiniteRange(min=0.1), metavar="SECONDS", help="Look again and again; tell changes."
)
@click.option("--all", "all_", is_flag=True, help="Show what is equal, too.")
@click.option("--brief", is_flag=True, help="One line, e.g. for a cron job.")
@format_option
@repo_option
def verify(
    stack: str, service: str | None, pid: int | None, port: int | None, unit: str | None, files: tuple[Path, ...],
    watch: float | None, all_: bool, brief: bool, format_: str, repo: Path | None,
) -> None:  # fmt: skip
    """Compare the process that serves with STACK: arguments, environment, bytes, settings, what it says of itself.

    Exit code 0: every point was seen and is equal. 1: something differs. 3: nothing differs, but something could
    not be seen, which proves nothing.
    """
    if pid is not None and unit is not None:
        stop("--pid and --unit each name the process: give one of them", 2)
    if watch is not None and format_ == "json":
        stop("--watch tells changes in lines of text: leave out --format json", 2)
    _, found = load_repo(repo)
    subject = subject_of(found, stack, service, port)
    with hashing() as progress:
        looked = subject.look(pid, unit, files, progress)
    if format_ == "json":
        show(as_json(as_shape(looked, subject.service)))
    elif brief or watch is not None:
        show(f"{summary(looked, subject.service)}\n")
    else:
        show(render(looked, subject.service, width(), all_))
    if watch is not None:
        looked = _watched(lambda: subject.look(pid, unit, files), looked, watch)
    sys.exit(0 if looked.is_proven else 1 if looked.differing else 3)


@dataclass
class Subject:
    """A stack at its place."""

    repo: Repo
    service: str
    stack: Item
    site: Site
    place: Place
    port: int
    command: Command
    asked: Asked = field(default_factory=Asked)

    def look(
        self,
        pid: int | None,
        unit: str | None = None,
        files: tuple[Path, ...] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Find the process and look at it once; ends where nobody can tell which one it is."""
        try:
            who = pid or (pid_of_unit(unit) if unit else pid_at(self.port))
        except Unobservable as error:
            stop(f"{self.stack.name} cannot be verified: {error}")
        if who is None:
            return nobody(self.stack, f"unit {unit}" if unit else f"port {self.port}")
        return verified(
            self.repo, self.service, self.stack, who, port=self.port, command=self.command, files=files,
            secrets=self.place.secrets, asked=self.asked, progress=progress,
        )  # fmt: skip


def subject_of(found: Repo, name: str, service: str | None, port: int | None) -> Subject:
    """What a name on the command line means, with its place; ends where it has none."""
    stack = named(found, "stack/v1", name, service)
    its = stack.service or service or stop(f"the stack {name} belongs to no service: give --service", 2)
    site_name, _, model = its.partition("/")
    site, place = found.find("site/v1", site_name), place_of(its, found)
    if site is None or site.model is None or place is None:
        stop(f"no site says where {its} runs: add {model} under services in manifests/sites/{site_name}.yaml")
    where = port or place.port
    if where is None:
        stop(f"the site {site_name} does not say on which port {its} listens: add it there, or give --port")
    role = next(iter(stack.model.processes))
    if len(stack.model.processes) > 1:
        stop(
            f"the stack {name} has the processes {', '.join(stack.model.processes)}; hio verify looks at one"
        )
    try:
        command = command_of(stack.model, role, site.model, place, where)
    except Unplaced as error:
        stop(str(error))
    return Subject(found, its, stack, site.model, place, where, command)


def _watched(look: Callable[[], Verification], looked: Verification, seconds: float) -> Verification:
    """The last look before somebody interrupts."""
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(seconds)
            again = look()
            for line in changes(looked, again):
                show(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
            looked = again
    return looked
