"""The one place where the supervisor waits: child exits, the death pipe, signals, the clock, and the samples.

Invariant: a wait returns what was waited for or raises Abort; while a trial runs, nothing is waited for anywhere
else. There is one thread. The clock counts while the machine sleeps, so that a sleep is a gap, too.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from hio_validate.command import Command
from hio_validate.execute import ceilings as limits
from hio_validate.execute import owned
from hio_validate.execute.cgroup import Group
from hio_validate.execute.journal import now as moment_now
from hio_validate.execute.work import Ceilings
from hio_validate.observe.readings import HostReadings, Reading, Readings

Outcome = Literal["aborted", "failed", "stopped"]

_TERM_S = 10.0
_DYING_S = 60.0
"""What ends frees its memory first, and a busy host lets it wait."""
_LOG_TAIL = 300


class Abort(Exception):
    """The trial ends here: aborted by a limit, failed by itself, or stopped by somebody."""

    def __init__(self, outcome: Outcome, why: str, resumable: bool = False) -> None:
        super().__init__(why)
        self.outcome, self.why, self.resumable = outcome, why, resumable


@dataclass(frozen=True)
class Child:
    """A process that was started here, and what it is called in messages."""

    role: str
    process: subprocess.Popen[bytes]
    log: Path | None = None
    """Where its stderr goes."""

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, of a signal the negative number; None while it runs. It is not reaped by asking, so that its id stays its own."""
        return self.process.returncode if self.process.returncode is not None else _peek(self.pid)

    @property
    def has_ended(self) -> bool:
        return self.code is not None


@dataclass(frozen=True)
class Sample:
    """A reading and when it was taken."""

    at: str
    clock: float
    """Seconds since boot."""
    reading: Reading


