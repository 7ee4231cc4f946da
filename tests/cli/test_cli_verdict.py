"""hio verdict as a person and as a script calls it: the answer, its exit codes, its page of 80 columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console import hio, one_sentence
from tests.evidence.experiment import SPEEDS, Experiment, whole
from tests.small_repo import committed, git

OWN = Path(__file__).parents[2]


def test_the_answer_stands_first_and_every_condition_is_told(tmp_path: Path) -> None:
    said = hio(whole(tmp_path).root, "verdict", "threads")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "lab/tiny/threads: improvement, VERDICT"
    assert lines[-1] == (
        "  hio ledger append increment --service lab/tiny --from-run threads --metric decode_tps --stack STACK"
    )
    assert "median      50.1 -> 60.25 token/s" in lines
    assert "met, 29" in lines and not any(line.startswith("missed") for line in lines)
    assert max(map(len, lines[:-1])) <= 80, "only a command that is to be copied may be longer"


def test_a_draft_says_what_it_misses_and_a_gate_stops_it(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.pop("logs"))
    said = hio(tmp_path, "verdict", "threads")
    assert (said.code, said.out.splitlines()[0]) == (0, "lab/tiny/threads: improvement, DRAFT")
    assert "no-log  no server log is kept beside it" in said.out
    assert hio(tmp_path, "verdict", "threads", "--gate", "verdict").code == 1
    assert hio(tmp_path, "verdict", "aa", "--gate", "verdict").code == 1, "an A-A run decides nothing"


def test_a_verdict_passes_the_gate(tmp_path: Path) -> None:
    assert hio(whole(tmp_path).root, "verdict", "threads", "--gate", "verdict").code == 0


def test_a_run_that_git_does_not_keep_could_still_be_replaced(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    git(root, "init", "-q")
    said = hio(root, "verdict", "threads", "--gate", "verdict")
    assert said.code == 1 and said.out.splitlines()[0] == "lab/tiny/threads: improvement, VERDICT"
    assert "threads is not committed: its rows could still be replaced" in one_sentence(said)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the run")
    assert hio(root, "verdict", "threads", "--gate", "verdict").code == 0
    rows = next(root.rglob("threads/rows.*"))
    rows.write_bytes(rows.read_bytes() + b"\n")
    assert "is not committed" in hio(root, "verdict", "threads").err


def test_nothing_that_counts_is_not_measurable(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(rows=lambda row: row.update(status="timeout", decode_tps="", ttft_ms=""))
    said = hio(tmp_path, "verdict", "threads")
    assert said.code == 3
    assert said.out.splitlines()[0] == "lab/tiny/threads: not measurable, DRAFT"
    assert "2 of 2 measured requests failed: timeout" in said.out
    assert said.out.splitlines()[-1] == "  hio ledger append failed-run --service lab/tiny --from-run threads"
    shape = json.loads(hio(tmp_path, "verdict", "threads", "--format", "json").out)
    assert shape["comparisons"][0]["change_percent"] is None


def test_different_work_shows_its_values_and_no_ratio(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(rows=lambda row: row.update(generated=7) if row["arm"] == "two" else None)
    said = hio(tmp_path, "verdict", "threads")
    assert said.code == 0
    assert "not comparable" in said.out.splitlines()[0]
    assert "60.1  59.8  60.9  60.4" in said.out and "change " not in said.out
    assert "tokens generated in request 1: 8 in base and 7 in two" in said.out


def test_an_experiment_of_equal_arms_is_named_as_noise(tmp_path: Path) -> None:
    said = hio(whole(tmp_path).root, "verdict", "aa")
    assert "a-a-experiment" in said.out
    assert "decide: {noise: aa}" in said.out


def test_an_aborted_run_is_kept_as_a_failed_one(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(run=lambda document: document.update(outcome="aborted", why="swap"))
    assert "failed-run --service" in hio(tmp_path, "verdict", "threads").out


def test_the_json_answer_says_the_same(tmp_path: Path) -> None:
    shape: dict[str, Any] = json.loads(
        hio(whole(tmp_path).root, "verdict", "threads", "--format", "json").out
    )
    assert (shape["version"], shape["tier"], shape["result"]) == (1, "VERDICT", "improvement")
    first = shape["comparisons"][0]
    assert first["metric"] == shape["metric"] == "decode_tps"
    assert first["values"] == SPEEDS
    assert first["test"]["p"] == pytest.approx(2 / 70)
    assert first["noise"]["n"] == 8
    assert first["detectable"]["before"]["percent"] < first["detectable"]["after"]["percent"] * 2
    assert all(each["met"] and not each["reason"] for each in shape["conditions"])
    assert [each["counted"] for each in shape["trials"]] == [True] * 8


def test_a_metric_and_a_run_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    refused = hio(repo, "verdict", "r1", "--metric", "sped")
    assert (refused.code, one_sentence(refused)) == (2, "hio: r1 has no metric sped; it measured speed")
    assert hio(repo, "verdict", "nope").code == 2


def test_the_recorded_run_is_a_draft(tmp_path: Path) -> None:
    said = hio(OWN, "verdict", "2026-11-29-threads")
    assert said.code == 0
    assert said.out.splitlines()[0] == "lab/gemma-270m/2026-11-29-threads: improvement, DRAFT"
    assert "outlier     leg 8 of threads-2, 64.024 token/s (modified z -6.2): counted" in said.out
