"""The systemd backend: a system or user unit, spoken to through `systemctl` alone.

Every call is on record with what it answered. Never run live by hio's own tests, which put a stand-in on PATH.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

from hio_validate.execute import owned
from hio_validate.execute.backends import Announce, CannotSwitch
from hio_validate.execute.journal import now
from hio_validate.execute.owned import Identity

_CALL_S, _MAIN_S, _POLL_S = 120.0, 30.0, 0.1
LOG = "systemctl.jsonl"


class Systemd:
    """One unit. `record` is the file that every call is appended to."""

    def __init__(self, unit: str, *, user: bool, record: Path) -> None:
        self.unit, self.user, self.record = unit, user, record
        self.name = "systemd-user" if user else "systemd"

    def main(self) -> Identity | None:
        pid = self._call("show", "-p", "MainPID", "--value", self.unit).strip()
        return owned.identity_of(int(pid)) if pid.isdigit() and pid != "0" else None

    def is_kept(self) -> bool:
        return self.main() is not None

    def start(self, announce: Announce, begun: Identity | None = None) -> Identity:
        """The unit's main process; `start` leaves a unit alone that runs already."""
        self._call("daemon-reload")
        self._call("start", self.unit)
        end = time.monotonic() + _MAIN_S
        while time.monotonic() < end:
            who = self.main()
            if who is not None:
                announce(who)
                return who
            time.sleep(_POLL_S)
        raise CannotSwitch(f"{self.unit} has no main process; journalctl -u {self.unit} says why")

    def stop(self, begun: Identity | None = None) -> None:
        if self.main() is None and not self._is_loaded():
            return
        self._call("stop", self.unit)
        if (who := self.main()) is not None:
            raise CannotSwitch(f"{self.unit} was stopped and still has the process {who.pid}")

    def _is_loaded(self) -> bool:
        return self._call("show", "-p", "LoadState", "--value", self.unit).strip() == "loaded"

    def _call(self, *words: str) -> str:
        argv = ["systemctl", *(["--user"] if self.user else []), *words]
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_CALL_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self._note(argv, None, "", str(error))
            raise CannotSwitch(f"{' '.join(argv)} cannot be run: {error}") from None
        self._note(argv, done.returncode, done.stdout, done.stderr)
        if done.returncode:
            said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
            raise CannotSwitch(f"{' '.join(argv)} failed: {said}")
        return done.stdout

    def _note(self, argv: list[str], code: int | None, out: str, err: str) -> None:
        """The commands behind every claim are kept (contract 5.7)."""
        line = json.dumps({"at": now(), "argv": argv, "code": code, "stdout": out, "stderr": err}) + "\n"
        self.record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.record, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
