"""One trial or deployment a host: a listening abstract socket, which the kernel takes away with the last process that holds it."""

from __future__ import annotations

import errno
import hashlib
import os
import socket

Lock = socket.socket
TAKEN = "another trial or deployment runs on this host: hio runs and hio deploy --list show it"


class Taken(Exception):
    """Another trial or deployment runs on this host."""


def take() -> Lock:
    """The lock, held as long as the socket is open here or in a process that inherited it. Raises Taken."""
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        held.bind(_name())
        held.listen(1)
    except OSError as error:
        held.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise Taken(TAKEN) from None
    return held


def is_taken() -> bool:
    """Whether a trial or a deployment holds the lock now."""
    try:
        take().close()
    except Taken:
        return True
    return False


def _name() -> str:
    return name_for(os.environ.get("HIO_STATE"))


def name_for(chosen: str | None) -> str:
    """One name a host, wherever its jobs are kept: two folders must not mean two trials at once.

    Below a folder for temporary files it is the folder's own, so that tests stay among themselves.
    """
    if chosen:
        folder = os.path.realpath(chosen)
        temporary = (os.environ.get("TMPDIR") or "/tmp", "/tmp", "/var/tmp")
        if any(folder.startswith(os.path.realpath(each).rstrip("/") + "/") for each in temporary):
            return "\0hio-trial-" + hashlib.sha256(folder.encode()).hexdigest()[:32]
    return "\0hio-trial"
