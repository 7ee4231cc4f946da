"""Guardian and supervisor with a small leg of their own: one engine, one request, and how long it stays.

python -m tests.execute.tiny guardian|supervisor|hio …
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hio_validate.command import Command
from hio_validate.execute import closing, guardian, journal, launch, service, supervisor, watch
from hio_validate.execute.closing import Parts
from hio_validate.execute.watch import Watch
from hio_validate.execute.work import Work, from_text
from hio_validate.observe.readings import HostReadings, Reading
from tests.execute import asker
from tests.execute.asker import answers, ask

__all__ = ["answers", "ask"]

MODULE = "tests.execute.tiny"
GUARDIAN = (MODULE, "guardian")
HOLD = "hold"
"""While a file of this name lies in the job's folder or in the state folder, a leg does not end; with a number in it, only
the leg at that place."""
BETWEEN = "between"
"""While a file of this name lies there, no leg begins."""
RECORDING = "recording"
"""While a file of this name lies there, the run is not written."""
READ_ONLY = "read-only"
"""A file of this name in the state folder: the repository cannot be written."""
OVER = "over"
"""A file of this name holds what has taken too long by now: the TRIAL or the START of the service."""
TRIAL, START = "trial", "start"
LOOKS = 5
"""How often one still looks then."""
AHEAD = "ahead"
"""A file of this name: the supervisor's limits are so many seconds further."""
CLOCK = "clock"
"""A file of this name holds the moment that it is for the supervisor; without one it is now."""


def leg(work: Work, place: int, number: int, watch: Watch, folder: Path) -> dict[str, Any]:
    """Start the arm's engine, ask it once, end it."""
    place_ = folder / "legs" / str(number)
    place_.mkdir(parents=True, exist_ok=True)
    arm = work.order[place - 1]
    command = work.arms[arm].command
    server = watch.start("server", command, place_ / "stdout", place_ / "stderr")
    watch.until(lambda: answers(work.port), work.ceilings.start_s, "the server is ready", (server,))
    content = watched_ask(watch, work, server, place_)
    watch.until(lambda: not is_held(folder, place), 600, "it may end", (server,))
    exit_ = watch.end(server)
    return {
        "arm": arm,
        "content": content,
        "exit": exit_,
        "invalid": watch.invalid,
        "samples": len(watch.samples),
    }


def is_held(folder: Path, place: int) -> bool:
    """Whether the leg at a place may not end yet."""
    for each in (folder, folder.parent.parent):
        with suppress(FileNotFoundError):
            return (each / HOLD).read_text() in ("", str(place))
    return False


class Held:
    """The host's readings; those before a leg, when nothing of the trial runs, come as late as they are told to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.host = folder, HostReadings()

    def read(self, trial: Collection[int]) -> Reading:
        wait_while(self.folder / BETWEEN, trial)
        return self.host.read(trial)


def wait_while(file: Path, unless: Collection[int] = ()) -> None:
    """Wait until a file is gone."""
    while not unless and file.exists():
        time.sleep(0.02)


def further(folder: Path, real: Callable[[], float]) -> float:
    """The clock of the supervisor's limits."""
    file = folder / AHEAD
    return real() + (float(file.read_text()) if file.exists() else 0.0)


def clock(folder: Path) -> str:
    """The moment that it is."""
    file = folder / CLOCK
    return file.read_text() if file.exists() else journal.now()


def watched_ask(watch: Watch, work: Work, server: Any, folder: Path) -> str:
    """Ask in a process of its own, as the real client does."""
    command = Command(sys.executable, ("-S", asker.__file__, str(work.port)), {"PATH": "/usr/bin:/bin"})
    client = watch.start("client", command, folder / "answer", folder / "client.err")
    code = watch.exit_of(client, 600, "the answer", (server,))
    watch.end(client)
    assert code == 0, (folder / "client.err").read_text()
    return (folder / "answer").read_text()


def record(folder: Path) -> Path | None:
    """What LEGS write into the repository, here one file beside the journal."""
    wait_while(folder / RECORDING)
    if (folder.parent.parent / READ_ONLY).exists():
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    place = folder / "run.txt"
    place.write_text(f"recorded {time.time()}\n")
    return place


def is_over(folder: Path, what: str) -> bool:
    """Whether something has taken too long."""
    with suppress(FileNotFoundError):
        return (folder / OVER).read_text() == what
    return False


def ended_within(folder: Path, real: Callable[[int, float], bool], pin: int, seconds: float) -> bool:
    """`guardian.ended_within`, whose time is over when the file says so."""
    end = time.monotonic() + seconds
    while not is_over(folder, TRIAL) and time.monotonic() < end:
        if real(pin, 0.05):
            return True
    return real(pin, 0)


def waited(
    folder: Path, real: Callable[[Callable[[], bool], float], bool], holds: Callable[[], bool], seconds: float
) -> bool:
    """`service.waited`, whose time is over when the file says so."""
    looks = 0

    def over() -> bool:
        nonlocal looks
        looks += is_over(folder, START)
        return looks > LOOKS

    return real(lambda: over() or holds(), seconds) and looks <= LOOKS


PARTS = Parts(leg, record, lambda _work: None)


def hio(words: list[str]) -> int:
    """The command line, with the work of a plan taken from a file instead of the plan, and our own guardian."""
    # Only here: guardian and supervisor are started hundreds of times, and this is half of what they would import.
    from hio_validate import cli
    from hio_validate.cli import run_plan

    def prepared(_found: Any, _item: Any, _root: Path, job: str) -> Work | list[str]:
        text = Path(os.environ["TINY_WORK"]).read_text()
        return replace(from_text(text), job=job) if text.startswith("{") else text.splitlines()

    sys.argv[1:] = words
    run_plan.prepared = prepared
    launch.GUARDIAN = GUARDIAN  # type: ignore[assignment]
    closing.real_parts = lambda: PARTS
    return cli.run()


def main(words: list[str]) -> int:
    role, rest = words[0], words[1:]
    if role == "hio":
        return hio(rest)
    folder = Path(rest[0])
    service.waited = partial(waited, folder, service.waited)
    if role == "supervisor":
        supervisor.now = partial(clock, folder)
        watch._clock = partial(further, folder, watch._clock)
        return supervisor.main(rest, PARTS, Held(folder))
    guardian.ended_within = partial(ended_within, folder, guardian.ended_within)
    return guardian.main(rest, PARTS, (MODULE, "supervisor"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
