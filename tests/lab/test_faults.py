"""Faults with the real engine: whoever dies, no process, port or lock of the trial stays, and the service is back and proven."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hio_validate.execute import cgroup, jobs, owned, proof, recovery
from hio_validate.execute.work import Approved, ArmWork, Ceilings, Command, Service, Work, as_text
from hio_validate.observe.sockets import listening, owner_of
from tests.execute import tiny
from tests.execute.conftest import Begin, Trial, assert_nothing_is_left, begin, small_disk, state, wait_for
from tests.lab.serving import LAB, command
from tests.observe.conftest import free_port

__all__ = ["begin", "small_disk", "state"]

pytestmark = pytest.mark.lab

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
MIB = 1 << 20
LIMITS = Ceilings(
    memory=4096 * MIB, available=256 * MIB, swap=0, start_s=60, leg_s=120, total_s=600, sample_s=0.2, gap_s=30
)


def engine(port: int, stack: str = "base") -> Command:
    words, _ = command(stack, port)
    return Command(words[0], tuple(words[1:]), ENVIRONMENT)


@pytest.fixture
def serving() -> Iterator[Service]:
    """The real engine serves, as somebody started it before; whatever serves there in the end is ended."""
    port = free_port()
    own = Service("lab/gemma-270m", "127.0.0.1", port, "base@sha256:0", engine(port))
    assert own.command
    with subprocess.Popen(
        own.command.argv, env=ENVIRONMENT, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_for(lambda: tiny.answers(port))
        yield own
        process.kill()
    if listening(port):
        who = owned.identity_of(owner_of(port).pid)
        assert who
        owned.send(who, signal.SIGKILL)
        owned.wait_for_end(who, 20)


def trial_of(own: Service, *, legs: int = 2, **changes: object) -> Work:
    """Two legs or more, on the service's own port, which is stopped meanwhile."""
    arm = ArmWork("base@sha256:0", {}, engine(own.port))
    plain = Work(
        job="fault", root="/", service=own.name, plan="plan@sha256:0", arms={"base": arm}, order=("base",) * legs,
        restart="every-leg", method="http", host="127.0.0.1", port=own.port, questions=(), ceilings=LIMITS,
        approvals=(), during="stop", serving=own,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def in_first_leg(begin: Begin, what: Work) -> Trial:
    """A trial whose server has answered and is kept in its first leg."""
    trial = begin(what, held=True)
    trial.reaches("process", 2)
    return trial


def assert_back(trial: Trial, own: Service, why: str) -> None:
    """Closed; nothing of the trial is left; the previous service serves, and every check of it passed."""
    job = trial.job
    assert job.state == "closed", trial.tell()
    closed, restored = job.last("closed"), job.last("restored")
    assert closed and why in closed["why"], trial.tell()
    assert restored and restored["proven"] and len(restored["checks"]) == 12
    pid = owner_of(own.port).pid
    assert own.command and proof.serves_as(own.command, pid) is None
    assert tiny.ask(own.port)
    for who in job.started_processes:
        assert not owned.is_alive(who)
        assert who.pid != pid
    assert not owned.carriers(job.mark)
    group = cgroup.group_of(job.folder)
    assert group is None or not group.folder.exists()
    if job.work.port != own.port:
        assert_nothing_is_left(trial)


def test_all_legs_run_and_the_service_is_back(begin: Begin, serving: Service) -> None:
    trial = begin(trial_of(serving))
    trial.ends()
    assert_back(trial, serving, "all legs ran")
    assert len(trial.job.legs) == 2


@pytest.mark.parametrize("victim", ["supervisor", "guardian"])
def test_a_keeper_is_killed(begin: Begin, serving: Service, victim: str) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    os.kill(trial.job.keepers[victim].pid, signal.SIGKILL)
    trial.ends()
    assert_back(
        trial, serving, "ended by SIGKILL" if victim == "supervisor" else "the guardian of this trial died"
    )


def test_both_keepers_are_killed_and_a_recovery_does_their_duty(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    supervisor = trial.supervisor
    os.kill(supervisor, signal.SIGSTOP)
    trial.guardian.kill()
    os.kill(supervisor, signal.SIGKILL)
    assert trial.ends().state == "unsafe"
    wait_for(lambda: not listening(serving.port))
    recovery.recover(trial.job, tiny.PARTS)
    assert_back(trial, serving, "guardian and supervisor died")


def test_the_command_line_is_killed(
    serving: Service, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.test_cli_run import PLAN  # the plan that the command line is given

    file = tmp_path / "repo/manifests/services/lab/small/plans/p.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(PLAN)
    (tmp_path / "work.json").write_text(as_text(trial_of(serving)))
    monkeypatch.setenv("TINY_WORK", str(tmp_path / "work.json"))
    words = [sys.executable, "-m", tiny.MODULE, "hio", "run", "p", "--yes", "--name", "fault"]
    with subprocess.Popen(
        words, cwd=tmp_path / "repo", stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        while b"leg 1 of 2" not in process.stdout.readline():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
    folder = state / "jobs/fault"
    wait_for(lambda: jobs.Job(folder).is_closed)
    wait_for(lambda: not any(owned.is_alive(who) for who in jobs.Job(folder).keepers.values()))
    job = jobs.Job(folder)
    assert len(job.legs) == 2
    assert job.last("restored")["proven"]
    assert tiny.ask(serving.port)


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (signal.SIGKILL, "the server was ended by SIGKILL"),
        (signal.SIGSTOP, "was halted by somebody (SIGSTOP)"),
    ],
)
def test_the_engine_is_killed_or_halted_in_a_request(
    begin: Begin, serving: Service, number: signal.Signals, why: str
) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    owned.send(trial.running(), number)
    trial.ends()
    assert_back(trial, serving, why)


def test_the_engine_is_killed_while_it_loads(begin: Begin, serving: Service) -> None:
    trial = begin(trial_of(serving))
    trial.reaches("process")
    owned.send(trial.running(), signal.SIGKILL)
    trial.ends()
    assert_back(trial, serving, "the server was ended by SIGKILL before the server is ready")


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"leg_s": 3.0}, "the leg took longer than 3 s"),
        ({"total_s": 6.0}, "the trial took longer than 6 s"),
        ({"memory": 16 * MIB}, "of anonymous and shared memory; the limit is 16 MiB"),
    ],
)
def test_a_limit_ends_it(begin: Begin, serving: Service, limits: dict[str, float], why: str) -> None:
    trial = begin(trial_of(serving, ceilings=replace(LIMITS, **limits)), held=True)
    trial.ends()
    assert_back(trial, serving, why)
    assert trial.job.last("closed")["outcome"] == "aborted"


