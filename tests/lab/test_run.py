"""hio run with the real engine, from a plan to a run that the validator accepts, and the service back and proven."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hio_validate.command import Command
from hio_validate.execute import jobs, lock, owned
from hio_validate.history import Folder
from hio_validate.observe.sockets import listening, owner_of
from hio_validate.repo import load
from tests.cli.console import HIO, NOBODY
from tests.execute import tiny
from tests.execute.conftest import PATIENCE_S, state, wait_for
from tests.execute.experiment import SERVICE, approval, baseline, pin, stack, yaml
from tests.lab.serving import ROOT
from tests.lab.test_legs import validated
from tests.lab.trial import MODEL, SERVER, SMALL, Trial, trial
from tests.small_repo import write

__all__ = ["state"]

pytestmark = pytest.mark.lab

STOPPED = {"during": "stop", "restore": "base"}


STAYS = {"restart": "never", "order": ["one", "one", "two", "two"]}
LONG = {"requests": {"warm_up": 1, "measured": 24}}
"""A leg that is still there when somebody has seen it and ends its server."""


@pytest.fixture
def planned(state: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Trial:
    """A repository whose plan stops the service on its own port, with both approvals."""
    return stopping(tmp_path, **getattr(request, "param", {}))


def stopping(folder: Path, **more: Any) -> Trial:
    """Such a repository in a folder, its plan with changes."""
    said = {"order": ["one", "two", "two", "one"], "requests": {"warm_up": 1, "measured": 1}, **more}
    made = trial(folder, **said)
    first = baseline(stack(more=SMALL, build="b10001"))
    load_test = approval(after=[pin("b0", yaml(first))])
    stop = approval(id="stop", after=[pin("yes", yaml(load_test))], approves="stop-production")
    write(made.root, {"ledger/here/tiny/2026/stop.yaml": yaml(stop)})
    file = made.root / f"manifests/services/{SERVICE}/plans/threads.yaml"
    file.write_text(file.read_text().replace('{"during": "none"}', json.dumps(STOPPED)))
    return made


@pytest.fixture
def serving(planned: Trial) -> Iterator[Command]:
    """The service serves, as its stack says."""
    command = planned.work.arms["one"].command
    process = subprocess.Popen(
        command.argv, env=dict(command.environment), cwd=command.folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: tiny.answers(planned.work.port))
    yield command
    ended(process, planned.work.port)


def ended(process: subprocess.Popen[bytes], port: int) -> None:
    """End the service, also the one that was started again in its place."""
    process.kill()
    process.wait()
    if listening(port):
        who = owned.identity_of(owner_of(port).pid)
        assert who
        owned.send(who, signal.SIGKILL)
        owned.wait_for_end(who, PATIENCE_S)


def hio(planned: Trial, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*HIO, *words], cwd=planned.root, capture_output=True, text=True, check=False)


def run_of(planned: Trial, job: str) -> Any:
    return load(Folder(planned.root)).find("run/v1", job, SERVICE).model


def test_a_plan_becomes_a_run_and_the_service_is_back(planned: Trial, serving: Command) -> None:
    page = hio(planned, "run", "threads")
    assert page.returncode == 0, page.stdout + page.stderr
    assert "is stopped before the first leg" in " ".join(page.stdout.split())
    done = hio(planned, "run", "threads", "--yes", "--name", "first")
    assert done.returncode == 0, done.stdout + done.stderr
    validated(planned.root)
    run = run_of(planned, "first")
    assert run.outcome == "completed"
    assert [leg.arm for leg in run.legs] == ["one", "two", "two", "one"]
    assert not any(leg.invalid for leg in run.legs)
    assert run.restored.proven and run.restored.capture
    assert run.samples.count > 4
    assert run.preflight.live
    assert tiny.ask(planned.work.port)


def test_an_interrupted_trial_is_recorded_and_goes_on(planned: Trial, serving: Command, state: Path) -> None:
    assert hio(planned, "run", "threads", "--yes", "--detach", "--name", "first").returncode == 0
    folder = state / "jobs/first"
    wait_for(lambda: len(jobs.Job(folder).legs) == 1)
    os.kill(jobs.Job(folder).keepers["supervisor"].pid, signal.SIGKILL)
    followed = hio(planned, "runs", "first", "--follow")
    assert followed.returncode == 1
    assert "the supervisor was ended by SIGKILL" in followed.stdout
    validated(planned.root)
    assert run_of(planned, "first").outcome == "aborted"
    resumed = hio(planned, "run", "--resume", "first", "--yes")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    validated(planned.root)
    run = run_of(planned, "first")
    assert run.outcome == "completed" and run.resumed
    assert sorted(leg.place for leg in run.legs if not leg.invalid) == [1, 2, 3, 4]
    assert tiny.ask(planned.work.port)


@pytest.mark.parametrize("planned", [STAYS], indirect=True)
def test_a_server_stays_between_the_legs_of_its_arm(planned: Trial, serving: Command, state: Path) -> None:
    done = hio(planned, "run", "threads", "--yes", "--name", "first")
    assert done.returncode == 0, done.stdout + done.stderr
    validated(planned.root)
    run = run_of(planned, "first")
    assert [leg.arm for leg in run.legs] == STAYS["order"]
    assert not any(leg.invalid for leg in run.legs)
    assert [leg.startup_s is None for leg in run.legs] == [False, True, False, True]
    assert started(state, "server") == 2
    assert_nothing_is_left(state, planned)


@pytest.mark.parametrize("when", ["legs/1/leg.json", "legs/2/leg.json", "legs/2/events.jsonl"])
@pytest.mark.parametrize("planned", [STAYS | LONG], indirect=True)
def test_a_server_that_stays_and_is_killed_is_not_quietly_replaced(
    planned: Trial, serving: Command, state: Path, when: str
) -> None:
    """Whoever notices first: the look before a leg, the capture of its process, or the client that asks it."""
    assert hio(planned, "run", "threads", "--yes", "--detach", "--name", "first").returncode == 0
    folder = state / "jobs/first"
    wait_for(lambda: len(jobs.Job(folder).legs) == 1 and (folder / when).exists())
    os.kill(jobs.Job(folder).started_processes[0].pid, signal.SIGKILL)
    followed = hio(planned, "runs", "first", "--follow")
    assert followed.returncode == 1
    assert re.search(r"^\S+  failed: the server .*was ended by SIGKILL", followed.stdout, re.M), (
        followed.stdout
    )
    assert started(state, "server") == 1
    assert_nothing_is_left(state, planned)


@pytest.mark.parametrize("planned", [STAYS], indirect=True)
def test_an_edited_plan_does_not_go_on_and_the_restored_one_does(
    planned: Trial, serving: Command, state: Path
) -> None:
    assert hio(planned, "run", "threads", "--yes", "--detach", "--name", "first").returncode == 0
    folder = state / "jobs/first"
    wait_for(lambda: len(jobs.Job(folder).legs) == 1)
    os.kill(jobs.Job(folder).keepers["supervisor"].pid, signal.SIGKILL)
    hio(planned, "runs", "first", "--follow")
    file = planned.root / f"manifests/services/{SERVICE}/plans/threads.yaml"
    as_pinned = file.read_text()
    file.write_text(as_pinned.replace("the owner of this host", "somebody else"))
    refused = hio(planned, "run", "--resume", "first", "--yes")
    assert refused.returncode == 1
    assert "first does not go on: the plan threads has other bytes" in refused.stderr
    file.write_text(as_pinned)
    resumed = hio(planned, "run", "--resume", "first", "--yes")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    validated(planned.root)
    assert sorted(leg.place for leg in run_of(planned, "first").legs if not leg.invalid) == [1, 2, 3, 4]
    assert_nothing_is_left(state, planned)


def started(state: Path, role: str) -> int:
    """How many processes of a role the job started."""
    events = jobs.Job(state / "jobs/first").events
    return sum(each.event == "process" and each.data["role"] == role for each in events)


def assert_nothing_is_left(state: Path, planned: Trial) -> None:
    """Closed, nothing of the trial runs, and the previous service serves and is proven."""
    job = jobs.Job(state / "jobs/first")
    assert job.state == "closed"
    assert job.last("restored")["proven"]  # type: ignore[index]
    assert not owned.carriers(job.mark)
    assert not [who for who in job.started_processes if owned.is_alive(who)]
    lock.take().close()
    assert hio(planned, "runs").returncode == 0
    assert tiny.ask(planned.work.port)


@pytest.fixture
def home_of_nobody() -> Iterator[Path]:
    """A folder of a user without any privilege, who can read the engine and this package."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; whoever runs this is one without privilege")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.chown(home, NOBODY, NOBODY)
        looks = f"import hio_validate, click; open({str(MODEL)!r}).close(); open({str(SERVER)!r}).close()"
        try:
            seen = as_nobody(home, home, [sys.executable, "-c", looks])
        except PermissionError as error:
            pytest.skip(f"that user cannot run {error.filename}")
        if seen.returncode:
            pytest.skip(f"that user cannot read what is needed: {seen.stderr.splitlines()[-1]}")
        yield home


