"""Processes that a trial owns: how they are started, found again and ended.

Invariants: a signal goes only to a process whose identity (boot, pid, start) was checked after it was pinned by a
pidfd, or to our own child that is not reaped, whose id the kernel cannot give to others. Nothing is found by name.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hio_validate.command import Command

TRIAL = "HIO_TRIAL"
"""Environment variable that marks a process with the folder of its job."""
CAMPAIGN = "HIO_CAMPAIGN"
"""Environment variable that carries the run id of the campaign, on every process of its cells (contract 10.2)."""

_PF_EXITING = 0x4
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_TERM_S = 10.0
_KILL_S = 10.0


@dataclass(frozen=True)
class Identity:
    """One process of one boot: what its id alone cannot say, since the kernel gives ids out again."""

    boot: str
    pid: int
    ticks: int
    """Start in clock ticks since boot."""

    def as_data(self) -> dict[str, str | int]:
        return {"boot": self.boot, "pid": self.pid, "ticks": self.ticks}


def identity_from(data: Mapping[str, str | int]) -> Identity:
    """What `as_data` wrote."""
    return Identity(str(data["boot"]), int(data["pid"]), int(data["ticks"]))


def boot_id() -> str:
    """The kernel's name of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identity_of(pid: int) -> Identity | None:
    """Who has this process id now; None if nobody, or only what has ended and waits to be reaped.

    A process whose first thread has ended still holds its sockets and memory until its last one has.
    """
    fields = _stat(pid)
    if not fields or (fields[0] in "ZX" and int(fields[17]) <= 1):
        return None
    return Identity(boot_id(), pid, int(fields[19]))


def is_alive(who: Identity) -> bool:
    """Whether exactly this process still runs."""
    return who.boot == boot_id() and identity_of(who.pid) == who


def is_stopped(pid: int) -> bool:
    """Whether a process was halted by SIGSTOP; one that a debugger holds is not meant."""
    return _stat(pid)[:1] == ["T"]


def is_ending(pid: int) -> bool:
    """Whether a process is on its way to its end, or there; PF_EXITING of include/linux/sched.h, set before it closes anything."""
    return bool(int((_stat(pid) or ["0"] * 7)[6]) & _PF_EXITING)


def become_subreaper() -> None:
    """Whatever outlives its parent below this process becomes its child. Raises OSError."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot become a subreaper")


def spawn(
    command: Command, mark: str, stdout: BinaryIO, stderr: BinaryIO, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a trial process: a group of its own, killed with its parent, marked with its job. Raises OSError.

    Its parent must have one thread: the kernel's signal comes when the thread that started it ends.
    """
    owner = os.getpid()

    def die_with_parent() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != owner:  # it died before the line above
            os._exit(1)

    return subprocess.Popen(
        command.argv,
        env={**command.environment, **(more or {}), TRIAL: mark},
        cwd=command.folder,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        process_group=0,
        preexec_fn=die_with_parent,
    )


def begin(command: Command, log: Path, announce: Callable[[Identity], None]) -> Identity:
    """Start a process for good: a session of its own, bound to nobody, its output appended to `log`.

    Its program runs only after `announce` returned, so that no death of ours leaves a process that is on no record:
    before that moment it ends with us. This process must have one thread. Raises OSError, and what `announce` raises.
    """
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    gate, opener = os.pipe()
    told, teller = os.pipe()
    pid = os.fork()
    if pid == 0:
        _wait_and_become(command, output, gate, teller)
    for each in (output, gate, teller):
        os.close(each)
    try:
        who = identity_of(pid)
        if who is None:
            raise OSError(10, "it ended before its program began")
        announce(who)
        os.write(opener, b"\n")
        refused = os.read(told, 16)
    finally:
        os.close(opener)
        os.close(told)
    if refused:
        os.waitpid(pid, 0)
        raise OSError(int(refused), f"{command.program}: {os.strerror(int(refused))}")
    return who


def _wait_and_become(command: Command, output: int, gate: int, teller: int) -> None:
    """In the child: wait for the word, then be the command; end where the word never comes."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for each in [int(name) for name in os.listdir("/proc/self/fd")]:
            if each > 2 and each not in (gate, teller):
                with suppress(OSError):
                    os.close(each)
        if os.read(gate, 1):
            os.chdir(command.folder)
            os.execve(command.program, command.argv, dict(command.environment))
    except OSError as error:
        os.write(teller, str(error.errno).encode())
    finally:
        os._exit(1)


def send(who: Identity, number: signal.Signals) -> bool:
    """Signal exactly this process; False where it has ended. Raises PermissionError."""
    try:
        pin = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(who):
            return False
        signal.pidfd_send_signal(pin, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(pin)


def wait_for_end(who: Identity, seconds: float) -> bool:
    """Whether a process, ours or not, ends within `seconds`."""
    try:
        pin = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return True
    try:
        return not is_alive(who) or bool(select.select([pin], [], [], seconds)[0]) or not is_alive(who)
    finally:
        os.close(pin)


def children_by_parent() -> dict[int, list[int]]:
    """Parent -> its children, of every process there is; what has ended and is not reaped counts."""
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := _stat(int(entry))):
            found.setdefault(int(fields[1]), []).append(int(entry))
    return found


def descendants(pid: int) -> list[int]:
    """Everything below a process, parents before children, without itself."""
    below, tree = [pid], children_by_parent()
    for each in below:
        below += tree.get(each, ())
    return below[1:]


def carriers(mark: str) -> set[Identity]:
    """Processes that carry the mark of a job, as far as we may see, except ourselves and what started us."""
    wanted, found = os.fsencode(f"{TRIAL}={mark}"), set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with suppress(OSError):
            carried = wanted in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
            if carried and (who := identity_of(int(entry))) is not None:
                found.add(who)
    return found


def end(
    find: Callable[[], Iterable[Identity]],
    term_s: float = _TERM_S,
    *,
    reaping: bool = True,
    spared: Collection[int] = (),
) -> set[Identity]:
    """TERM, wait, KILL, for all that `find` finds, asked again until it finds nothing; what is left over.

    Asked again, because whatever is ended may leave others behind. With `reaping`, our children that ended are
    taken off the list of processes, except the spared.
    """
    asked: set[Identity] = set()
    for number, seconds in ((signal.SIGTERM, term_s), (signal.SIGKILL, _KILL_S)):
        patience = time.monotonic() + seconds
        while (left := set(find())) and time.monotonic() < patience:
            for who in left - asked if number == signal.SIGTERM else left:
                send(who, number)
            asked |= left
            _wait_for_one(left, 0.2)
            if reaping:
                reap(spared)
    if reaping:
        reap(spared)
    return left


def alive_below(pid: int, spared: Collection[Identity] = ()) -> set[Identity]:
    """Identities of everything that runs below a process, except the spared."""
    return {who for each in descendants(pid) if (who := identity_of(each))} - set(spared)


def reap(spared: Collection[int] = ()) -> None:
    """Take the exit codes of our children that ended, so that none stays as a zombie.

    `spared` are those that somebody else waits for.
    """
    for pid in children_by_parent().get(os.getpid(), ()):
        if pid not in spared and _stat(pid)[:1] == ["Z"]:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _wait_for_one(those: Collection[Identity], seconds: float) -> None:
    pins = []
    for who in those:
        with suppress(OSError):
            pins.append(os.pidfd_open(who.pid))
    try:
        select.select(pins, [], [], seconds)
    finally:
        for pin in pins:
            os.close(pin)


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; none where nobody has the id."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
