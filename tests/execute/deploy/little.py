"""Guardian, worker and hio with a death at a chosen event, and a quicker look at free ports.

    python -m tests.execute.deploy.little guardian|worker|hio …

$LITTLE_KILL: `ROLE before|after EVENT`, separated by commas: the process of that role is killed with SIGKILL just before
or after it writes that event. $LITTLE_GUARDIAN_DIES: when it takes over. $LITTLE_EDIT: lines of `EVENT PROGRAM`: a Python
program that the worker runs after that event. $LITTLE_OVER: after this event the worker waits no longer than until
somebody listens, and not long for that. $LITTLE_REAL: with the verification of hio itself.
"""  # fmt: skip

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hio_validate.execute import service
from hio_validate.execute.deploy import guardian, parts, recording, worker
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import Parts
from hio_validate.execute.deploy.work import Work
from hio_validate.execute.journal import Journal
from hio_validate.execute.owned import Identity
from hio_validate.execute.proof import PASSED, Restoration, captured, owner, prefix_reuse, serves_as
from hio_validate.observe import proc
from hio_validate.observe.sockets import listening

MODULE = "tests.execute.deploy.little"
GUARDIAN = (MODULE, "guardian")


def dying(role: str) -> Callable[..., None]:
    """Journal.write, with the deaths of a role."""
    write = Journal.write
    deaths = [each.split() for each in os.environ.get("LITTLE_KILL", "").split(",") if each]
    edits = dict(each.split(" ", 1) for each in os.environ.get("LITTLE_EDIT", "").splitlines())

    def wrapped(self: Journal, event: str, **data: Any) -> None:
        if [role, "before", event] in deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, event, **data)
        if event in edits and role == "worker":
            subprocess.run([sys.executable, "-c", edits[event]], check=True)
        if [role, "after", event] in deaths:
            os.kill(os.getpid(), signal.SIGKILL)

    return wrapped


def verify(work: Work, who: Identity, deployment: Deployment) -> Restoration:
    """The checks that a small engine can pass: it is no llama-server, and nobody recorded what it maps."""
    found, new = Restoration(work.to.stack), work.serving(work.to)
    assert new.command
    found.checks["owner"] = owner(new, who)
    found.checks["argv"] = serves_as(new.command, who.pid) or PASSED
    found.checks["environ"] = PASSED if proc.environ(who.pid) == dict(new.command.environment) else "differs"
    found.checks["started"] = PASSED if who.ticks >= deployment.last("starting")["ticks"] else "before"  # type: ignore[index]
    found.checks["prefix-reuse"] = prefix_reuse(new, new.command) or PASSED
    found.process = captured(who.pid, work.port, work.start_s)
    return found


def waited(
    folder: Path, real: Callable[[Callable[[], bool], float], bool], holds: Callable[[], bool], seconds: float
) -> bool:
    """`service.waited`, whose time is over after the event of $LITTLE_OVER."""
    made = Deployment(folder)
    if made.events and made.events[-1].event == os.environ.get("LITTLE_OVER"):
        return real(lambda: bool(listening(made.work.port)), min(seconds, 10.0)) and holds()
    return real(holds, seconds)


PARTS = parts.real_parts() if "LITTLE_REAL" in os.environ else Parts(parts.reasons, verify, recording.write)


def main(words: list[str]) -> int:
    role, rest = words[0], words[1:]
    Journal.write = dying(role)  # type: ignore[method-assign]
    service._SETTLE_S = 0.1
    if role == "hio":
        # Only here: guardian and worker are started hundreds of times.
        from hio_validate import cli
        from hio_validate.cli import switching

        sys.argv[1:] = rest
        switching.GUARDIAN = GUARDIAN  # type: ignore[assignment]
        parts.real_parts = lambda: PARTS
        return cli.run()
    service.waited = partial(waited, Path(rest[0]), service.waited)
    if role == "worker":
        return worker.main(rest, PARTS)
    if "LITTLE_GUARDIAN_DIES" in os.environ:
        guardian.Transaction.conclude = lambda *_words: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[attr-defined]
    return guardian.main(rest, PARTS, (MODULE, "worker"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