def as_nobody(home: Path, folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "HIO_STATE": str(home / "state"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    return subprocess.run(
        words, cwd=folder, env=environment, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_a_user_without_privilege_runs_a_trial(home_of_nobody: Path) -> None:
    home = home_of_nobody
    made = stopping(home)
    for each in home.rglob("*"):
        os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
    port, command = made.work.port, made.work.arms["one"].command
    run = [*HIO, "run", "threads", "--yes", "--name"]
    with socket.create_server(("127.0.0.1", port)):
        refused = as_nobody(home, made.root, [*run, "refused"])
    assert "the socket belongs to user 0" in refused.stdout, refused.stdout + refused.stderr
    job = jobs.Job(home / "state/jobs/refused")
    assert (job.state, job.legs, job.last("service-stopping")) == ("closed", [], None)
    process = subprocess.Popen(
        command.argv, env=dict(command.environment), cwd=command.folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, user=NOBODY, group=NOBODY, extra_groups=[],
    )  # fmt: skip
    try:
        wait_for(lambda: tiny.answers(port))
        done = as_nobody(home, made.root, [*run, "first"])
        assert done.returncode == 0, done.stdout + done.stderr
        validated(made.root)
        recorded = run_of(made, "first")
        assert (recorded.outcome, len(recorded.legs)) == ("completed", 4)
        assert not any(leg.invalid for leg in recorded.legs)
        assert recorded.restored.proven
        job = jobs.Job(home / "state/jobs/first")
        assert job.state == "closed"
        assert not owned.carriers(job.mark)
        assert as_nobody(home, made.root, [*HIO, "runs"]).returncode == 0
        assert Path(f"/proc/{owner_of(port).pid}").stat().st_uid == NOBODY
        assert tiny.ask(port)
    finally:
        ended(process, port)