def test_an_approval_expires_between_two_legs(begin: Begin, serving: Service) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=40)
    until = soon.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    trial = in_first_leg(
        begin, trial_of(serving, approvals=(Approved("stop@sha256:0", "stop-production", until),))
    )
    wait_for(lambda: datetime.now(UTC) > soon)
    trial.release()
    trial.ends()
    assert_back(trial, serving, "stop (stop-production) expired at")
    assert len(trial.job.legs) == 1


def test_the_port_is_stolen_between_two_legs(begin: Begin, serving: Service) -> None:
    port = free_port()
    arm = ArmWork("base@sha256:0", {}, engine(port))
    trial = in_first_leg(begin, trial_of(serving, port=port, arms={"base": arm}, during="none", serving=None))
    os.kill(trial.supervisor, signal.SIGSTOP)
    owned.send(trial.running(), signal.SIGKILL)
    wait_for(lambda: not listening(port))
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        os.kill(trial.supervisor, signal.SIGCONT)
        assert "the server was ended by SIGKILL" in trial.ends().last("closed")["why"]
        second = begin(replace(trial.job.work, job="second"))
        said = second.ends().last("closed")["why"]
        assert f"port {port} is not free: process {os.getpid()} listens on 127.0.0.1:{port}" in said
    assert tiny.ask(serving.port)


def test_the_engine_is_replaced_between_two_legs(begin: Begin, serving: Service, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    shutil.copytree(LAB / "llama-10001/bin", folder, symlinks=True)
    own = engine(serving.port)
    arm = ArmWork("base@sha256:0", {}, replace(own, program=str(folder / "llama-server")))
    trial = in_first_leg(begin, trial_of(serving, arms={"base": arm}))
    library = next(each for each in folder.glob("libggml-base.so*") if not each.is_symlink())
    other = tmp_path / "other"
    other.write_bytes(library.read_bytes() + b"\0")
    other.replace(library)
    trial.release()
    trial.ends()
    assert_back(trial, serving, f"{library} has other bytes")


def test_a_grandchild_in_another_session_is_ended_and_a_namesake_survives(
    begin: Begin, serving: Service, tmp_path: Path
) -> None:
    own = engine(serving.port)
    port = free_port()
    heir = engine(port)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f'#!/bin/sh\nsetsid {" ".join(heir.argv)} >/dev/null 2>&1 &\nexec {own.program} "$@"\n'
    )
    wrapper.chmod(0o755)
    arm = ArmWork("base@sha256:0", {}, replace(own, program=str(wrapper)))
    namesake = engine(free_port())
    with subprocess.Popen(
        namesake.argv,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as bystander:
        trial = in_first_leg(begin, trial_of(serving, arms={"base": arm}))
        wait_for(lambda: tiny.answers(port))
        os.kill(trial.supervisor, signal.SIGKILL)
        trial.ends()
        assert_back(trial, serving, "the supervisor was ended by SIGKILL")
        assert not listening(port)
        assert bystander.poll() is None
        bystander.kill()


def test_the_grandchild_is_killed_and_nothing_else_happens(
    begin: Begin, serving: Service, tmp_path: Path
) -> None:
    own = engine(serving.port)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nsetsid sleep 600 &\nexec {own.program} "$@"\n')
    wrapper.chmod(0o755)
    arm = ArmWork("base@sha256:0", {}, replace(own, program=str(wrapper)))
    trial = in_first_leg(begin, trial_of(serving, arms={"base": arm}))
    (heir,) = owned.alive_below(trial.running().pid)
    owned.send(heir, signal.SIGKILL)
    trial.release()
    trial.ends()
    assert_back(trial, serving, "all legs ran")


def test_the_disk_is_full(small_disk: Path, begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while filler.write(b"x" * 512):
            pass
    trial.release()
    assert trial.ends().state == "unsafe", trial.tell()
    assert not owned.carriers(trial.job.mark)
    assert tiny.ask(serving.port)
    (small_disk / "filler").unlink()
    recovery.recover(trial.job, tiny.PARTS)
    assert_back(trial, serving, "")
