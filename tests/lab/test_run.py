"""hio run with the real engine, from a plan to a run that the validator accepts, and the service back and proven."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute import jobs, owned
from hio_validate.execute.work import Command
from hio_validate.history import Folder
from hio_validate.observe.sockets import listening, owner_of
from hio_validate.repo import load
from tests.cli.console import HIO
from tests.execute import tiny
from tests.execute.conftest import state, wait_for
from tests.execute.experiment import SERVICE, approval, baseline, pin, stack, yaml
from tests.lab.test_legs import validated
from tests.lab.trial import SMALL, Trial, trial
from tests.small_repo import write

__all__ = ["state"]

pytestmark = pytest.mark.lab

STOPPED = {"during": "stop", "restore": "base"}


@pytest.fixture
def planned(state: Path, tmp_path: Path) -> Trial:
    """A repository whose plan stops the service on its own port, with both approvals."""
    made = trial(tmp_path, order=["one", "two", "two", "one"], requests={"warm_up": 1, "measured": 1})
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
    process.kill()
    process.wait()
    if listening(planned.work.port):
        who = owned.identity_of(owner_of(planned.work.port).pid)
        assert who
        owned.send(who, signal.SIGKILL)
        owned.wait_for_end(who, 20)


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
