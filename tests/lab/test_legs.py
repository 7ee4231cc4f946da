"""Legs on the real engine: from a prepared plan to a run that the validator accepts, and what ends a leg before that."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute import leg, leg_files
from hio_validate.execute.watch import Watch
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.execute.experiment import SERVICE, stack
from tests.lab.serving import LAB
from tests.lab.trial import MODEL, SERVER, SMALL, Trial, trial

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "state"))


def validated(root: Path) -> str:
    """What the validator says of a repository that it accepts."""
    done = subprocess.run(
        [sys.executable, "-m", "hio_validate", "validate", "--repo", str(root)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_of(trial: Trial) -> Any:
    """The run that was recorded."""
    return load(Folder(trial.root)).find("run/v1", trial.work.job, SERVICE).model


def test_two_legs_become_a_run_that_the_validator_accepts(tmp_path: Path) -> None:
    t = trial(tmp_path, order=["one", "two"])
    for place in (1, 2):
        record = t.leg(place)
        assert not record["invalid"]
        assert [row["phase"] for row in record["rows"]] == ["warm-up", "measured", "measured"]
        assert all(row["cached"] == 0 < row["decode_tps"] for row in record["rows"])
    t.recorded()
    assert "no error" in validated(t.root)
    run = run_of(t)
    assert (run.outcome, run.raw.rows, len(run.legs)) == ("completed", 6, 2)
    repo = load(Folder(t.root))
    threads = []
    for arm in run.arms.values():
        capture = repo.find("capture/v1", arm.captures[0].partition("@")[0], SERVICE).model
        assert capture.stack == ("base" if not arm.set else None)
        assert capture.processes["server"].log.facts["cache_type_k"] == "f16"
        threads.append(capture.processes["server"].log.facts["n_threads"])
    assert threads == [1, 2]
    log = gzip.decompress(
        (t.root / f"manifests/services/{SERVICE}/runs/{run.name}/logs/01-one.log.gz").read_bytes()
    )
    assert b"listening" in log


def test_a_request_that_hits_a_cache_makes_a_cold_leg_invalid(tmp_path: Path) -> None:
    t = trial(tmp_path)
    warm = tuple(
        type(each)(**{**vars(each), "body": {**each.body, "cache_prompt": True}}) for each in t.work.questions
    )
    record = t.changed(questions=warm).leg(1)
    assert record["rows"][1]["cached"] > 0
    assert any("from a cache, and the plan says cold" in each for each in record["invalid"])
    record = t.changed(questions=warm, cache="warm").leg(1, 2)
    assert record["invalid"] == []


def test_an_occupied_port_is_refused_before_anything_starts(tmp_path: Path) -> None:
    t = trial(tmp_path)
    with socket.create_server(("0.0.0.0", t.work.port)):
        abort, record = t.refused(1)
    assert f"process {os.getpid()}" in abort.why
    assert record["invalid"] == [abort.why]
    assert (record["rows"], record["commands"]) == ([], [])


class Shared(Watch):
    """Lets another socket take the trial's port, to be shared, as soon as the server was started."""

    def __init__(self, port: int, other: socket.socket) -> None:
        super().__init__()
        self.port, self.other = port, other

    def start(self, role: str, *given: Any, **more: Any) -> Any:
        child = super().start(role, *given, **more)
        self.other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.other.bind(("127.0.0.1", self.port))
        self.other.listen()
        return child


def test_a_listener_that_shares_the_port_is_refused_before_a_request(tmp_path: Path) -> None:
    t = trial(tmp_path)
    with socket.socket() as other, pytest.raises(leg.Abort, match="not the trial's alone"):
        leg.run(t.work, 1, 1, Shared(t.work.port, other), t.folder)
    (record,) = leg_files.records(t.folder)
    assert record["rows"] == []
    assert "not the trial's alone" in record["invalid"][0]


def shim(tmp_path: Path, *more: str) -> Path:
    """A program beside the server's name that starts the server with other arguments."""
    program = tmp_path / "llama-server"
    program.write_text(f'#!/bin/sh\nexec {SERVER} "$@" {" ".join(more)}\n')
    program.chmod(0o755)
    return program


