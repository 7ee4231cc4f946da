"""Starts the guardian of a job, in a session of its own, so that the job survives whoever asked for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

GUARDIAN = ("hio_validate.execute.guardian",)
LOG = "guardian.log"


def start(folder: Path, lock: socket.socket, guardian: Sequence[str] = GUARDIAN) -> subprocess.Popen[bytes]:
    """The guardian of the job in `folder`; it inherits the lock, which may be closed here afterwards. Raises OSError."""
    with (folder / LOG).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", *guardian, str(folder), "--lock", str(lock.fileno())],
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock.fileno(),),
        )


def _environment() -> dict[str, str]:
    """Ours, with the places our modules come from written out, since the working directory is another one."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(each) for each in sys.path)}
