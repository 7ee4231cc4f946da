"""The local backend: a keeper of hio (execute/keeper.py) in a session of its own, one folder a service.

Invariant: whoever stops a service here ends its keeper first and then the service by its identity, so that nothing
starts it again; a keeper that was begun and never came to its lock counts as one.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hio_validate.command import Command
from hio_validate.execute import keeper, owned
from hio_validate.execute.backends import Announce, CannotSwitch
from hio_validate.execute.journal import read
from hio_validate.execute.owned import Identity
from hio_validate.launch_file import NAME

_BEGIN_S, _TERM_S, _KILL_S, _POLL_S = 30.0, 40.0, 10.0, 0.05
"""A keeper gives its service 30 s to end before it gives up."""


class Local:
    """The service whose launch file lies in one folder."""

    name = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def launch_file(self) -> Path:
        return self.folder / NAME

    @property
    def log(self) -> Path:
        return self.folder / keeper.LOG

    def keeper(self) -> Identity | None:
        """The keeper that holds the lock of the folder."""
        return self._alive("keeping", "keeper") if self._is_locked() else None

    def main(self) -> Identity | None:
        return self._alive("service", "who")

    def is_kept(self) -> bool:
        return self._is_locked()

    def start(self, announce: Announce, begun: Identity | None = None) -> Identity:
        ours: Identity | None = None
        end = time.monotonic() + _BEGIN_S
        while time.monotonic() < end:
            kept = self.keeper()
            if kept is not None and (found := self._started_by(kept)) is not None:
                return found
            if kept is None and not any(who is not None and owned.is_alive(who) for who in (begun, ours)):
                if ours is not None and not self._is_locked():
                    raise CannotSwitch(f"it cannot be started: {self._why_not()}")
                ours = ours or self._begin_keeper(announce)
            time.sleep(_POLL_S)
        raise CannotSwitch(
            f"its keeper started nothing within {_BEGIN_S:g} s; {self.folder} says how far it came"
        )

    def stop(self, begun: Identity | None = None) -> None:
        end = time.monotonic() + _TERM_S
        while (keepers := self._keepers(begun)) and time.monotonic() < end:
            for who in keepers:
                owned.send(who, signal.SIGTERM)
                owned.wait_for_end(who, end - time.monotonic())
        for who in self._keepers(begun):
            _ended(who, signal.SIGKILL)
        left = self.main()
        if left is not None and not (_ended(left, signal.SIGTERM, _TERM_S) or _ended(left, signal.SIGKILL)):
            raise CannotSwitch(f"process {left.pid} does not end, not even killed")

    def _keepers(self, begun: Identity | None) -> list[Identity]:
        found = self.keeper()
        return [who for who in {found, begun} if who is not None and owned.is_alive(who)]

    def _begin_keeper(self, announce: Announce) -> Identity:
        command = Command(sys.executable, ("-P", "-m", keeper.MODULE, str(self.folder)), _environment())
        try:
            return owned.begin(command, self.folder / "keeper.log", announce)
        except OSError as error:
            raise CannotSwitch(f"its keeper cannot be started: {error.strerror}") from None

    def _started_by(self, kept: Identity) -> Identity | None:
        """The service that a keeper started or took over since it began, if it lives or has lived."""
        found = None
        for each in read(self.folder):
            if each.event == "keeping":
                found = None
            elif each.event in ("running", "taken-over") and found is None:
                found = owned.identity_from(each.data["who"])
        return found if self.keeper() == kept else None

    def _why_not(self) -> str:
        data = next((each.data for each in reversed(read(self.folder)) if "why" in each.data), {})
        return str(data.get("why", f"{self.folder / 'keeper.log'} says why"))

    def _alive(self, event: str, role: str) -> Identity | None:
        data = self._last(event)
        who = owned.identity_from(data[role]) if data else None
        return who if who is not None and owned.is_alive(who) else None

    def _last(self, event: str) -> Mapping[str, Any] | None:
        return next((each.data for each in reversed(read(self.folder)) if each.event == event), None)

    def _is_locked(self) -> bool:
        try:
            lock = os.open(self.folder / keeper.LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False


def _ended(who: Identity, number: signal.Signals, patience_s: float = _KILL_S) -> bool:
    owned.send(who, number)
    return owned.wait_for_end(who, patience_s)


def _environment() -> dict[str, str]:
    """What a keeper needs to find its modules; its service gets only what the launch file says."""
    paths = os.pathsep.join(os.path.abspath(each) for each in sys.path)
    kept = {
        name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "HIO_STATE")
    }
    return {**kept, "PYTHONPATH": paths}
