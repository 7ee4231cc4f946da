"""What hio deploy and hio rollback share: the lock, the guardian, following it to its end."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from hio_validate.cli.shared import as_json, show, stop
from hio_validate.execute import launch, lock, owned, preflight
from hio_validate.execute.deploy import deployments, guardian
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.work import Work, as_text
from hio_validate.execute.journal import JournalLost
from hio_validate.execute.journaled import sha256
from hio_validate.execute.live import serving_on
from hio_validate.observe.sockets import listening
from hio_validate.report import deployment as told

GUARDIAN = (guardian.MODULE,)
PAGE = "rollback.md"
_LOOK_S = 0.1


def serving(work: Work) -> str:
    """Who serves at the port now, in a sentence."""
    return serving_on(work.port) if listening(work.port) else f"nobody listens on port {work.port}"


def digest_of(work: Work) -> str:
    """What a plan is known by, however its file is spaced."""
    return sha256(as_text(work).encode())


def begin(state: Path, work: Work, detach: bool, format_: str) -> None:
    """Carry it out; ends with the exit code of what happened."""
    reason = preflight.refused(state)
    if reason:
        stop(reason, 1)
    try:
        taken = lock.take()
    except lock.Taken as error:
        stop(str(error), 1)
    try:
        made = deployments.create(state, work, digest_of(work))
        if work.kind == "deploy":
            text = told.rollback_markdown(work, str(made.folder), serving(work))
            deployments.write(made.folder / PAGE, text.encode())
        process = launch.start(made.folder, taken, GUARDIAN)
    except FileExistsError:
        stop(f"a deployment is called {work.name} already: its plan was carried out; make it again", 1)
    except (OSError, JournalLost) as error:
        stop(f"it cannot be begun in {state}: {error}")
    taken.close()
    if detach:
        click.echo(f"{made.name} runs; hio deploy --list says how it ends")
        process.leave()
        return
    try:
        sys.exit(_follow(made, process, format_))
    except KeyboardInterrupt:
        click.echo(f"\nno longer watching; {made.name} goes on. hio deploy --list says how it ends", err=True)
        sys.exit(130)


def _follow(made: Deployment, process: launch.Guardian, format_: str) -> int:
    seen = 0
    while True:
        gone = process.has_ended
        made = Deployment(made.folder)
        for event in made.events[seen:]:
            line = told.progress(event)
            if line and format_ == "text":
                show(line)
        seen = len(made.events)
        if gone and not any(owned.is_alive(who) for who in made.keepers.values()):
            return _ended(made, format_)
        time.sleep(_LOOK_S)


def _ended(made: Deployment, format_: str) -> int:
    wanted = "deployed" if made.work.kind == "deploy" else "rolled-back"
    code = 0 if (made.last("closed") or {}).get("outcome") == wanted else 1
    if format_ == "json":
        show(as_json(told.outcome_shape(made, code)))
    elif made.state == "unsafe":
        click.echo(told.unsafe_sentence(made), nl=False, err=True)
    elif made.state == "prepared":
        click.echo(f"hio: {made.name} did not begin; {made.folder / launch.LOG} says why", err=True)
    return code
