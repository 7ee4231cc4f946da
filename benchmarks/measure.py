"""Runs of whole processes: wall time from spawn to reap, processor time, peak memory, exit code, and their pairs.

Invariant: a run that did not end as expected raises; the time of a failing start is never a result.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import perf_counter


class Unexpected(Exception):
    """A command did not do what the benchmark is about."""


@dataclass(frozen=True)
class Command:
    """A tool's command line in a folder, and the exit code that says it did its work."""

    tool: str
    words: tuple[str, ...]
    folder: Path
    expected: int

    def output(self) -> bytes:
        """Its standard output, untimed. Raises Unexpected."""
        done = subprocess.run(
            self.words, cwd=self.folder, env=environment(), capture_output=True, check=False
        )
        if done.returncode != self.expected:
            raise Unexpected(
                f"{self.tool}: expected exit code {self.expected}, got {done.returncode}: "
                + (done.stderr or done.stdout)[-2000:].decode(errors="replace")
            )
        return done.stdout


@dataclass(frozen=True, slots=True)
class Sample:
    """One run. Times in seconds, memory in KiB."""

    wall: float
    cpu: float
    peak_kib: int


@dataclass
class Pairs:
    """Runs of hio and of the peer in turn; `ratios` are hio's wall time over the peer's in the same round."""

    hio: list[Sample] = field(default_factory=list)
    peer: list[Sample] = field(default_factory=list)

    def ratios(self, of: Callable[[Sample], float] = lambda sample: sample.wall) -> list[float]:
        return [of(ours) / of(theirs) for ours, theirs in zip(self.hio, self.peer, strict=False)]


def environment() -> dict[str, str]:
    """The environment of every run: no Python setting of ours, no git hook variable, nothing coloured."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_", "HIO"))
    }
    return kept | {"NO_COLOR": "1", "COLUMNS": "120"}


def run(command: Command, said: str) -> Sample:
    """Time one run whose standard output must have this SHA-256. Raises Unexpected."""
    read, write = os.pipe()
    begin = perf_counter()
    process = subprocess.Popen(
        command.words, cwd=command.folder, env=environment(), stdout=write, stderr=subprocess.DEVNULL
    )
    os.close(write)
    with open(read, "rb") as output:
        printed = output.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != command.expected or sha256(printed).hexdigest() != said:
        raise Unexpected(
            f"{command.tool}: expected exit code {command.expected} and the output seen before, "
            f"got {process.returncode} and {printed[-500:].decode(errors='replace')!r}"
        )
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def alternate(hio: Command, peer: Command, rounds: int, peer_rounds: int | None = None) -> Pairs:
    """hio, peer, hio, peer, …: each once untimed first, then in turn, so that both meet the same noise."""
    said = {command.tool: sha256(command.output()).hexdigest() for command in (hio, peer)}
    pairs = Pairs()
    for at in range(rounds):
        pairs.hio.append(run(hio, said[hio.tool]))
        if peer_rounds is None or at < peer_rounds:
            pairs.peer.append(run(peer, said[peer.tool]))
    return pairs


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, smallest and largest of some figures, and the half of them that lies in the middle."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return {
        "median": median(ordered),
        "least": ordered[0],
        "most": ordered[-1],
        "lower_quarter": ordered[quarter],
        "upper_quarter": ordered[-1 - quarter],
    }
