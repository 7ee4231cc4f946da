"""Faults with the real engine: whoever dies, no process, port or lock of the trial stays, and the service is back and proven."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute import cgroup, jobs, lock, owned, preflight, proof
from hio_validate.execute.jobs import Job
from hio_validate.execute.work import Approved, ArmWork, Ceilings, Service, Work, as_text
from hio_validate.observe.sockets import listening, owner_of
from tests.execute import tiny
from tests.execute.conftest import PATIENCE_S, Begin, Trial, begin, small_disk, state, wait_for
from tests.execute.interruption import ORDER, WHERE, assert_only_the_rest_ran, goes_on, interrupted
from tests.lab.trial import MODEL, SERVER, SMALL
from tests.ports import free_port

__all__ = ["begin", "small_disk", "state"]

pytestmark = pytest.mark.lab

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
MIB = 1 << 20
LIMITS = Ceilings(
    memory=4096 * MIB,
    available=256 * MIB,
    swap=0,
    start_s=300,
    leg_s=300_000,
    total_s=900_000,
    sample_s=0.2,
    gap_s=3000,
)


def engine(port: int) -> Command:
    """The lab's engine with a short context, so that it starts fast."""
    words = ["--model", str(MODEL), "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    return Command(str(SERVER), (*words, *(word for pair in SMALL for word in pair)), ENVIRONMENT)


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
        owned.wait_for_end(who, PATIENCE_S)


def trial_of(own: Service, *, order: tuple[str, ...] = ("base", "base"), **changes: object) -> Work:
    """Legs on the service's own port, which is stopped meanwhile."""
    arm = ArmWork("base@sha256:0", {}, engine(own.port))
    plain = Work(
        job="fault", root="/", service=own.name, plan="plan@sha256:0", arms=dict.fromkeys(order, arm), order=order,
        restart="every-leg", method="http", host="127.0.0.1", port=own.port, questions=(), ceilings=LIMITS,
        approvals=(), during="stop", serving=own,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def elsewhere(own: Service) -> Work:
    """The same on a port of its own, while the service stays."""
    port = free_port()
    return trial_of(
        own, port=port, arms={"base": ArmWork("base@sha256:0", {}, engine(port))}, during="none", serving=None
    )


def in_first_leg(begin: Begin, what: Work) -> Trial:
    """A trial whose server has answered and is kept in its first leg."""
    trial = begin(what, at=1)
    trial.is_in_leg(1)
    return trial


def between_two_legs(begin: Begin, what: Work) -> Trial:
    """A trial whose first leg is complete and whose second does not begin before it is released."""
    trial = in_first_leg(begin, what)
    trial.hold(tiny.BETWEEN)
    trial.release()
    trial.reaches("leg-ended")
    assert not listening(what.port)
    return trial


def hio(*words: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a person calls it."""
    return subprocess.run(
        [sys.executable, "-m", tiny.MODULE, "hio", *words], capture_output=True, text=True, check=False
    )


def assert_back(job: Job, own: Service, why: str) -> None:
    """What holds after every fault: nothing of the trial is left, it is closed, and the previous service serves and is proven."""
    closed = job.last("closed")
    assert job.state == "closed", job.events
    assert closed and why in closed["why"], job.events
    assert not owned.carriers(job.mark)
    assert not [who for who in job.started_processes if owned.is_alive(who)]
    group = cgroup.group_of(job.folder)
    assert group is None or not group.folder.exists()
    assert job.work.port == own.port or not listening(job.work.port)
    lock.take().close()
    pid = owner_of(own.port).pid
    assert own.command and proof.serves_as(own.command, pid) is None
    assert pid not in {who.pid for who in job.started_processes}
    assert tiny.ask(own.port)
    restored = job.last("restored")
    if job.work.during == "stop":
        assert restored and len(restored["checks"]) == 12 and set(restored["checks"].values()) == {"passed"}
    told = hio("runs")
    assert told.returncode == 0 and "closed" in told.stdout, told.stdout + told.stderr


def assert_unsafe(trial: Trial, why: str = "") -> None:
    """No process of the trial runs, and nothing else may until somebody recovers."""
    assert trial.ends().state == "unsafe", trial.tell()
    wait_for(lambda: not owned.carriers(trial.job.mark))
    told = hio("runs", "fault")
    assert told.returncode == 1
    refused = preflight.refused(jobs.state_folder())
    assert refused and "hio runs --recover fault comes first" in refused
    not_restored = trial.job.last("not-restored")
    assert not why or (not_restored and why in str(not_restored["checks"])), trial.tell()


def assert_recovered(trial: Trial, own: Service, why: str) -> None:
    """`hio runs --recover` proves what the keepers could not."""
    done = hio("runs", "--recover")
    assert done.returncode == 0, done.stdout + done.stderr
    assert_back(trial.job, own, why)


def test_all_legs_run_and_the_service_is_back(begin: Begin, serving: Service) -> None:
    trial = begin(trial_of(serving))
    assert_back(trial.ends(), serving, "all legs ran")
    assert len(trial.job.legs) == 2


def test_the_supervisor_is_killed(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    os.kill(trial.supervisor, signal.SIGKILL)
    assert_back(trial.ends(), serving, "the supervisor was ended by SIGKILL")


def test_the_guardian_is_killed(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    trial.guardian.kill()
    assert_back(trial.ends(), serving, "the guardian of this trial died")


def test_both_keepers_are_killed_and_a_recovery_does_their_duty(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    supervisor = trial.supervisor
    os.kill(supervisor, signal.SIGSTOP)
    trial.guardian.kill()
    os.kill(supervisor, signal.SIGKILL)
    assert_unsafe(trial)
    assert_recovered(trial, serving, "guardian and supervisor died")


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
        assert any(b"leg 1 of 2" in line for line in process.stdout)
        os.killpg(process.pid, signal.SIGKILL)
    folder = state / "jobs/fault"
    wait_for(lambda: jobs.Job(folder).is_closed)
    wait_for(lambda: not any(owned.is_alive(who) for who in jobs.Job(folder).keepers.values()))
    assert_back(jobs.Job(folder), serving, "all legs ran")
    assert len(jobs.Job(folder).legs) == 2


def test_the_engine_is_killed_in_a_request(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    owned.send(trial.running(), signal.SIGKILL)
    assert_back(trial.ends(), serving, "the server was ended by SIGKILL")


def test_the_engine_is_killed_while_it_loads(begin: Begin, serving: Service) -> None:
    trial = begin(trial_of(serving), held=True)
    trial.reaches("process")
    owned.send(trial.running(), signal.SIGKILL)
    assert_back(trial.ends(), serving, "the server was ended by SIGKILL before ")


def test_the_engine_is_halted(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    owned.send(trial.running(), signal.SIGSTOP)
    assert_back(trial.ends(), serving, "was halted by somebody (SIGSTOP)")


def limited(begin: Begin, serving: Service, why: str, **limits: float) -> None:
    trial = begin(trial_of(serving, ceilings=replace(LIMITS, **limits)), held=True)
    assert_back(trial.ends(), serving, why)
    assert trial.job.last("closed")["outcome"] == "aborted"


def test_a_leg_takes_too_long(begin: Begin, serving: Service) -> None:
    limited(begin, serving, "the leg took longer than 2 s", leg_s=2.0)


def test_the_trial_takes_too_long(begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    trial.is_further(LIMITS.total_s)
    assert_back(trial.ends(), serving, "the trial took longer than 900000 s")
    assert trial.job.last("closed")["outcome"] == "aborted"


def test_the_start_takes_too_long(begin: Begin, serving: Service, tmp_path: Path) -> None:
    own = engine(serving.port)
    late = tmp_path / "late"
    late.write_text(f'#!/bin/sh\nsleep 6000\nexec {own.program} "$@"\n')
    late.chmod(0o755)
    arm = ArmWork("base@sha256:0", {}, replace(own, program=str(late)))
    trial = begin(trial_of(serving, arms={"base": arm}))
    trial.reaches("process")
    for times in count(1):  # again, since the wait may begin only after the first time
        trial.is_further(times * LIMITS.start_s)
        if trial.job.has("leg-ended"):
            break
        time.sleep(0.1)
    assert_back(trial.ends(), serving, "the server is ready: not within 300 s")


def test_the_memory_passes_its_ceiling(begin: Begin, serving: Service) -> None:
    limited(begin, serving, "of anonymous and shared memory; the limit is 16 MiB", memory=16 * MIB)


def test_an_approval_expires_between_two_legs(begin: Begin, serving: Service) -> None:
    approved = Approved("stop@sha256:0", "stop-production", "2099-01-01T00:00:00Z")
    trial = between_two_legs(begin, trial_of(serving, approvals=(approved,)))
    (trial.folder / tiny.CLOCK).write_text("2099-01-01T00:00:01Z")
    trial.release(tiny.BETWEEN)
    assert_back(trial.ends(), serving, "stop (stop-production) expired at 2099-01-01T00:00:00Z")
    assert len(trial.job.legs) == 1


@contextmanager
def thief_on(port: int, *, shares: bool) -> Iterator[socket.socket]:
    """A foreign listener on a port; in the end nobody ever connected to it."""
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shares else socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        thief.setblocking(False)
        yield thief
        with pytest.raises(BlockingIOError):
            thief.accept()


def stolen(begin: Begin, what: Work, *, shares: bool) -> Trial:
    """A trial that ends while a thief listens on its port, which it took between the first leg and the second."""
    trial = between_two_legs(begin, what)
    with thief_on(what.port, shares=shares):
        trial.release(tiny.BETWEEN)
        said = trial.ends().last("ended")
        assert said and f"port {what.port} is not free: process {os.getpid()} listens on" in said["why"]
        assert len(trial.job.legs) == 1
        if what.during == "stop":
            assert_unsafe(trial, f"port {what.port} is held by process {os.getpid()}, a stranger")
            assert hio("runs", "--recover").returncode == 1
    return trial


def test_the_port_of_the_trial_is_stolen_between_two_legs(begin: Begin, serving: Service) -> None:
    trial = stolen(begin, elsewhere(serving), shares=False)
    assert_back(trial.job, serving, "is not free")


def test_the_port_of_the_trial_is_stolen_by_one_that_would_share_it(begin: Begin, serving: Service) -> None:
    trial = stolen(begin, elsewhere(serving), shares=True)
    assert_back(trial.job, serving, "is not free")


@pytest.mark.parametrize("shares", [False, True])
def test_the_port_of_the_service_is_stolen_between_two_legs_and_the_host_is_unsafe(
    begin: Begin, serving: Service, shares: bool
) -> None:
    trial = stolen(begin, trial_of(serving), shares=shares)
    assert_recovered(trial, serving, "is not free")


def test_the_engine_is_replaced_between_two_legs(begin: Begin, serving: Service, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    shutil.copytree(SERVER.parent, folder, symlinks=True)
    arm = ArmWork("base@sha256:0", {}, replace(engine(serving.port), program=str(folder / SERVER.name)))
    trial = between_two_legs(begin, trial_of(serving, arms={"base": arm}))
    library = next(each for each in folder.glob("libggml-base.so*") if not each.is_symlink())
    other = tmp_path / "other"
    other.write_bytes(library.read_bytes() + b"\0")
    other.replace(library)
    trial.release(tiny.BETWEEN)
    assert_back(trial.ends(), serving, f"{library} has other bytes")
    assert len(trial.job.legs) == 1


def with_heir(own: Service, tmp_path: Path, heir: str) -> Work:
    """A trial whose engine starts another process in a session of its own."""
    program = tmp_path / "wrapper"
    program.write_text(f'#!/bin/sh\nsetsid {heir} >/dev/null 2>&1 &\nexec {SERVER} "$@"\n')
    program.chmod(0o755)
    arm = ArmWork("base@sha256:0", {}, replace(engine(own.port), program=str(program)))
    return trial_of(own, arms={"base": arm})


def test_a_grandchild_that_called_setsid_is_ended_with_the_trial(
    begin: Begin, serving: Service, tmp_path: Path
) -> None:
    port = free_port()
    trial = in_first_leg(begin, with_heir(serving, tmp_path, " ".join(engine(port).argv)))
    wait_for(lambda: tiny.answers(port))
    os.kill(trial.supervisor, signal.SIGKILL)
    assert_back(trial.ends(), serving, "the supervisor was ended by SIGKILL")
    assert not listening(port)


def test_a_grandchild_that_called_setsid_is_killed(begin: Begin, serving: Service, tmp_path: Path) -> None:
    trial = in_first_leg(begin, with_heir(serving, tmp_path, "sleep 600"))
    (heir,) = owned.alive_below(trial.running().pid)
    owned.send(heir, signal.SIGKILL)
    trial.release()
    assert_back(trial.ends(), serving, "all legs ran")


def test_an_unrelated_process_of_the_same_name_survives(begin: Begin, serving: Service) -> None:
    namesake = engine(free_port())
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        namesake.argv, env=ENVIRONMENT, stdout=quiet, stderr=quiet, start_new_session=True
    ) as bystander:
        trial = in_first_leg(begin, trial_of(serving))
        os.kill(trial.supervisor, signal.SIGKILL)
        assert_back(trial.ends(), serving, "the supervisor was ended by SIGKILL")
        assert bystander.poll() is None
        bystander.kill()


def test_the_disk_is_full_for_the_journal(small_disk: Path, begin: Begin, serving: Service) -> None:
    trial = in_first_leg(begin, trial_of(serving))
    with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while filler.write(b"x" * 512):
            pass
    trial.release()
    assert_unsafe(trial)
    assert tiny.ask(serving.port)
    (small_disk / "filler").unlink()
    assert_recovered(trial, serving, "")


@pytest.mark.parametrize("where", WHERE)
def test_it_goes_on_after_an_interruption(begin: Begin, serving: Service, where: str) -> None:
    trial = interrupted(begin, trial_of(serving, order=ORDER), where)
    before = trial.job
    assert_back(before, serving, "somebody asked" if where.startswith("while") else "ended by SIGKILL")
    assert_only_the_rest_ran(before, goes_on(trial), WHERE[where])
    assert_back(trial.job, serving, "all legs ran")
