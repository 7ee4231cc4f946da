"""Starts the guardian of a job, in a session of its own, so that the job survives whoever asked for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GUARDIAN = ("hio_validate.execute.guardian",)
LOG = "guardian.log"


@dataclass
class Guardian:
    """A guardian that was started here; it is not ours to end."""

    process: subprocess.Popen[bytes]

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def leave(self) -> None:
        """It goes on without us."""
        self.process.returncode = 0  # nobody waits for it here


def start(folder: Path, lock: socket.socket, guardian: Sequence[str] | None = None) -> Guardian:
    """The guardian of the job in `folder`; it inherits the lock, which may be closed here afterwards. Raises OSError."""
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *(guardian or GUARDIAN), str(folder), "--lock", str(lock.fileno())],
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock.fileno(),),
        )
    return Guardian(process)


def _environment() -> dict[str, str]:
    """Ours, with the places our modules come from written out, since the working directory is another one."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(each) for each in sys.path)}
