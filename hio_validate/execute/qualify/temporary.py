"""A stack's process for as long as it is probed: on a port of its own, ended by its identity with all it left behind.

Invariant: it dies with hio, even when hio is killed; it is no service, and nobody but the probes is sent to it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hio_validate.command import Command
from hio_validate.execute import owned
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.observe.endpoints import Server, get
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listening_of

LOG = "server.log"
_POLL_S = 0.1


class CannotStart(Exception):
    """The process did not come to serve; one sentence."""


def free_port() -> int:
    """A port of this host that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    command: Command, port: int, secrets: dict[str, str], folder: Path, start_s: float
) -> Iterator[tuple[int, Command]]:
    """Its process id and the command with its whole environment, once it is ready. Raises CannotStart.

    `folder` gets its log, and is the mark that its processes carry. Call it from a thread that outlives the block.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = folder / LOG
    marked = replace(command, environment={**command.environment, owned.TRIAL: str(folder)})
    try:
        with log.open("wb") as output:
            child = owned.spawn(revealed(marked, secrets), str(folder), output, output)
    except (OSError, Unresolvable) as error:
        raise CannotStart(f"{command.program} cannot be started: {error}") from None
    who = owned.identity_of(child.pid)
    try:
        _await(child, port, log, start_s)
        yield child.pid, marked
    finally:
        own = {who} if who else set()
        owned.end(
            lambda: (
                {each for each in own if owned.is_alive(each)}
                | owned.alive_below(child.pid)
                | owned.carriers(str(folder))
            ),
            reaping=False,
        )
        child.kill()
        child.wait()


def _await(child: subprocess.Popen[bytes], port: int, log: Path, start_s: float) -> None:
    """Until it alone listens and is healthy. Raises CannotStart."""
    end = time.monotonic() + start_s
    why = "it does not listen"
    while time.monotonic() < end:
        if child.poll() is not None:
            raise CannotStart(f"it ended at once; its log ends: {_last_words(log)}")
        try:
            listener = listening_of(child.pid, port)
        except Unobservable as error:
            listener, why = None, error.reason
        if listener is not None:
            status = get(Server.behind(listener), "/health").status
            if status == 200:
                return
            why = f"/health answers HTTP {status}"
        time.sleep(_POLL_S)
    raise CannotStart(f"it is not ready within {start_s:g} s: {why}; its log ends: {_last_words(log)}")


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").split(os.linesep)
    return " ".join(next((each for each in reversed(lines) if each.strip()), "it said nothing").split())
