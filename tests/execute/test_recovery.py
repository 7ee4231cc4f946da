"""A host that nobody brought back is recovered and proven; an interrupted job goes on, or says why it may not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hio_validate.execute import jobs, lock, owned, recovery
from hio_validate.execute.work import Service
from hio_validate.observe.sockets import owner_of
from tests.execute import tiny
from tests.execute.conftest import Begin, Trial, work


def both_killed(begin: Begin, service: Service, *modes: str) -> Trial:
    """A trial whose guardian and supervisor died in the middle of the second leg."""
    trial = begin(
        work(order=("one", "two", "one"), port=service.port, during="stop", serving=service, modes=modes),
        at=2,
    )
    trial.is_in_leg(2)
    supervisor = trial.supervisor
    os.kill(supervisor, signal.SIGSTOP)
    trial.guardian.kill()
    os.kill(supervisor, signal.SIGKILL)
    trial.ends()
    return trial


def test_both_are_killed_and_the_host_is_recovered(begin: Begin, serving: Callable[..., Service]) -> None:
    service = serving()
    trial = both_killed(begin, service, "heir", "deaf")
    assert jobs.unsafe_jobs(jobs.state_folder()) == [trial.job]
    recovery.recover(trial.job, tiny.PARTS)
    job = trial.job
    assert job.state == "closed"
    closed, restored = job.last("closed"), job.last("restored")
    assert closed and closed["why"] == "guardian and supervisor died"
    assert restored and restored["proven"]
    assert owned.identity_of(owner_of(service.port).pid) is not None
    assert not owned.carriers(job.mark)
    assert not lock.is_taken()


def test_a_service_that_cannot_be_proven_keeps_the_host_unsafe_until_it_is(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = both_killed(begin, service)
    before = trial.folder / "before.json"
    kept = before.read_text()
    before.write_text(kept.replace('"total_slots": 2', '"total_slots": 3'))
    with pytest.raises(recovery.CannotRecover, match="props: differs in total_slots"):
        recovery.recover(trial.job, tiny.PARTS)
    assert trial.job.state == "unsafe"
    before.write_text(kept)
    recovery.recover(trial.job, tiny.PARTS)
    assert trial.job.state == "closed"


def test_a_stranger_on_the_port_of_the_service_is_not_touched(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = both_killed(begin, service)
    import socket  # the stranger

    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind(("127.0.0.1", service.port))
        stranger.listen()
        with pytest.raises(recovery.CannotRecover, match="a stranger"):
            recovery.recover(trial.job, tiny.PARTS)
    recovery.recover(trial.job, tiny.PARTS)
    assert trial.job.state == "closed"


def test_a_job_of_another_boot_is_unsafe_and_its_ids_mean_nobody(begin: Begin) -> None:
    trial = begin(work())
    job = trial.ends()
    journal = job.folder / "journal.jsonl"
    kept = [line for line in journal.read_text().splitlines() if '"closed"' not in line]
    us = f'"pid": {os.getpid()}'
    journal.write_text("\n".join(kept).replace(f'"pid": {job.keepers["guardian"].pid}', us) + "\n")
    assert trial.job.state == "unsafe"
    assert Path(f"/proc/{os.getpid()}").exists()


def test_a_torn_line_hides_no_other(begin: Begin) -> None:
    trial = begin(work())
    trial.ends()
    with (trial.folder / "journal.jsonl").open("a") as journal:
        journal.write('{"at": "2026-')
    assert trial.job.state == "closed"
    recovery.resume(trial.job)
    assert trial.job.current("resumed") == {"left": []}
