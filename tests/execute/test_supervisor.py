"""A job from its start to its end: legs in the pinned order, the preflight before each, the service stopped and back."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.execute import owned
from hio_validate.execute.work import Approved, Service
from hio_validate.observe.sockets import owner_of
from tests.execute.conftest import Begin, assert_nothing_is_left, ceilings, engine, work


def test_a_job_runs_its_legs_in_the_pinned_order_and_is_closed(begin: Begin) -> None:
    trial = begin(work(order=("one", "two", "two", "one")))
    job = trial.ends()
    assert job.state == "closed", trial.tell()
    assert [leg["record"]["arm"] for leg in job.legs] == ["one", "two", "two", "one"]
    assert [leg["number"] for leg in job.legs] == [1, 2, 3, 4]
    assert {leg["record"]["content"] for leg in job.legs} == {"yes"}
    assert job.last("closed")["outcome"] == "completed"
    assert (job.folder / "run.txt").exists()
    assert (job.folder / "legs/4/samples.tsv").read_text().startswith("at\tavailable\t")
    assert job.folder.stat().st_mode & 0o777 == 0o700
    assert_nothing_is_left(trial)


def test_the_service_is_stopped_restored_and_proven(begin: Begin, serving: Callable[..., Service]) -> None:
    service = serving()
    old = owner_of(service.port).pid
    trial = begin(work(port=service.port, during="stop", serving=service))
    job = trial.ends()
    assert job.state == "closed", trial.tell()
    restored = job.last("restored")
    assert restored and set(restored["checks"].values()) == {"passed"}
    assert {
        "argv",
        "environment",
        "owner",
        "executable",
        "libraries",
        "slots",
        "props",
        "swap",
        "prefix-reuse",
    } <= restored["checks"].keys()
    assert owner_of(service.port).pid != old


def test_a_service_that_runs_otherwise_than_recorded_is_refused_and_never_touched(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    other = replace(service, command=engine(service.port, "slow"))
    trial = begin(work(port=service.port, during="stop", serving=other))
    job = trial.ends()
    ended = job.last("closed")
    assert ended and ended["outcome"] == "failed"
    assert "would not come back as it is" in ended["why"]
    assert job.last("service-stopping") is None
    assert_serves(service)


def test_a_service_that_could_not_be_proven_is_not_stopped(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving("forgets")
    job = begin(work(port=service.port, during="stop", serving=service)).ends()
    assert job.state == "closed"
    ended = job.last("closed")
    assert ended and "could not be proven to be back after a stop: prefix-reuse" in ended["why"]
    assert job.last("service-stopping") is None
    assert_serves(service)


def test_a_service_that_does_not_come_back_as_it_was_leaves_the_host_unsafe(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    trial = begin(work(port=service.port, during="stop", serving=service), held=True)
    trial.reaches("service-stopped")
    before = trial.folder / "before.json"
    before.write_text(before.read_text().replace('"total_slots": 2', '"total_slots": 3'))
    trial.release()
    job = trial.ends()
    assert job.state == "unsafe"
    found = job.last("not-restored")
    assert found and found["checks"]["props"] == "differs in total_slots"


def test_a_port_that_somebody_listens_on_is_refused_before_a_leg(begin: Begin) -> None:
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]
        job = begin(work(port=port)).ends()
        ended = job.last("closed")
        assert ended and f"process {os.getpid()} listens on 127.0.0.1:{port}" in ended["why"]
        assert job.last("leg-started") is None


def test_an_approval_that_has_expired_stops_before_anything(
    begin: Begin, serving: Callable[..., Service]
) -> None:
    service = serving()
    approvals = (Approved("load@sha256:0", "load-test", "2026-01-01T00:00:00Z"),)
    job = begin(work(port=service.port, during="stop", serving=service, approvals=approvals)).ends()
    assert "load (load-test) expired at 2026-01-01T00:00:00Z" in job.last("closed")["why"]
    assert job.last("service-stopping") is None


def test_a_crash_is_told_with_its_exit_code_and_the_end_of_its_log(begin: Begin) -> None:
    trial = begin(work(modes=("crash",)))
    job = trial.ends()
    ended = job.last("closed")
    assert ended["outcome"] == "failed"
    assert "the server ended with exit code 7" in ended["why"]
    assert "it was asked too much" in ended["why"]
    assert (job.folder / "run.txt").exists()
    assert_nothing_is_left(trial)


def test_a_kill_is_noticed_at_once_with_its_signal(begin: Begin) -> None:
    trial = begin(work(), held=True)
    trial.reaches("process", 2)
    owned.send(trial.running(), signal.SIGKILL)
    job = trial.ends()
    assert "the server was ended by SIGKILL" in job.last("closed")["why"]
    assert_nothing_is_left(trial)


def test_a_halted_server_ends_the_trial(begin: Begin) -> None:
    trial = begin(work(), held=True)
    trial.reaches("process", 2)
    owned.send(trial.running(), signal.SIGSTOP)
    job = trial.ends()
    assert "was halted by somebody (SIGSTOP)" in job.last("closed")["why"]
    assert_nothing_is_left(trial)


def test_what_called_setsid_and_what_ignores_term_are_ended(begin: Begin) -> None:
    trial = begin(work(modes=("heir",)), held=True)
    trial.reaches("process", 2)
    heirs = owned.alive_below(trial.running().pid)
    assert len(heirs) == 1
    trial.release()
    assert trial.ends().state == "closed"
    assert not any(owned.is_alive(each) for each in heirs)
    assert_nothing_is_left(trial)


@pytest.mark.parametrize(
    ("limits", "modes", "said"),
    [
        ({"memory": 200 << 20}, ("grow",), "of anonymous and shared memory; the limit is 200 MiB"),
        ({"available": 1 << 60}, (), "of memory available; at least"),
        ({"leg_s": 0.5}, (), "the leg took longer than 0.5 s"),
        ({"total_s": 0.5}, (), "the trial took longer than 0.5 s"),
        ({"start_s": 0.3}, ("sick",), "the server is ready: not within 0.3 s"),
    ],
)
def test_a_ceiling_ends_the_trial_and_only_the_trial(
    begin: Begin, serving: Callable[..., Service], limits: dict[str, float], modes: tuple[str, ...], said: str
) -> None:
    stays = serving()
    trial = begin(work(modes=modes, ceilings=ceilings(**limits)), held=True)
    job = trial.ends()
    ended = job.last("closed")
    assert ended["outcome"] == "aborted"
    assert said in ended["why"]
    assert_nothing_is_left(trial)
    assert_serves(stays)


def test_a_temperature_limit_on_a_host_without_a_sensor_is_refused(begin: Begin) -> None:
    if list(Path("/sys/class/thermal").glob("thermal_zone*/temp")):
        pytest.skip("this host has a sensor")
    job = begin(work(ceilings=ceilings(temperature_c=80.0))).ends()
    assert "could never end the trial here: limits.temperature_c" in job.last("closed")["why"]
    assert job.last("leg-started") is None


def test_a_halted_supervisor_leaves_a_hole_that_makes_the_leg_invalid(begin: Begin) -> None:
    trial = begin(work(ceilings=ceilings(gap_s=0.5)), held=True)
    trial.reaches("process", 2)
    os.kill(trial.supervisor, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(trial.supervisor, signal.SIGCONT)
    trial.release()
    record = trial.ends().legs[0]["record"]
    said = re.compile(r"no sample of the host for (\d+\.\d) s; at most 0.5 s are allowed")
    holes = [float(found[1]) for each in record["invalid"] if (found := said.fullmatch(each))]
    assert max(holes) >= 1.0  # a busy host may have made others


def test_a_stop_that_is_asked_for_ends_it_and_says_so(begin: Begin) -> None:
    trial = begin(work(order=("one", "one")), held=True)
    trial.reaches("process", 2)
    os.kill(trial.supervisor, signal.SIGTERM)
    ended = trial.ends().last("closed")
    assert (ended["outcome"], ended["resumable"]) == ("stopped", True)
    assert_nothing_is_left(trial)


def test_a_program_that_is_replaced_between_legs_ends_the_trial(begin: Begin, tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_text(f'#!/bin/sh\nexec {engine(1).program} {engine(1).arguments[0]} "$@"\n')
    program.chmod(0o755)
    what = work(order=("one", "one"))
    arm = what.arms["one"]
    command = replace(arm.command, program=str(program), arguments=(str(what.port),))
    trial = begin(replace(what, arms={"one": replace(arm, command=command)}), held=True)
    trial.reaches("process", 2)
    other = tmp_path / "other"
    other.write_text(program.read_text() + "# another build\n")
    other.chmod(0o755)
    other.replace(program)
    trial.release()
    job = trial.ends()
    assert f"{program} has other bytes" in job.last("closed")["why"]
    assert len(job.legs) == 1


def assert_serves(service: Service) -> None:
    assert service.command is not None
    pid = owner_of(service.port).pid
    assert owned.identity_of(pid)