class Watch:
    """Starts, waits for and ends the processes of one trial, leg by leg.

    `death` is a descriptor that becomes readable when the guardian dies; `seconds` limits the whole trial. `alone`
    says that all that runs below this process is the trial's, so that what came to us from dead parents is ended.
    """

    def __init__(
        self,
        mark: str = "-",
        ceilings: Ceilings | None = None,
        readings: Readings | None = None,
        *,
        death: int | None = None,
        group: Group | None = None,
        seconds: float | None = None,
        alone: bool = False,
        started: Callable[[str, owned.Identity], None] | None = None,
        marks: Mapping[str, str] | None = None,
    ) -> None:
        self.mark, self.ceilings, self.readings = mark, ceilings, readings or HostReadings()
        self.marks = dict(marks or {})
        """What every process of the trial carries in its environment beside its mark."""
        self.samples: list[Sample] = []
        """Of the current leg, oldest first."""
        self.invalid: list[str] = []
        """Why the current leg does not count; a leg copies it into its record."""
        self.longest_gap_s = 0.0
        self._death, self._group, self._started, self._alone = death, group, started, alone
        self._signals: int | None = None
        self._children: list[Child] = []
        self._pins: dict[int, int] = {}
        self._recent: list[Reading] = []
        self._next = self._last = _clock()
        self._end = self._last + seconds if seconds is not None else None
        self._leg_end: float | None = None

    # -- signals, legs ------------------------------------------------------------------------------------------

    def listen_to_signals(self) -> None:
        """From now on TERM and INT end the trial as stopped, at the next wait; HUP means nothing."""
        source, sink = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._signals = source
        signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _noted)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def begin_leg(self) -> None:
        """Samples, gap and limit of a leg begin; the first sample is taken at once. Raises Abort."""
        self.samples, self.invalid, self.longest_gap_s = [], [], 0.0
        self._recent = []
        self._last = self._next = _clock()
        self._leg_end = self._last + (self.ceilings.leg_s if self.ceilings else math.inf)
        self.tick()

    def end_leg(self, keeping: bool = False) -> None:
        """The leg is over and its limit no longer counts; all that was started is ended, unless it serves the next one."""
        if not keeping:
            self.end_all()
        self._leg_end = None

    # -- processes ----------------------------------------------------------------------------------------------

    def start(
        self, role: str, command: Command, stdout: Path, stderr: Path, more: Mapping[str, str] | None = None
    ) -> Child:
        """Start a process in a group of its own; `more` is added to its environment. Raises Abort."""
        self.tick()
        try:
            with stdout.open("ab") as out, stderr.open("ab") as err:
                process = owned.spawn(command, self.mark, out, err, {**self.marks, **(more or {})})
        except (OSError, subprocess.SubprocessError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise Abort("failed", f"the {role} cannot be started ({command.program}): {why}") from None
        child = Child(role, process, stderr)
        self._children.append(child)
        self._pins[child.pid] = os.pidfd_open(child.pid)
        if self._group:
            self._group.add(child.pid)
        who = owned.identity_of(child.pid)
        if self._started and who:
            self._started(role, who)
        return child

    def until(
        self,
        done: Callable[[], bool],
        seconds: float,
        what: str,
        needs: tuple[Child, ...] = (),
        every_s: float = 0.1,
    ) -> None:
        """Wait until `done()`, asked every `every_s`. Raises Abort after `seconds`, or when a child of `needs` ends."""
        end = _clock() + seconds
        while True:
            self.tick()
            if done():
                return
            for child in needs:
                if child.has_ended:
                    raise self._ended_before(child, what)
            left = end - _clock()
            if left <= 0:
                raise Abort("aborted", f"{what}: not within {seconds:g} s", resumable=True)
            self._wait(min(left, every_s))

    def exit_of(self, child: Child, seconds: float, what: str, needs: tuple[Child, ...] = ()) -> int:
        """Wait until a child ends and give its exit code. Raises Abort after `seconds`, or when a child of `needs` ends first.

        Of a child that fails and one of `needs` that died, whichever is noticed first, the latter is why.
        """
        self.until(lambda: child.has_ended, seconds, what, needs, every_s=60.0)
        seen = _peek(child.pid) if child.process.returncode is None else child.process.returncode
        code = int(seen if seen is not None else child.process.wait())
        for each in needs if code else ():
            if self.died(each):
                raise self._ended_before(each, what)
        return code

    def end(self, child: Child) -> str:
        """TERM, wait, KILL, for the process and all it started; how it exited, in words."""
        if child.process.returncode is not None:
            self._forget(child)
            return self.told(child)
        by_itself = child.has_ended
        below = owned.alive_below(child.pid)
        self._signal_group(child, signal.SIGTERM)
        self._signal_group(child, signal.SIGCONT)  # what is halted hears nothing
        select.select([self._pins[child.pid]], [], [], _TERM_S)
        self._signal_group(child, signal.SIGKILL)
        owned.end(
            lambda: _alive(below), term_s=0, reaping=self._alone, spared={each.pid for each in self._children}
        )
        child.process.wait()  # only now, since until here its id and its group's are its own
        self._forget(child)
        if not self._children:
            self._end_strays()
        return self.told(child) if by_itself else f"ended by hio ({_code(child.process.wait())})"

    def end_all(self) -> None:
        """End every process of the trial: children, then whatever of theirs has come to us. Raises Abort if one stays."""
        for child in list(reversed(self._children)):
            self.end(child)
        self._end_strays()

    def members(self) -> list[int]:
        """Process ids of all that the trial runs."""
        above = [os.getpid()] if self._alone else [each.pid for each in self._children]
        below = [pid for each in above for pid in owned.descendants(each)]
        return below if self._alone else [*above, *below]

    def told(self, child: Child) -> str:
        """How a child that ended did so: `ended with exit code 3`, `was killed by SIGKILL`."""
        code = child.code
        if code is None:
            return "runs"
        return f"was ended by {_code(code)}" if code < 0 else f"ended with {_code(code)}"

    def died(self, child: Child, within_s: float = 1.0) -> str | None:
        """How a child ended that nobody ended, None where it runs; sockets of the dead close before they are dead.

        One that is on its way to its end is waited for; `within_s` is for one that first closes its sockets.
        """
        if child.process.returncode is None:
            ending = owned.is_ending(child.pid)
            select.select([self._pins[child.pid]], [], [], max(within_s, _DYING_S if ending else 0.0))
        return self.told(child) if child.has_ended else None

    def _ended_before(self, child: Child, what: str) -> Abort:
        return Abort("failed", f"the {child.role} {self.told(child)} before {what}{_tail(child.log)}")

    def _end_strays(self) -> None:
        """Whatever came to us when its parent ended, and what is left in the group, whatever it called itself."""

        def left() -> set[owned.Identity]:
            members = self._group.members() if self._group else set()
            return members | (owned.alive_below(os.getpid()) if self._alone else set())

        stubborn = owned.end(left, term_s=2.0, reaping=self._alone)
        if stubborn:
            pids = ", ".join(str(who.pid) for who in stubborn)
            raise Abort("failed", f"processes of the trial cannot be ended: {pids}")

    def _signal_group(self, child: Child, number: signal.Signals) -> None:
        """To its whole group; right, because the child is not reaped, so neither id can mean anybody else."""
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            signal.pidfd_send_signal(self._pins[child.pid], number)

    def _forget(self, child: Child) -> None:
        if child in self._children:
            self._children.remove(child)
            os.close(self._pins.pop(child.pid))

    def look_at_children(self) -> None:
        """Raises Abort where a process that stays between two legs has ended."""
        for child in self._children:
            if child.has_ended:
                raise Abort(
                    "failed", f"the {child.role} {self.told(child)} between two legs{_tail(child.log)}"
                )

    # -- the wait -----------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """What ends a trial is looked for now, and a sample taken if one is due. Raises Abort.

        Work that takes long without waiting (hashing a model) calls it, too.
        """
        self._look_at_signals()
        at = _clock()
        if self._end is not None and at > self._end and self.ceilings:
            raise Abort("aborted", f"the trial took longer than {self.ceilings.total_s:g} s", resumable=True)
        if self._leg_end is not None and at > self._leg_end and self.ceilings:
            raise Abort("aborted", f"the leg took longer than {self.ceilings.leg_s:g} s", resumable=True)
        if self._leg_end is not None and at >= self._next:
            self._sample(at)

    def _wait(self, seconds: float) -> None:
        """Sleep for `seconds` at most; woken by the exit of a child, a signal, the guardian's death or a due sample."""
        now = _clock()
        ends = [now + seconds]
        ends += [end for end in (self._end, self._leg_end) if end is not None]
        ends += [self._next] if self._leg_end is not None else []
        awake = [each for each in (self._death, self._signals) if each is not None]
        running = [self._pins[each.pid] for each in self._children if not each.has_ended]
        select.select([*awake, *running], [], [], max(0.0, min(ends) - now))

    def _look_at_signals(self) -> None:
        if self._death is not None and select.select([self._death], [], [], 0)[0]:
            self._death = None
            raise Abort("aborted", "the guardian of this trial died", resumable=True)
        if self._signals is not None and select.select([self._signals], [], [], 0)[0]:
            numbers = set(os.read(self._signals, 64)) & {signal.SIGTERM, signal.SIGINT}
            if numbers:
                names = " and ".join(sorted(signal.Signals(each).name for each in numbers))
                raise Abort("stopped", f"somebody asked for its end ({names})", resumable=True)

    def _sample(self, at: float) -> None:
        gap = at - self._last
        self.longest_gap_s = max(self.longest_gap_s, gap)
        self._last = at
        period = self.ceilings.sample_s if self.ceilings else 0.5
        self._next = max(self._next + period, at)
        reading = self.readings.read(self.members())
        if not self.samples:  # what others did since the last reading, they did before this leg
            reading = replace(reading, others_cpu=None)
        self.samples.append(Sample(moment_now(), at, reading))
        self._recent = [*self._recent[1 - limits.AVERAGED :], reading]
        if self.ceilings and gap > self.ceilings.gap_s:
            self.invalid.append(
                f"no sample of the host for {gap:.1f} s; at most {self.ceilings.gap_s:g} s are allowed"
            )
        for child in self._children:
            if owned.is_stopped(child.pid):
                raise Abort(
                    "failed", f"the {child.role} (process {child.pid}) was halted by somebody (SIGSTOP)"
                )
        over = limits.passed(self.ceilings, self._recent) if self.ceilings else None
        if over:
            raise Abort("aborted", over)


_HOST_COLUMNS = tuple(each.name for each in fields(Reading) if each.name not in ("services", "unseen"))
_SERVICE_COLUMNS = ("pid", "cpu_s", "queued_bytes", "connections", "swap")


def samples_table(samples: Iterable[Sample]) -> str:
    """Samples as tab-separated rows with one header line; what is unknown is empty. Bytes, seconds, processors."""
    rows = list(samples)
    services = [each.service for each in rows[0].reading.services] if rows else []
    header = ["at", *_HOST_COLUMNS, *(f"{name}:{column}" for name in services for column in _SERVICE_COLUMNS)]
    lines = ["\t".join(header)]
    for row in rows:
        values = [row.at, *(getattr(row.reading, name) for name in _HOST_COLUMNS)]
        values += [getattr(each, column) for each in row.reading.services for column in _SERVICE_COLUMNS]
        lines.append("\t".join("" if value is None else _plain(value) for value in values))
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _clock() -> float:
    """Seconds since boot, sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _noted(_number: int, _frame: object) -> None:
    """A signal that is only written to the wake-up pipe."""


def _peek(pid: int) -> int | None:
    """Exit code, negative for a signal, of a child that ended; None while it runs. The child stays to be reaped."""
    seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if seen is None:
        return None
    return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status


def _code(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _alive(those: Iterable[owned.Identity]) -> set[owned.Identity]:
    return {who for who in those if owned.is_alive(who)}


def _tail(log: Path | None) -> str:
    """The last words of a log, for a message; they are the engine's own, not a request's."""
    try:
        text = log.read_bytes()[-4096:].decode("utf-8", "replace") if log else ""
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"; its log ends: {' | '.join(lines[-3:])[-_LOG_TAIL:]}" if lines else ""
