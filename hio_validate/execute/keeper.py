"""Keeps one service of the local backend: starts it from launch.json, starts it again when it crashes, ends it on TERM.

    python -m hio_validate.execute.keeper FOLDER

Invariants: one keeper a folder (a lock the kernel takes away with it) and one service a keeper; the launch file is read
once, when it begins, so that what is installed meanwhile starts only with the next keeper; whom it started is on record
before its program runs. A keeper that was killed leaves its service serving: the next keeper of the same launch file
takes that service over instead of starting a second one.
"""  # fmt: skip

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hio_validate import launch_file
from hio_validate.command import Command
from hio_validate.execute import owned
from hio_validate.execute.journal import Journal, read
from hio_validate.execute.secrets import Unresolvable, revealed

LOCK = "keeper.lock"
LOG = "service.log"
MODULE = "hio_validate.execute.keeper"

_TERM_S, _KILL_S = 20.0, 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_STEADY_S = 60.0
"""A service that ran as long as this has earned a first pause again."""
_CRASHES = 6
"""So many ends in a row, none after a steady time, and it is given up."""


class Keeper:
    """One service, from its start until it is asked to end or given up."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.journal = folder, Journal(folder)
        self.heard, self.alarm = os.pipe()
        os.set_blocking(self.alarm, False)

    def run(self) -> int:
        signal.set_wakeup_fd(self.alarm)
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if not _locked(self.folder):
            return 3
        me = owned.identity_of(os.getpid())
        try:
            command, digest = _to_start(self.folder / launch_file.NAME)
        except (launch_file.Unlaunchable, Unresolvable) as error:
            self.journal.write("not-kept", why=str(error))
            return 1
        self.journal.write("keeping", keeper=me.as_data() if me else None, launch=digest)
        return self._keep(command, digest)

    def _keep(self, command: Command, digest: str) -> int:
        who = self._left_by_another(digest)
        pause, crashes = _FIRST_PAUSE_S, 0
        while True:
            began = time.monotonic()
            if who is None:
                try:
                    who = owned.begin(command, self.folder / LOG, lambda each: self._note(each, digest))
                except OSError as error:
                    self.journal.write("given-up", why=str(error.strerror))
                    return 1
                self.journal.write("running", who=who.as_data())
            if self._asked_to_end_before(who):
                return self._end(who)
            self.journal.write("ended", who=who.as_data(), **_reaped(who.pid))
            steady = time.monotonic() - began >= _STEADY_S
            pause, crashes = (_FIRST_PAUSE_S, 1) if steady else (pause, crashes + 1)
            who = None
            if crashes >= _CRASHES:
                self.journal.write("given-up", why=f"it ended {crashes} times in a row")
                return 1
            if select.select([self.heard], [], [], pause)[0]:
                self.journal.write("asked-to-end")
                return 0
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _note(self, who: owned.Identity, digest: str) -> None:
        self.journal.write("service", who=who.as_data(), launch=digest)

    def _left_by_another(self, digest: str) -> owned.Identity | None:
        """The service of a keeper that died, where it serves as this launch file says."""
        data = next((each.data for each in reversed(read(self.folder)) if each.event == "service"), None)
        if data is None or not owned.is_alive(who := owned.identity_from(data["who"])):
            return None
        if data["launch"] != digest:
            self.journal.write("not-kept", why=f"process {who.pid} of another launch file still runs")
            raise SystemExit(1)
        self.journal.write("taken-over", who=who.as_data())
        return who

    def _asked_to_end_before(self, who: owned.Identity) -> bool:
        """Wait; whether we were asked to end while the service still ran."""
        try:
            pin = os.pidfd_open(who.pid)
        except ProcessLookupError:
            return False
        try:
            while owned.is_alive(who):
                ready, _, _ = select.select([pin, self.heard], [], [], 5.0)
                if self.heard in ready:
                    return True
            return False
        finally:
            os.close(pin)

    def _end(self, who: owned.Identity) -> int:
        self.journal.write("asked-to-end")
        for number, patience in ((signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S)):
            owned.send(who, number)
            if owned.wait_for_end(who, patience):
                self.journal.write("ended", who=who.as_data(), **_reaped(who.pid))
                return 0
        self.journal.write("not-ended", who=who.as_data())
        return 1


def _to_start(file: Path) -> tuple[Command, str]:
    """The command of a launch file with the values of its secrets, and the digest of the bytes that say it.

    Raises Unlaunchable and Unresolvable.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise launch_file.Unlaunchable(f"{file} cannot be read: {error.strerror}") from None
    launch = launch_file.read(content, str(file))
    return revealed(launch.command, launch.secrets), hashlib.sha256(content).hexdigest()


def _locked(folder: Path) -> bool:
    """Whether this process holds the folder's lock from now on; whoever only looks holds it for a moment, too."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for _ in range(40):
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.05)
    return False


def _reaped(pid: int) -> dict[str, int | None]:
    """How our child ended; of one that another keeper had started nobody can say."""
    with suppress(ChildProcessError):
        return {"code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}
    return {"code": None}


def main(arguments: Sequence[str]) -> int:
    """`FOLDER`: keep the service whose launch file lies there."""
    parser = argparse.ArgumentParser(prog="keeper")
    parser.add_argument("folder", type=Path)
    return Keeper(parser.parse_args(arguments).folder).run()


if __name__ == "__main__":
    import sys  # only where this module is the program

    raise SystemExit(main(sys.argv[1:]))
