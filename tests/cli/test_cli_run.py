"""hio run, runs and stop as a person calls them, over trials of small engines."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.execute import jobs, lock, owned
from hio_validate.execute.work import Work, as_text
from tests.execute import tiny
from tests.execute.conftest import PATIENCE_S, begin, serving, state, wait_for, work

__all__ = ["begin", "serving", "state"]

PLAN = """\
hio: plan/v1
name: p
service: lab/small
question: "Is it faster?"
stage: screening
hypothesis: {claim: a gain of 20 %, operation: decode, mechanism: two cores}
baseline: one
arms: {one: {stack: base}, two: {stack: base}}
factors: []
order: [one, two]
same_work: {content: equal}
decide: {metric: decode_tps, better: higher, at_least_percent: 5, test: permutation, alpha: 0.05}
limits: {memory: 2GiB, available: 1GiB, start_s: 30, leg_s: 60, total_s: 600}
abort_owner: ana
serving: {during: none}
"""

Tell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def repo(tmp_path: Path, state: Path) -> Path:
    file = tmp_path / "repo/manifests/services/lab/small/plans/p.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(PLAN)
    return tmp_path / "repo"


@pytest.fixture
def tell(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Runs hio in the repository; `what` is the work that the plan comes to."""
    monkeypatch.setenv("TINY_WORK", str(tmp_path / "work.json"))

    def call(*words: str, what: Work | str | None = None) -> subprocess.CompletedProcess[str]:
        if what is not None:
            (tmp_path / "work.json").write_text(what if isinstance(what, str) else as_text(what))
        done = subprocess.run(
            command(*words), cwd=repo, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return call


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", tiny.MODULE, "hio", *words]


def only_job(state: Path) -> jobs.Job:
    (job,) = jobs.all_jobs(state)
    return job


def hold(state: Path) -> None:
    """No leg of any job ends before the file is gone."""
    state.mkdir(parents=True, exist_ok=True)
    (state / tiny.HOLD).touch()


def gone(state: Path) -> Callable[[], bool]:
    return lambda: not any(owned.is_alive(who) for who in only_job(state).keepers.values())


def test_without_yes_it_says_everything_and_does_nothing(tell: Tell, state: Path) -> None:
    what = work(order=("one", "two"))
    said = tell("run", "p", what=what)
    assert said.returncode == 0, said.stderr
    assert "2 legs, one after the other: one, two." in said.stdout
    assert " ".join(what.arms["one"].command.argv) in " ".join(said.stdout.split())
    assert "its processes hold more than 1 GiB of memory" in " ".join(said.stdout.split())
    assert said.stdout.endswith("nothing has happened yet; add --yes to start it\n")
    assert not jobs.all_jobs(state)
    shape = json.loads(tell("run", "p", "--format", "json", what=what).stdout)
    assert (shape["version"], shape["refused"], shape["listens"]) == (1, [], f"127.0.0.1:{what.port}")


def test_reasons_against_a_plan_are_all_told(tell: Tell, state: Path) -> None:
    said = tell("run", "p", "--yes", what="no approval\nno program")
    assert (said.returncode, said.stdout) == (1, "refused: no approval\nrefused: no program\n")
    assert not jobs.all_jobs(state)


def test_a_port_that_somebody_holds_is_refused_before_there_is_a_job(tell: Tell, state: Path) -> None:
    what = work(order=("one", "two"))
    with socket.create_server(("127.0.0.1", what.port)):
        said = tell("run", "p", "--yes", what=what)
    assert said.returncode == 1
    assert f"process {os.getpid()}" in said.stderr
    assert "serving: {during: stop, restore: STACK}" in said.stderr
    assert not jobs.all_jobs(state)


def test_with_yes_it_follows_to_the_end(tell: Tell, state: Path) -> None:
    said = tell("run", "p", "--yes", "--name", "first", what=work(order=("one", "two")))
    assert said.returncode == 0, said.stdout + said.stderr
    lines = [line[10:] for line in said.stdout.splitlines() if line[2:3] == ":"]
    assert lines[0] == "leg 1 of 2, one; at most 1200 s left"
    assert lines[-1] == "closed"
    assert "leg 2 of 2 is measured" in lines
    assert json.loads((only_job(state).folder / "preflight.json").read_text())["host"]["memory-available"] > 0
    again = tell("run", "p", "--yes", "--name", "first")
    assert again.returncode == 2
    assert "a job is called first already" in again.stderr
    told = tell("runs")
    assert told.returncode == 0
    assert "first" in told.stdout and "closed" in told.stdout and "2 of 2" in told.stdout
    assert "all legs ran" in tell("runs", "first").stdout
    shape = json.loads(tell("runs", "--format", "json").stdout)
    assert [(each["job"], each["legs"]["valid"]) for each in shape["jobs"]] == [("first", 2)]


def test_a_run_that_could_not_be_recorded_is_told_and_recorded_later(tell: Tell, state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    (state / tiny.READ_ONLY).touch()
    said = tell("run", "p", "--yes", "--name", "first", what=work(order=("one", "two")))
    assert said.returncode == 1, said.stdout + said.stderr
    assert "NOT recorded: OSError: [Errno 30] Read-only file system" in said.stdout
    still = tell("runs", "first", "--recover")
    assert (still.returncode, "its run is not in the repository" in still.stderr) == (1, True)
    (state / tiny.READ_ONLY).unlink()
    again = tell("runs", "first", "--recover")
    assert (again.returncode, "first is recorded" in again.stderr) == (0, True), again.stderr
    assert (only_job(state).folder / "run.txt").exists()
    assert "it is closed" in tell("runs", "first", "--recover").stderr


def test_nothing_measured_is_3(tell: Tell) -> None:
    said = tell("run", "p", "--yes", what=work(modes=("crash",)))
    assert said.returncode == 3
    assert "the server ended with exit code 7" in said.stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
def test_a_trial_outlives_the_terminal_that_started_it(
    tell: Tell, repo: Path, state: Path, tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "work.json").write_text(as_text(work(order=("one", "two"))))
    hold(state)
    with subprocess.Popen(
        command("run", "p", "--yes"),
        cwd=repo,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout and process.stderr
        assert any(b"leg 1 of 2" in line for line in process.stdout)
        os.killpg(process.pid, number)
        said = process.stderr.read().decode()
    (state / tiny.HOLD).unlink()
    assert ("goes on" in said) == (number == signal.SIGINT)
    watched = tell("run", "--resume", only_job(state).name)
    wait_for(gone(state))
    closed = only_job(state).last("closed")
    assert closed and closed["outcome"] == "completed", (closed, watched.stdout, watched.stderr)
    assert watched.returncode in (0, 1)  # 1 where it had ended before it could be watched


def test_stop_ends_a_trial_which_is_resumed(tell: Tell, state: Path) -> None:
    what = work(order=("one", "two"))
    hold(state)
    assert tell("run", "p", "--yes", "--detach", what=what).returncode == 0
    job = only_job(state)
    wait_for(lambda: only_job(state).last("process") is not None)
    second = tell("run", "p", "--yes", what=what)
    assert (second.returncode, second.stderr) == (
        1,
        f"hio: {lock.TAKEN}\n",
    )
    assert "nothing has happened yet" in tell("stop").stdout
    assert only_job(state).state == "running"
    assert "asked;" in tell("stop", "--yes").stdout
    wait_for(gone(state))
    assert only_job(state).last("closed")["outcome"] == "stopped"
    (state / tiny.HOLD).unlink()
    page = tell("run", "--resume", job.name)
    assert page.returncode == 0 and "nothing has happened yet" in page.stdout
    resumed = tell("run", "--resume", job.name, "--yes")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    again = tell("run", "--resume", job.name)
    assert (again.returncode, again.stderr) == (1, f"hio: {job.name} does not go on: all its legs ran\n")
    assert "does not run" in tell("stop", job.name).stdout


def test_an_unsafe_host_refuses_until_it_is_recovered(tell: Tell, state: Path) -> None:
    what = work(order=("one", "two"))
    hold(state)
    tell("run", "p", "--yes", "--detach", what=what)
    job = only_job(state)
    wait_for(lambda: only_job(state).last("process") is not None)
    keepers = only_job(state).keepers
    os.kill(keepers["supervisor"].pid, signal.SIGSTOP)
    owned.send(keepers["guardian"], signal.SIGKILL)
    owned.send(keepers["supervisor"], signal.SIGKILL)
    wait_for(gone(state))
    listed = tell("runs")
    assert listed.returncode == 1
    assert f"hio runs --recover {job.name} ends what is left" in " ".join(listed.stdout.split())
    refused = tell("run", "p", "--yes", what=what)
    assert refused.returncode == 1 and "this host is unsafe" in refused.stderr
    assert "nobody is left to stop" in tell("stop", job.name).stderr
    assert "comes first" in tell("run", "--resume", job.name).stderr
    recovered = tell("runs", "--recover")
    assert recovered.returncode == 0, recovered.stderr
    assert only_job(state).state == "closed"
    assert not owned.carriers(job.mark)
    assert not lock.is_taken()
    assert tell("runs", "--recover").stderr == "no job left this host unsafe\n"
    (state / tiny.HOLD).unlink()
    assert tell("run", "--resume", job.name, "--yes").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "say which PLAN"),
        (("run", "p", "--resume", "q"), "say which PLAN"),
        (("run", "nothing"), "no readable plan is called nothing"),
        (("run", "--resume", "nothing"), "no job is called nothing"),
        (("runs", "nothing"), "no job is called nothing"),
        (("runs", "../.."), "no job is called ../.."),
        (("runs", "--follow"), "no job runs on this host"),
        (("stop",), "no job runs on this host"),
        (("stop", "nothing"), "no job is called nothing"),
        (("runs", "--follow", "--recover"), "give one of them"),
    ],
)
def test_a_slip_is_one_sentence(tell: Tell, words: tuple[str, ...], said: str) -> None:
    done = tell(*words, what=replace(work(), job="x"))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
