"""Who serves at a port now, in a sentence: part of what is known before a trial (contract 4.9)."""

from __future__ import annotations

from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import owner_of


def serving_on(port: int) -> str:
    """The one process that listens on a port, its program and its start; else why there is none to name."""
    try:
        owner = owner_of(port)
        path, deleted = proc.executable_path(owner.pid)
        began = proc.started_at(proc.identity(owner.pid).ticks)
    except Unobservable as error:
        return str(error)
    gone = " (its file was replaced or deleted)" if deleted else ""
    return f"process {owner.pid}, {path}{gone}, started {began}, listens on {owner.listener}"
