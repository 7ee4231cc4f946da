"""hio campaign and hio champion as a person calls them, over real processes of tests/execute/llama_like.py."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute import jobs, owned
from tests.execute.conftest import PATIENCE_S, state, wait_for
from tests.execute.experiment import PLAN_FILE, ROOM, SERVICE, yaml
from tests.execute.place import Place
from tests.execute.small_campaign import CAMPAIGN_FILE, campaign, cell_plan, small_campaign
from tests.small_repo import write

__all__ = ["state"]

COMMAND = [sys.executable, "-m", "hio_validate"]
NEXT_DAY = {"at": "2026-11-29T00:00:00Z", "until": "2099-01-01T00:00:00Z", "by": "ana"}


def hio(place: Place, *words: str, timeout: float = 1200) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *words], cwd=place.root, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


def words_of(text: str) -> str:
    return " ".join(text.split())


def test_check_says_what_every_cell_would_do_and_does_nothing(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    said = hio(place, "campaign", "check", "threads")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "4 legs of one, four, at most 40 min; stops nothing" in words_of(said.stdout)
    assert "at most 80 min for the 2 cells that are left" in words_of(said.stdout)
    assert (
        "next: close the gates, which keep a champion from being named; hio campaign run threads runs it"
        in words_of(said.stdout)
    )
    shape = json.loads(hio(place, "campaign", "check", "threads", "--format", "json").stdout)
    assert [each["state"] for each in shape["cells"]] == ["to-run", "to-run"]
    assert (shape["refused"], shape["coverage"], shape["exit_code"]) == ([], ["two", "four"], 0)
    said = hio(place, "campaign", "run", "threads")
    assert said.returncode == 0
    assert said.stdout.endswith("nothing has happened yet; add --yes to start it\n")
    assert not jobs.all_jobs(state) and not (state / "campaigns").exists()


TASKS = {
    "hio": "tasks/v1", "name": "sums", "source": "arithmetic", "scoring": "first-number", "max_tokens": 8, "seed": 1,
    "sampling": {"temperature": 0, "top_k": 1, "repeat_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0,
                 "dry_multiplier": 0},
}  # fmt: skip


def test_a_task_set_that_cannot_be_asked_is_told_by_both_checks(tmp_path: Path, state: Path) -> None:
    limits = {"memory": "4GiB", "available": "64MiB", "start_s": 20.0, "leg_s": 60.0, "total_s": 300.0}
    quality = {"tasks": "sums", "floor": 0.5, "margin": 0.2}
    place = small_campaign(tmp_path, quality=quality, limits=limits)
    items = "".join(
        json.dumps({"id": f"a{n}", "prompt": f"{n}+1=", "expected": str(n + 1)}) + "\n" for n in range(99)
    )
    kept = {"file": "sums.jsonl", "sha256": sha256(items.encode()).hexdigest(), "count": 99}
    file = f"{ROOM}/tasks/sums.yaml"
    write(place.root, {file: yaml({**TASKS, "items": kept}), f"{ROOM}/tasks/sums.jsonl": items})
    told = words_of(hio(place, "plan", "check", "two").stdout)
    assert "a leg of at most 60 s leaves 606 ms for an item" in told
    assert "contradictory-tasks" not in told and "pin-mismatch" not in told
    write(place.root, {f"{ROOM}/tasks/sums.jsonl": items + items})
    for words in (("plan", "check", "two"), ("campaign", "check", "threads")):
        said = hio(place, *words)
        assert said.returncode == 1
        assert "the id a0 stands in line 1 already" in words_of(said.stdout)
        assert f"{file}:" in said.stdout and "[pin-mismatch]" in said.stdout


def test_everything_that_speaks_against_it_is_told_before_anything_runs(tmp_path: Path, state: Path) -> None:
    document = campaign(
        target={"hardware": "a cluster", "devices": 8, "scheduler": "slurm", "place": "gpu"},
        publish=["a wiki"],
    )
    place = small_campaign(tmp_path, document)
    (place.root / f"ledger/{SERVICE}/2026/yes.yaml").unlink()
    said = hio(place, "campaign", "run", "threads", "--yes")
    assert said.returncode == 1
    told = words_of(said.stdout)
    assert "it is meant for slurm, and hio measures on the host it runs on" in told
    assert "mutate-cluster (for target) is not acknowledged for" in told
    assert "publish (for publish) is not acknowledged for" in told
    assert "refused: two: no approval of kind load-test covers two now" in told
    assert not jobs.all_jobs(state)


def test_an_acknowledgement_gives_the_run_its_id(tmp_path: Path, state: Path) -> None:
    given = {"run_id": "2026-11-29-threads", "acts": ["publish"], **NEXT_DAY}
    place = small_campaign(tmp_path, campaign(publish=["a wiki"], acknowledgements=[given]))
    shape = json.loads(hio(place, "campaign", "check", "threads", "--format", "json").stdout)
    assert (shape["run_id"], shape["refused"], shape["acts"]) == (
        "2026-11-29-threads",
        [],
        {"publish": ["publish"]},
    )


def test_an_acknowledgement_that_ended_allows_nothing(tmp_path: Path, state: Path) -> None:
    given = {"run_id": "2026-11-29-threads", "acts": ["publish"], **NEXT_DAY, "until": "2026-11-29T01:00:00Z"}
    place = small_campaign(tmp_path, campaign(publish=["a wiki"], acknowledgements=[given]))
    shape = json.loads(hio(place, "campaign", "check", "threads", "--format", "json").stdout)
    assert shape["exit_code"] == 1 and "publish (for publish) is not acknowledged" in shape["refused"][0]


def job_of(state: Path, cell: str) -> jobs.Job | None:
    return next((job for job in jobs.all_jobs(state) if job.name.endswith(f".{cell}")), None)


def _controller(place: Place, log: Path) -> subprocess.Popen[bytes]:
    """A campaign that is being run by a process of its own."""
    with log.open("wb") as told:
        return subprocess.Popen(
            [*COMMAND, "campaign", "run", "threads", "--yes"], cwd=place.root, stdout=told, stderr=told
        )


def _measuring(place: Place, state: Path, log: Path) -> tuple[subprocess.Popen[bytes], jobs.Job]:
    """The same, once the second leg of its first cell has begun, which is held; with that cell's job."""
    place.hold(2)
    controller = _controller(place, log)
    wait_for(lambda: (job := job_of(state, "two")) is not None and _clients(job) == 2)
    first = job_of(state, "two")
    assert first is not None and len(first.legs) == 1
    return controller, first


