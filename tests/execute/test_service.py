"""Whether a service may be stopped, and what is found when it is not what it was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.execute import owned, recovery, service
from hio_validate.execute.service import CannotStop
from hio_validate.execute.work import Service
from hio_validate.observe.sockets import listening, owner_of
from tests.execute import tiny
from tests.execute.backends.conftest import Kept, kept
from tests.execute.conftest import ENVIRONMENT, PATIENCE_S, Begin, engine, wait_for, work
from tests.ports import free_port

__all__ = ["kept"]

Serving = Callable[..., Service]


def refused(own: Service) -> str:
    with pytest.raises(CannotStop) as error:
        service.look_before(own, PATIENCE_S)
    return str(error.value)


def test_a_service_that_is_as_recorded_may_be_stopped(serving: Serving) -> None:
    own = serving()
    before = service.look_before(own, PATIENCE_S)
    assert before.who == owned.identity_of(owner_of(own.port).pid)
    assert before.process.executable.sha256


def test_the_message_about_another_argument_shows_no_value(serving: Serving) -> None:
    own = serving("--api-key", "s3cret")
    assert own.command
    other = replace(own.command, arguments=(*own.command.arguments[:-1], "another"))
    said = refused(replace(own, command=other))
    assert "word 5 of its command line is not the recorded one (at --api-key)" in said
    assert "s3cret" not in said and "another" not in said


def test_nobody_and_a_sharing_listener_are_refused(serving: Serving) -> None:
    assert "nobody listens on port" in refused(
        Service("lab/small", "127.0.0.1", free_port(), None, engine(1))
    )
    own = serving()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.2", own.port))
        other.listen()
        assert "either may answer" in refused(own)


def test_a_service_without_a_command_is_refused(serving: Serving) -> None:
    assert "no recorded command" in refused(replace(serving(), command=None))


def test_what_a_unit_keeps_is_refused(serving: Serving) -> None:
    root = (
        Path("/sys/fs/cgroup/unified") if Path("/sys/fs/cgroup/unified").exists() else Path("/sys/fs/cgroup")
    )
    unit = root / f"hio-test-{os.getpid()}.service"
    try:
        unit.mkdir()
    except OSError:
        pytest.skip("no control group can be made here")
    try:
        own = serving()
        pid = owner_of(own.port).pid
        (unit / "cgroup.procs").write_text(str(pid))
        assert f"kept by the systemd unit {unit.name}" in refused(own)
        (root / "cgroup.procs").write_text(str(pid))
    finally:
        unit.rmdir()


def test_what_a_process_supervisor_keeps_is_refused() -> None:
    port = free_port()
    keeper = (
        "import ctypes, subprocess, sys; ctypes.CDLL(None).prctl(15, b'runsv', 0, 0, 0);"
        "child = subprocess.Popen(sys.argv[1:]); sys.stdin.read(); child.kill(); child.wait()"
    )
    command = engine(port)
    with subprocess.Popen(
        [sys.executable, "-c", keeper, *command.argv], env=ENVIRONMENT, stdin=subprocess.PIPE
    ) as kept:
        wait_for(lambda: tiny.answers(port))
        own = Service("lab/small", "127.0.0.1", port, None, command)
        assert f"kept by runsv (process {kept.pid})" in refused(own)
        assert kept.stdin
        kept.stdin.close()


def test_what_something_starts_again_ends_the_trial_and_serves(begin: Begin, tmp_path: Path) -> None:
    port, go = free_port(), tmp_path / "go"
    go.touch()
    command = engine(port)
    loop = f'while [ -e "{go}" ]; do "$@"; done'
    with subprocess.Popen(
        ["/bin/sh", "-c", loop, "sh", *command.argv], env={**ENVIRONMENT, "OTHER": "x"}, cwd="/"
    ) as keeper:
        wait_for(lambda: tiny.answers(port))
        own = Service("lab/small", "127.0.0.1", port, None, command)
        job = begin(work(port=port, during="stop", serving=own)).ends()
        go.unlink()
        closed, restored = job.last("closed"), job.last("restored")
        who = owned.identity_of(owner_of(port).pid)
        assert who and owned.send(who, 9)
        keeper.wait()
    assert closed and "something starts it again" in closed["why"]
    assert restored and restored["proven"]
    assert job.last("leg-started") is None


def test_a_stranger_that_shares_the_port_while_the_service_comes_back_is_sent_nothing(
    begin: Begin, serving: Serving, tmp_path: Path
) -> None:
    loading = tmp_path / "loading"
    own = serving("shares", f"while:{loading}")
    trial = begin(work(port=own.port, during="stop", serving=own), held=True)
    trial.is_in_leg(1)
    loading.touch()
    os.kill(trial.supervisor, signal.SIGTERM)
    trial.reaches("restoring")
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        wait_for(lambda: bool(listening(own.port)))
        stranger.bind(("127.0.0.1", own.port))
        stranger.listen()
        stranger.setblocking(False)
        loading.unlink()
        trial.takes_too_long(tiny.START)
        assert trial.ends().state == "unsafe", trial.tell()
        assert "either may answer" in trial.job.last("not-restored")["checks"]["owner"]
        with pytest.raises(BlockingIOError):
            stranger.accept()
    recovery.recover(trial.job, tiny.PARTS)
    assert trial.job.state == "closed"
    assert trial.job.last("restored")["proven"]


@pytest.mark.parametrize("killed", [None, "stopped", "restoring"])
def test_a_kept_service_is_stopped_and_restored_by_its_keeper(
    kept: Kept, begin: Begin, state: Path, tmp_path: Path, killed: str | None
) -> None:
    loading = tmp_path / "loading"
    local, port = kept(f"while:{loading}", folder=state / "services/lab/small")
    before, own = local.main(), Service("lab/small", "127.0.0.1", 0, "small@sha256:0")
    own = replace(own, port=port, command=engine(port, f"while:{loading}"))
    trial = begin(work(port=port, during="stop", serving=own), held=killed is not None)
    if killed == "stopped":
        trial.reaches("process", 2)
        os.kill(trial.supervisor, signal.SIGKILL)
    elif killed == "restoring":
        trial.reaches("process", 2)
        loading.touch()
        os.kill(trial.supervisor, signal.SIGTERM)
        trial.reaches("restoring")
        os.kill(trial.supervisor, signal.SIGKILL)
        loading.unlink()
    job = trial.ends()
    assert job.state == "closed" and job.last("restored")["proven"], trial.tell()  # type: ignore[index]
    assert local.is_kept() and local.main() not in (None, before)
    assert owner_of(port).pid == local.main().pid  # type: ignore[union-attr]


@pytest.mark.parametrize(("stays_s", "proven"), [("1", True), ("60", False)])
def test_a_process_that_was_begun_and_never_ran_is_not_the_service(
    serving: Serving, tmp_path: Path, stays_s: str, proven: bool
) -> None:
    own = serving()
    before, ticks = service.look_before(own, PATIENCE_S), service.ticks_now()
    service.stop(own, before.who)
    with subprocess.Popen(["sleep", stays_s]) as process:
        begun = owned.identity_of(process.pid)
        found = service.restore(own, before, tmp_path / "log", PATIENCE_S, stopped_ticks=ticks, begun=begun)
        process.kill()
    assert found.proven == proven, found.checks
    assert proven or "neither became" in found.checks["serves"]
