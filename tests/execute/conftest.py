"""Trials of small engines: real processes, sockets and signals, in a state folder of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hio_validate.command import Command
from hio_validate.execute import cgroup, jobs, launch, lock, owned
from hio_validate.execute.jobs import Job
from hio_validate.execute.work import ArmWork, Ceilings, Service, Work
from hio_validate.observe.sockets import listening, owner_of
from tests.execute import tiny
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
ENGINE = str(Path(__file__).with_name("engine.py"))
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
PATIENCE_S = 600.0
"""No test waits for less: a machine that halts for a while breaks nothing."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder, and with it a lock, of this test alone."""
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return jobs.state_folder()


def engine(port: int, *modes: str) -> Command:
    """The command of a small engine."""
    return Command(sys.executable, (ENGINE, str(port), *modes), ENVIRONMENT)


def ceilings(**changes: Any) -> Ceilings:
    """Wide limits, sampled often."""
    wide = Ceilings(
        memory=1 << 30,
        available=1 << 20,
        swap=0,
        start_s=300,
        leg_s=600,
        total_s=1200,
        sample_s=0.05,
        gap_s=300,
    )
    return replace(wide, **changes)


def work(
    job: str = "job", *, order: tuple[str, ...] = ("one",), modes: tuple[str, ...] = (), **changes: Any
) -> Work:
    """A job of small engines on a port of its own."""
    port = changes.pop("port", None) or free_port()
    arm = ArmWork("small@sha256:0", {}, engine(port, *modes))
    plain = Work(
        job=job, root="/", service="lab/small", plan="plan@sha256:0", arms=dict.fromkeys({*order}, arm),
        order=order, restart="every-leg", method="http", host="127.0.0.1", port=port, questions=(),
        ceilings=ceilings(), approvals=(),
    )  # fmt: skip
    return replace(plain, **changes)


@pytest.fixture
def small_disk(state: Path) -> Iterator[Path]:
    """The state folder on a file system of 4 MiB."""
    state.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "hio-test", str(state)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield state
    subprocess.run(["umount", "-l", state], check=True)


class Trial:
    """A job that runs: what it is, and what its keepers are."""

    def __init__(self, folder: Path, guardian: subprocess.Popen[bytes]) -> None:
        self.folder, self.guardian = folder, guardian

    @property
    def job(self) -> Job:
        return Job(self.folder)

    @property
    def supervisor(self) -> int:
        self.reaches("started")
        return self.job.keepers["supervisor"].pid

    def reaches(self, event: str, times: int = 1) -> None:
        """Wait until the journal has an event."""
        wait_for(lambda: sum(each.event == event for each in self.job.events) >= times, self.tell)

    def ends(self) -> Job:
        """Wait until guardian and supervisor are gone."""
        self.guardian.wait(PATIENCE_S)
        wait_for(lambda: not any(owned.is_alive(each) for each in self.job.keepers.values()), self.tell)
        return self.job

    def hold(self, what: str = tiny.HOLD) -> None:
        (self.folder / what).touch()

    def release(self, what: str = tiny.HOLD) -> None:
        (self.folder / what).unlink()

    def takes_too_long(self, what: str) -> None:
        """The time for something is over, and for nothing else."""
        self.write(tiny.OVER, what)

    def is_further(self, seconds: float) -> None:
        """So many seconds pass at once, for the supervisor's limits."""
        self.write(tiny.AHEAD, str(seconds))

    def write(self, name: str, text: str) -> None:
        """A file of the job, whole from the first moment."""
        (self.folder / "part").write_text(text)
        (self.folder / "part").replace(self.folder / name)

    def is_in_leg(self, place: int) -> None:
        """Wait until the server of a leg has been asked; each leg has a server and a client."""
        self.reaches("process", 2 * place)

    def running(self, role: str = "server") -> owned.Identity:
        """The newest process of a role that the trial started."""
        self.reaches("process")
        events = [each for each in self.job.events if each.event == "process" and each.data["role"] == role]
        return owned.identity_from(events[-1].data["who"])

    def tell(self) -> str:
        events = "\n".join(f"{each.at} {each.event} {each.data}" for each in self.job.events)
        return f"{events}\n{(self.folder / launch.LOG).read_text()}"


Begin = Callable[..., Trial]


@pytest.fixture
def begin(state: Path) -> Iterator[Begin]:
    """Begins a trial, with a leg that is held: every one, or the one at a place; afterwards nothing of it is left."""
    trials: list[Trial] = []

    def start(what: Work, *, held: bool = False, at: int | None = None) -> Trial:
        taken = lock.take()
        job = jobs.create(state, what)
        if held or at:
            (job.folder / tiny.HOLD).write_text(str(at or ""))
        trial = Trial(job.folder, launch.start(job.folder, taken, tiny.GUARDIAN).process)
        taken.close()
        trials.append(trial)
        return trial

    yield start
    for trial in trials:
        for who in [
            *trial.job.keepers.values(),
            *owned.carriers(trial.job.mark),
            *trial.job.started_processes,
        ]:
            owned.send(who, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            trial.guardian.wait(PATIENCE_S)
        group = cgroup.group_of(trial.folder)
        assert group is None or group.remove()


@pytest.fixture
def serving() -> Iterator[Callable[..., Service]]:
    """Starts a small service as somebody else would have; whatever serves on its port afterwards is ended."""
    begun: list[tuple[subprocess.Popen[bytes], int]] = []

    def start(*modes: str) -> Service:
        port = free_port()
        command = engine(port, *modes)
        process = subprocess.Popen(command.argv, env=ENVIRONMENT, cwd="/", start_new_session=True)
        begun.append((process, port))
        wait_for(lambda: tiny.answers(port))
        return Service("lab/small", "127.0.0.1", port, "small@sha256:0", command)

    yield start
    for process, port in begun:
        process.kill()
        process.wait()
        if listening(port):
            who = owned.identity_of(owner_of(port).pid)
            assert who
            owned.send(who, signal.SIGKILL)
            owned.wait_for_end(who, PATIENCE_S)


def wait_for(holds: Callable[[], bool], tell: Callable[[], str] = lambda: "") -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE_S:g} s\n{tell()}"
        time.sleep(0.02)


def assert_nothing_is_left(trial: Trial) -> None:
    """No process of the trial, no listener on its port, the lock free, no control group."""
    job = trial.job
    assert not owned.carriers(job.mark), trial.tell()
    assert not [who for who in job.started_processes if owned.is_alive(who)], trial.tell()
    assert not listening(job.work.port)
    assert not lock.is_taken()
    group = cgroup.group_of(job.folder)
    assert group is None or not group.folder.exists()