def _clients(job: jobs.Job) -> int:
    return sum(each.event == "process" and each.data["role"] == "client" for each in job.events)


def test_a_killed_controller_loses_nothing_and_repeats_nothing(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    controller, first = _measuring(place, state, tmp_path / "controller.log")
    run_id = first.name.removesuffix(".two")
    assert f"HIO_CAMPAIGN={run_id}".encode() in _environments(first)
    controller.send_signal(signal.SIGKILL)
    controller.wait()
    again_log = tmp_path / "again.log"
    twice = _controller(place, again_log)
    wait_for(lambda: "cell 1 of 2, two: runs already and is watched" in words_of(again_log.read_text()))
    place.held.unlink()
    assert twice.wait(PATIENCE_S) == 0, again_log.read_text()
    assert [job.name for job in jobs.all_jobs(state)] == [f"{run_id}.two", f"{run_id}.four"]
    assert not jobs.Job(first.folder).has("resumed")  # its guardian went on alone
    record = place.repo.find("campaign-run/v1", run_id, SERVICE)
    assert record is not None
    assert {name: cell.outcome for name, cell in record.model.cells.items()} == {
        "two": "completed",
        "four": "completed",
    }
    assert len(record.model.resumed) == 1
    run = place.repo.find("run/v1", f"{run_id}.four", SERVICE)
    assert run is not None and (run.model.campaign.id, run.model.campaign.cell) == (run_id, "four")
    assert hio(place, "validate").returncode == 0
    again = hio(place, "campaign", "run", "threads", "--yes")
    assert again.returncode == 1
    assert f"it has run as {run_id}: hio champion threads says what came of it" in words_of(again.stdout)
    told = hio(place, "champion", "threads")
    assert told.returncode == 0
    assert "no champion" in told.stdout and "screening" in told.stdout
    assert hio(place, "champion", "threads", "--gate", "champion").returncode == 1


def _environments(job: jobs.Job) -> bytes:
    """The environments of the processes of a trial that are alive; it is held."""
    alive = [who for who in jobs.Job(job.folder).started_processes if owned.is_alive(who)]
    return b"\0".join(Path(f"/proc/{who.pid}/environ").read_bytes() for who in alive)


def test_a_cell_that_is_stopped_ends_the_session_and_goes_on_later(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    controller, first = _measuring(place, state, tmp_path / "controller.log")
    assert hio(place, "stop", first.name, "--yes").returncode == 0
    assert controller.wait(PATIENCE_S) == 1
    place.held.unlink()
    assert b"was stopped, so no further one begins" in (tmp_path / "controller.log").read_bytes()
    assert job_of(state, "four") is None
    assert not list(place.root.glob(f"{ROOM}/campaign-runs/*"))
    shape = json.loads(hio(place, "campaign", "show", "threads", "--format", "json").stdout)
    assert [each["state"] for each in shape["campaigns"][0]["cells"]] == ["resumable", "to-run"]
    done = hio(place, "campaign", "run", "threads", "--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    shape = json.loads(done.stdout)
    assert [each["state"] for each in shape["cells"]] == ["completed", "completed"]
    assert shape["record"] == f"{ROOM}/campaign-runs/{shape['run_id']}.yaml"


def test_a_cell_that_fails_does_not_end_the_others(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    broken = cell_plan("two", 2)
    broken["limits"] = {**broken["limits"], "memory": "1MiB"}
    write(place.root, {f"{ROOM}/plans/two.yaml": yaml(broken)})
    done = hio(place, "campaign", "run", "threads", "--yes")
    assert done.returncode == 1, done.stdout + done.stderr
    record = next(iter(place.repo.of("campaign-run/v1"))).model
    assert {name: cell.outcome for name, cell in record.cells.items()} == {
        "two": "aborted",
        "four": "completed",
    }
    assert "memory" in (record.cells["two"].why or "")
    assert hio(place, "validate").returncode == 0
    told = words_of(hio(place, "champion", "threads").stdout)
    assert "coverage not complete: two (its run was aborted)" in told


def test_an_edited_campaign_does_not_go_on(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    controller, first = _measuring(place, state, tmp_path / "controller.log")
    assert hio(place, "stop", first.name, "--yes").returncode == 0
    controller.wait(PATIENCE_S)
    write(place.root, {CAMPAIGN_FILE: yaml(campaign(question="another one?"))})
    said = hio(place, "campaign", "run", "threads", "--yes")
    assert said.returncode == 1
    assert "it was edited since" in words_of(said.stdout)


def test_a_cell_that_left_the_host_unsafe_is_recovered_first(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    controller, first = _measuring(place, state, tmp_path / "controller.log")
    second = hio(place, "campaign", "run", "threads", "--yes")
    assert second.returncode == 1
    assert "is run by another process already" in second.stderr
    assert hio(place, "campaign", "run", "threads", "--close").returncode == 1
    keepers = first.keepers
    owned.send(keepers["supervisor"], signal.SIGSTOP)
    owned.send(keepers["guardian"], signal.SIGKILL)
    owned.send(keepers["supervisor"], signal.SIGKILL)
    assert controller.wait(PATIENCE_S) == 1
    assert f"hio runs --recover {first.name} comes first" in words_of(
        (tmp_path / "controller.log").read_text()
    )
    said = hio(place, "campaign", "run", "threads", "--yes")
    assert said.returncode == 1
    assert f"hio runs --recover {first.name} comes first" in words_of(said.stdout + said.stderr)
    assert hio(place, "runs", "--recover").returncode == 0
    assert job_of(state, "four") is None
    closed = hio(place, "campaign", "run", "threads", "--close")
    assert closed.returncode == 1, closed.stdout + closed.stderr
    record = next(iter(place.repo.of("campaign-run/v1"))).model
    assert record.cells["two"].outcome in ("aborted", "failed", "stopped")
    assert record.cells["four"].outcome == "not-run"
    assert hio(place, "validate").returncode == 0
    assert hio(place, "campaign", "run", "threads", "--yes").returncode == 1


def test_a_fixture_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    said = hio(place, "campaign", "new", "sweep", "--grid", "server.threads=3", "--fixture", "short")
    assert said.returncode == 2
    assert said.stderr == f"hio: no readable fixture of {SERVICE} is called short; it has tides, words\n"


def test_without_a_campaign_there_is_nothing_to_show(tmp_path: Path, state: Path) -> None:
    place = small_campaign(tmp_path)
    (place.root / CAMPAIGN_FILE).unlink()
    said = hio(place, "campaign", "show")
    assert (said.returncode, said.stderr) == (
        3,
        "hio: no campaign is in this repository; hio campaign new begins one\n",
    )
    assert hio(place, "champion", "threads").returncode == 2


def confirmed(name: str, threads: int, **more: Any) -> dict[str, Any]:
    """A plan that can become a verdict."""
    decide = {
        "metric": "tpot_ms",
        "better": "lower",
        "at_least_percent": 5.0,
        "test": "permutation",
        "alpha": 0.05,
        "noise": "quiet",
    }
    order = ["one", name, name, "one", name, "one", "one", name]
    limits = {"memory": "4GiB", "available": "64MiB", "start_s": 300.0, "leg_s": 600.0, "total_s": 4800.0}
    return cell_plan(
        name,
        threads,
        stage="confirmation",
        order=order,
        decide=decide,
        limits=limits,
        reproduces="quiet",
        **more,
    )


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="trials need pidfds")
def test_from_a_quiet_host_to_a_champion_that_has_earned_it(tmp_path: Path, state: Path) -> None:
    workload = {"shapes": {"short": "tides"}, "loads": {"one": {"concurrency": 1}}, "warm_up": 0, "trials": 4}
    place = small_campaign(tmp_path, campaign(workload=workload))
    quiet = confirmed("again", 1)
    quiet |= {
        "name": "threads",
        "stage": "a-a",
        "arms": {"one": {"stack": "base"}, "again": {"stack": "base"}},
        "factors": [],
    }
    del quiet["decide"]["noise"], quiet["reproduces"]
    write(place.root, {PLAN_FILE: yaml(quiet)})
    for cell in ("two", "four"):
        (place.root / f"{ROOM}/plans/{cell}.yaml").unlink()
    measured = hio(place, "run", "threads", "--yes", "--name", "quiet")
    assert measured.returncode == 0, measured.stdout + measured.stderr
    write(
        place.root,
        {
            f"{ROOM}/plans/{name}.yaml": yaml(confirmed(name, threads))
            for name, threads in (("two", 2), ("four", 4))
        },
    )
    done = hio(place, "campaign", "run", "threads", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    over = hio(place, "campaign", "show", "threads")
    assert re.search(r"^recorded +manifests/services/here/tiny/campaign-runs/", over.stdout, re.M)
    assert (
        re.search(r"^  two +completed  [0-9-]+-threads\.two$", over.stdout, re.M)
        and "to-run" not in over.stdout
    )
    once = hio(place, "campaign", "check", "threads")
    assert once.returncode == 1 and "next: hio champion threads" in once.stdout
    again = hio(place, "campaign", "run", "threads", "--yes")
    assert again.returncode == 1 and "refused: it has run as" in again.stdout
    told = hio(place, "champion", "threads", "--gate", "champion")
    assert told.returncode == 0, told.stdout
    # Which of the two is ahead, a host that is busy otherwise may decide.
    assert re.search(
        r"^here/tiny/threads: the champion is base with server.threads = [24]$", told.stdout, re.M
    )
    assert "hio ledger append increment --service here/tiny --from-run" in words_of(told.stdout)
    written = hio(place, "champion", "threads", "--write")
    assert written.returncode == 0, written.stderr
    registry = place.repo.find("known-good/v1", "tiny")
    assert registry is not None and registry.model is not None
    (row,) = registry.model.settings
    assert (row.factor, row.must, row.severity) == ("threads", "preferred", "performance") and row.values in (
        [2],
        [4],
    )
    assert "best of the 3 configurations measured by the campaign threads" in row.because
    assert hio(place, "validate").returncode == 0