def test_a_wrong_model_is_refused_before_a_request(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.symlink_to(MODEL)
    abort, record = trial(tmp_path, shim(tmp_path, "--model", str(other))).refused(1)
    assert "serves the model" in abort.why
    assert record["rows"] == []


def test_a_process_with_another_setting_is_a_drifted_leg(tmp_path: Path) -> None:
    record = trial(tmp_path, shim(tmp_path, "--ubatch-size", "64")).leg(1)
    assert any("server.ubatch-size is 64, expected 512" in each for each in record["invalid"])
    assert record["rows"] == []


def test_a_build_that_was_replaced_between_legs_is_said(tmp_path: Path) -> None:
    installed = tmp_path / "engine"
    shutil.copytree(SERVER.parent, installed, symlinks=True)
    t = trial(tmp_path, installed / "llama-server")
    assert t.leg(1)["invalid"] == []
    for name in ("llama-server", *(each.name for each in installed.glob("lib*"))):
        (installed / name).unlink()
    shutil.copytree(LAB / "llama-11434/bin", installed, symlinks=True, dirs_exist_ok=True)
    record = t.leg(2)
    assert any(each.startswith("replaced: executable is") for each in record["invalid"])
    assert any(each.startswith("drifted: server.build is") for each in record["invalid"])
    assert record["rows"] == []
    t.recorded("failed", "a build was replaced")
    validated(t.root)
    assert [bool(each.invalid) for each in run_of(t).legs] == [False, True]


def test_a_server_that_stays_serves_the_next_leg_of_its_arm_only(tmp_path: Path) -> None:
    t = trial(tmp_path, restart="never", order=["one", "one", "two", "two"])
    records = [t.leg(place) for place in (1, 2, 3, 4)]
    assert [each["invalid"] for each in records] == [[], [], [], []]
    assert [each["startup_s"] is None for each in records] == [False, True, False, True]
    assert [each["exit"] for each in records][::2] == ["serves the next leg"] * 2
    pids = [load_capture(t, each["leg"]).processes["server"].pid for each in records]
    assert pids[0] == pids[1] != pids[2] == pids[3]
    t.recorded()
    logs = t.root / f"manifests/services/{SERVICE}/runs/{t.work.job}/logs"
    first, second = (gzip.decompress((logs / f"0{number}-one.log.gz").read_bytes()) for number in (1, 2))
    assert b"listening on http" in first
    assert second
    assert b"listening on http" not in second


def load_capture(t: Trial, number: int) -> Any:
    """The capture of a leg in the job's folder."""
    from hio_validate.repo import item_of
    from hio_validate.source import read

    raw = (t.folder / "legs" / str(number) / leg_files.CAPTURE).read_bytes()
    return item_of(read(raw, "capture.yaml")).model


def test_a_server_that_ends_while_it_loads_ends_the_trial_with_its_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_text("no model")
    t = trial(tmp_path, place={"paths": {"model": str(broken)}})
    abort, _ = t.refused(1)
    assert "ended with" in abort.why
    assert b"broken.gguf" in gzip.decompress((t.folder / "legs/1/server.log.gz").read_bytes())


def test_a_trial_without_a_request_is_a_run_without_rows(tmp_path: Path) -> None:
    t = trial(tmp_path)
    with socket.create_server(("127.0.0.1", t.work.port)):
        abort, _ = t.refused(1)
    t.recorded("failed", abort.why)
    validated(t.root)
    run = run_of(t)
    assert (run.outcome, run.raw.rows, run.why) == ("failed", 0, abort.why)
    assert run.legs[0].invalid == [abort.why]


# Long enough that a busy machine can observe it while it measures.
BENCH: dict[str, Any] = {
    "method": "llama-bench", "bench": {"prompt_tokens": 64, "generated_tokens": 48, "repetitions": 3},
    "fixture": None, "requests": None,
    "decide": {"metric": "bench_decode_tps", "better": "higher", "at_least_percent": 5.0, "test": "permutation",
               "alpha": 0.05},
}  # fmt: skip


def test_llama_bench_is_a_measuring_method(tmp_path: Path) -> None:
    t = trial(tmp_path, **BENCH, order=["one", "two"])
    for place in (1, 2):
        record = t.leg(place)
        assert not record["invalid"], record["invalid"]
        assert [(row["evaluated"], row["generated"]) for row in record["rows"]] == [(64, 48)] * 3
        assert all(row["bench_prefill_tps"] > row["bench_decode_tps"] > 0 for row in record["rows"])
        assert record["capture"]
    t.recorded()
    validated(t.root)
    run = run_of(t)
    assert {"bench_prefill_tps", "bench_decode_tps"} <= run.columns.keys()
    assert run.stages["decode"] == "bench_decode_tps"
    assert run.commands[0].stdout.file == "logs/01-one.bench.jsonl.gz"


def test_a_llama_bench_that_fails_is_an_invalid_leg(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_text("no model")
    record = trial(tmp_path, place={"paths": {"model": str(broken)}}, **BENCH).leg(1)
    assert record["rows"] == []
    assert any(each.startswith("llama-bench ended with 1: ") for each in record["invalid"])


def test_a_server_that_asks_for_a_key_is_given_it_and_nothing_shows_it(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("very-hidden-key\n")
    more = [*SMALL, ["--api-key", "${secret:key}"]]
    place = {"secrets": {"key": f"file:{tmp_path / 'key'}"}}
    t = trial(tmp_path, base=stack(more=more, build="b10001"), place=place)
    record = t.leg(1)
    assert record["invalid"] == []
    t.recorded()
    kept = [each for folder in (t.root, t.folder) for each in folder.rglob("*") if each.is_file()]
    raw = [gzip.decompress(each.read_bytes()) if each.suffix == ".gz" else each.read_bytes() for each in kept]
    assert not [each for each in raw if b"very-hidden-key" in each]
