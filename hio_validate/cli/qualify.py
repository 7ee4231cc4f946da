"""hio qualify: whether a stack does what serving needs, tried on a live process of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import click

from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import FiniteRange, as_json, format_option, repo_option, show, stop, width
from hio_validate.cli.verify import Subject, subject_of
from hio_validate.command import Command
from hio_validate.execute import approvals, jobs, lock, preflight
from hio_validate.execute.arms import Host, NotStartable, command
from hio_validate.execute.journal import now
from hio_validate.execute.qualify import record, temporary
from hio_validate.execute.qualify.run import NotTheStack, Probed, probed
from hio_validate.execute.secrets import Unresolvable, key_of
from hio_validate.execute.verified import Verification
from hio_validate.ledger import Ledger, ledgers
from hio_validate.report import qualification, verification
from hio_validate.settings import places


@click.command()
@click.argument("stack")
@click.option(
    "--service", metavar="SITE/NAME", help="Whose stack, where several services have one of that name."
)
@click.option("--pid", type=click.IntRange(min=1), help="Probe this process instead of starting one.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Probe who listens there instead of starting one."
)
@click.option("--name", help="Name of the qualification (default: the stack's and the day).")
@click.option("--start-s", type=FiniteRange(min=1),
              help="Seconds within which a started process must be ready (default: the site's start_s, else 120).")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do it; without it only what would be done is shown.")
@format_option
@repo_option
def qualify(
    stack: str, service: str | None, pid: int | None, port: int | None, name: str | None, start_s: float | None, yes: bool,
    format_: str, repo: Path | None,
) -> None:  # fmt: skip
    """Probe a live process of STACK and write down what it does: identity, streaming, reuse, slots, context.

    Without --pid or --port a process is started on a free port, under the lock of this host, and ended afterwards.
    Exit code 0: every probe passed. 1: one failed, or it is refused. 3: none failed, and one could not be observed.
    """
    root, found = load_repo(repo)
    live = pid is not None or port is not None
    subject = subject_of(found, stack, service, port)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    chosen = name or record.free_name(root, subject.service, f"{subject.stack.name}-{day}")
    taken = next((file for file in record.files_of(subject.service, chosen) if (root / file).exists()), None)
    if taken:
        stop(f"{taken} exists and a qualification is never replaced; give another --name", 2)
    if not live:
        _refuse(subject)
    if not yes:
        show(_plan(subject, chosen, live))
        return
    with _process(subject, pid, live, chosen, start_s) as (target, who):
        outcome = _probed(target, target.look(who), format_)
    wrote = _written(root, target, chosen, outcome)
    if format_ == "json":
        pin = outcome.verification.stack
        show(as_json(qualification.as_shape(chosen, subject.service, pin, outcome.probes, wrote)))
    else:
        show(
            qualification.render(chosen, outcome.probes, width())
            + "".join(f"\nwrote {file}" for file in wrote)
            + "\n"
        )
    sys.exit(0 if outcome.passed else 1 if outcome.failed else 3)


def _refuse(subject: Subject) -> None:
    """What keeps a process from being started here; ends with every reason."""
    ledger = ledgers(subject.repo).get(subject.service, Ledger(subject.service, {}))
    approval = approvals.for_stack("load-test", subject.stack, ledger, now())
    reasons = [preflight.refused(jobs.state_folder()), approval if isinstance(approval, str) else None]
    told = [each for each in reasons if each]
    if told:
        stop("; ".join(told), 1)


def _plan(subject: Subject, name: str, live: bool) -> str:
    about = f"{subject.stack.name} on {subject.service}"
    what = (
        f"will ask who listens on port {subject.port}, if it is proven to be the stack"
        if live
        else f"will start {subject.command.program} on a free port, ask it, and end it"
    )
    return (
        f"{about}: {what}\n"
        "  probes: identity, streaming, append-reuse, disconnect, slots, populated-context\n"
        f"  writes: {record.files_of(subject.service, name)[0]}\n"
        "nothing has happened yet; add --yes to do it\n"
    )


@contextmanager
def _process(
    subject: Subject, pid: int | None, live: bool, name: str, start_s: float | None
) -> Iterator[tuple[Subject, int | None]]:
    """The subject as it is to be looked at, and its process; one that is started here ends with the block."""
    if live:
        yield subject, pid
        return
    within_s = start_s or _start_s(subject)
    held = _lock()
    try:
        port = temporary.free_port()
        made = _command(subject, port)
        folder = jobs.state_folder() / "qualify" / name
        with temporary.serving(made, port, dict(subject.place.secrets), folder, within_s) as (who, marked):
            yield replace(subject, port=port, command=marked), who
    except temporary.CannotStart as error:
        stop(f"{subject.stack.name} cannot be probed: {error}", 1)
    finally:
        held.close()


def _start_s(subject: Subject) -> float:
    try:
        return places.start_s(subject.place)
    except ValueError as error:
        stop(f"the site of {subject.service}: {error}", 1)


def _lock() -> lock.Lock:
    try:
        return lock.take()
    except lock.Taken as error:
        stop(str(error), 1)


def _command(subject: Subject, port: int) -> Command:
    role = next(iter(subject.stack.model.processes))
    try:
        return command(subject.stack.model, role, Host(subject.site, subject.place, port), subject.stack.name)
    except NotStartable as error:
        stop(str(error), 1)


def _probed(subject: Subject, seen: Verification, format_: str) -> Probed:
    """Every probe; ends where the process is not proven to be the stack."""
    host = subject.place.host or "127.0.0.1"
    asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    try:
        key = key_of(subject.command, subject.place.secrets)
        return probed(seen, asked, subject.port, key, lambda probe: click.echo(f"{probe} …", err=True))
    except Unresolvable as error:
        stop(str(error))
    except NotTheStack as error:
        _refused(subject, seen, str(error), format_)


def _refused(subject: Subject, seen: Verification, why: str, format_: str) -> NoReturn:
    if format_ == "json":
        show(as_json(verification.as_shape(seen, subject.service)))
    else:
        show(verification.render(seen, subject.service, width()))
    stop(f"nothing was asked of process {seen.pid}: {why}", 1 if seen.differing else 3)


def _written(root: Path, subject: Subject, name: str, outcome: Probed) -> tuple[str, str, str]:
    role = next(iter(subject.stack.model.processes))
    try:
        return record.write(root, subject.service, subject.stack, role, name, outcome)
    except OSError as error:
        stop(f"the qualification cannot be written: {error}")
