"""Who dies, and what happens then: supervisor, guardian, both at once; each time the host comes back."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate.execute import jobs, owned
from hio_validate.execute.work import Service
from hio_validate.observe import proc
from hio_validate.observe.sockets import owner_of
from tests.execute import tiny
from tests.execute.conftest import (
    PATIENCE_S,
    Begin,
    Trial,
    assert_nothing_is_left,
    engine,
    wait_for,
    work,
)
from tests.ports import free_port


def stopped(begin: Begin, service: Service, **more: object) -> Trial:
    """A trial in the middle of its first leg; the service it stopped is not serving."""
    trial = begin(
        work(order=("one", "one"), port=service.port, during="stop", serving=service, **more), held=True
    )
    trial.reaches("process", 2)
    return trial


def assert_back(trial: Trial, service: Service, outcome: str) -> None:
    job = trial.job
    assert job.state == "closed", trial.tell()
    closed, restored = job.last("closed"), job.last("restored")
    assert closed and closed["outcome"] == outcome and closed["resumable"]
    assert restored and restored["proven"]
    pid = owner_of(service.port).pid
    who = owned.identity_of(pid)
    assert who
    assert who not in job.started_processes
    assert "HIO_TRIAL" not in Path(f"/proc/{pid}/environ").read_text()
    assert not jobs.unsafe_jobs(jobs.state_folder())
    assert (job.folder / "run.txt").exists()


def test_the_death_of_the_supervisor_is_the_end_of_the_trial_only(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = stopped(begin, service)
    os.kill(trial.supervisor, signal.SIGKILL)
    trial.ends()
    assert_back(trial, service, "aborted")
    assert "the supervisor was ended by SIGKILL" in trial.job.last("closed")["why"]


@pytest.mark.parametrize("runs", [True, False], ids=["once it runs", "as soon as it is on record"])
def test_the_death_of_the_supervisor_while_it_restores_ends_with_one_service(
    begin: Begin, serving: Callable[..., Service], tmp_path: Path, runs: bool
) -> None:
    loading = tmp_path / "loading"
    service = serving(f"while:{loading}")
    assert service.command
    trial = stopped(begin, service)
    loading.touch()
    os.kill(trial.supervisor, signal.SIGTERM)
    trial.reaches("restoring")
    begun = owned.identity_from(trial.job.last("restoring")["who"])
    if runs:  # before that it may still wait for the word, and then it ends with the supervisor
        wait_for(lambda: proc.argv(begun.pid) == service.command.argv)
    os.kill(trial.supervisor, signal.SIGKILL)
    loading.unlink()
    trial.ends()
    assert_back(trial, service, "stopped")
    serves = owned.identity_of(owner_of(service.port).pid)
    assert serves == begun or (not runs and not owned.is_alive(begun))


def test_the_death_of_the_supervisor_leaves_no_grandchild_in_another_session(begin: Begin) -> None:
    trial = begin(work(modes=("heir", "deaf")), held=True)
    trial.reaches("process", 2)
    heirs = owned.alive_below(trial.running().pid)
    assert len(heirs) == 1
    os.kill(trial.supervisor, signal.SIGKILL)
    assert trial.ends().state == "closed"
    assert not any(owned.is_alive(each) for each in heirs)
    assert_nothing_is_left(trial)


def test_a_supervisor_that_is_halted_for_good_is_ended_by_its_guardian(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = stopped(begin, service)
    os.kill(trial.supervisor, signal.SIGSTOP)
    trial.takes_too_long(tiny.TRIAL)
    trial.ends()
    assert_back(trial, service, "aborted")


def test_the_death_of_the_guardian_reaches_the_supervisor(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = stopped(begin, service)
    trial.guardian.kill()
    trial.ends()
    assert_back(trial, service, "aborted")
    assert trial.job.last("closed")["why"] == "the guardian of this trial died"


def test_the_death_of_both_leaves_the_host_unsafe_and_no_child_alive(begin: Begin) -> None:
    trial = begin(work(), held=True)
    trial.reaches("process", 2)
    server, supervisor = trial.running(), trial.supervisor
    os.kill(supervisor, signal.SIGSTOP)
    trial.guardian.kill()
    os.kill(supervisor, signal.SIGKILL)
    job = trial.ends()
    assert owned.wait_for_end(server, PATIENCE_S)
    assert job.state == "unsafe"
    assert jobs.unsafe_jobs(jobs.state_folder()) == [job]


def test_a_bystander_of_the_same_name_survives(begin: Begin) -> None:
    command = engine(free_port())
    with subprocess.Popen(command.argv, env={"PATH": "/usr/bin:/bin"}, start_new_session=True) as bystander:
        trial = begin(work(), held=True)
        trial.reaches("process", 2)
        os.kill(trial.supervisor, signal.SIGKILL)
        assert trial.ends().state == "closed"
        assert bystander.poll() is None
        bystander.kill()


def test_a_full_disk_ends_the_trial_brings_the_service_back_and_leaves_the_job_open(
    small_disk: Path, begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = stopped(begin, service)
    with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while filler.write(b"x" * 512):
            pass
    trial.release()
    job = trial.ends()
    assert job.state == "unsafe", trial.tell()
    assert owned.identity_of(owner_of(service.port).pid) is not None
    assert not owned.carriers(job.mark)
