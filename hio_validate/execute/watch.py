"""The one place where the supervisor waits: child exits, the clock, and whatever ends the trial.

Invariant: a wait returns what was waited for or raises Abort; nothing is waited for anywhere else.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hio_validate.execute.work import Command

Outcome = Literal["aborted", "failed", "stopped"]


class Abort(Exception):
    """The trial ends here: aborted by a limit, failed by itself, or stopped by somebody."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(why)
        self.outcome, self.why = outcome, why


@dataclass(frozen=True)
class Child:
    """A process that was started here, and what it is called in messages."""

    role: str
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended; who only wants to know asks here, and never the process."""
        return self.process.poll() is not None


class Watch:
    """Starts, waits for and ends the processes of one leg."""

    def __init__(self) -> None:
        self.invalid: list[str] = []
        """Why the current leg does not count; a leg copies it into its record."""
        self.longest_gap_s = 0.0

    def tick(self) -> None:
        """Work that takes long without waiting, such as hashing a model, calls it. Raises Abort."""

    def start(
        self, role: str, command: Command, stdout: Path, stderr: Path, more: Mapping[str, str] | None = None
    ) -> Child:
        """Start a process in a group of its own; `more` is added to its environment. Raises Abort."""
        with stdout.open("ab") as out, stderr.open("ab") as err:
            environment = {**command.environment, **(more or {})}
            process = subprocess.Popen(
                command.argv,
                env=environment,
                cwd=command.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                process_group=0,
            )
        return Child(role, process)

    def until(
        self,
        done: Callable[[], bool],
        seconds: float,
        what: str,
        needs: tuple[Child, ...] = (),
        every_s: float = 0.1,
    ) -> None:
        """Wait until `done()`, asked every `every_s`. Raises Abort after `seconds`, or when a child of `needs` ends."""
        end = time.monotonic() + seconds
        while not done():
            for child in needs:
                if child.process.poll() is not None:
                    raise Abort(
                        "failed", f"the {child.role} ended with {child.process.returncode} before {what}"
                    )
            if time.monotonic() > end:
                raise Abort("aborted", f"{what}: not within {seconds:g} s")
            time.sleep(every_s)

    def exit_of(self, child: Child, seconds: float, what: str, needs: tuple[Child, ...] = ()) -> int:
        """Wait until a child ends and give its exit code. Raises Abort after `seconds`, or when a child of `needs` ends first."""
        self.until(lambda: child.process.poll() is not None, seconds, what, needs)
        return int(child.process.returncode)

    def end(self, child: Child) -> str:
        """TERM, wait, KILL, for the process and all it started; how it exited, in words."""
        child.process.terminate()
        child.process.wait(20)
        return f"ended by hio ({child.process.returncode})"
