"""Outlives the supervisor of one job: when that dies without closing it, what is left is ended and the host brought back.

Invariants: it waits for its child and nothing else; the death pipe is held open by it alone, so that its own death
reaches the supervisor at once.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hio_validate.execute import closing, owned
from hio_validate.execute.closing import Parts
from hio_validate.execute.jobs import Job
from hio_validate.execute.journal import Journal, JournalLost
from hio_validate.execute.work import Ceilings

GRACE_S = 300.0
"""What ending, proving and recording may take, beside the trial itself and the start of the service."""
SUPERVISOR = ("hio_validate.execute.supervisor",)


def main(arguments: Sequence[str], parts: Parts | None = None, supervisor: Sequence[str] = SUPERVISOR) -> int:
    """`FOLDER --lock FD`: keep the job in FOLDER. `supervisor` is the module that is started, with its first words."""
    parser = argparse.ArgumentParser(prog="guardian")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lock", type=int, required=True)
    given = parser.parse_args(arguments)
    folder: Path = given.folder
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _heard)
    owned.become_subreaper()
    who = owned.identity_of(os.getpid())
    Journal(folder).write("guarded", guardian=who.as_data() if who else None)
    child = _start(folder, given.lock, supervisor)
    signal.signal(signal.SIGTERM, lambda _number, _frame: child.terminate())
    code = _outlived(child, Job(folder).work.ceilings)
    if Job(folder).is_closed:
        return 0
    return 0 if _take_over(folder, parts or closing.real_parts(), code) else 1


def _start(folder: Path, lock: int, supervisor: Sequence[str]) -> subprocess.Popen[bytes]:
    death, held = os.pipe()
    os.set_inheritable(lock, True)
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", *supervisor, str(folder), "--death", str(death)],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(lock, death),
    )
    os.set_inheritable(lock, False)
    os.close(death)
    assert not os.get_inheritable(held)
    return child


def _outlived(child: subprocess.Popen[bytes], limits: Ceilings) -> int:
    """Wait for the supervisor; one that has stayed longer than trial and restoration may take is halted or hangs."""
    pin = os.pidfd_open(child.pid)
    most = limits.total_s + limits.start_s + GRACE_S
    if not ended_within(pin, most):
        child.kill()
    os.close(pin)
    return child.wait()


def ended_within(pin: int, seconds: float) -> bool:
    """Whether the process of a descriptor ends within `seconds`."""
    return bool(select.select([pin], [], [], seconds)[0])


def _take_over(folder: Path, parts: Parts, code: int) -> bool:
    """The supervisor is gone and did not close the job; whether the job is closed now."""
    job, ledger = Job(folder), Journal(folder)
    why = _told(job, code)
    with suppress(JournalLost):  # the host comes back all the same; the job stays open
        ledger.write("supervisor-lost", code=code, why=why)
    if not closing.end_what_is_left(job, below_us=True):
        return False
    return closing.conclude(folder, parts, *closing.how_it_ended(job, why))


def _told(job: Job, code: int) -> str:
    if code < 0:
        return f"the supervisor was ended by {signal.Signals(-code).name}"
    open_end = job.current("not-restored")
    return (
        "the service could not be proven to serve again"
        if open_end
        else f"the supervisor ended with exit code {code}"
    )


def _heard(_number: int, _frame: object) -> None:
    """A signal that means nothing to a guardian, and is not inherited as ignored."""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
