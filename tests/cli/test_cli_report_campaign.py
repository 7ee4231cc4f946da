"""hio report of a campaign: the champion or an honest none, every gate, every cell, and what its runs rest on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from hio_validate.history import Folder
from hio_validate.repo import load
from tests.cli.console import hio, one_sentence
from tests.evidence.campaigned import FASTER, RUN_ID, SAME, SLOWER, Campaigned
from tests.evidence.experiment import ROOM, SERVICE, text
from tests.small_repo import write

TWO = {"two": ("2", "short"), "four": ("4", "short")}


def _recorded(made: Campaigned) -> Campaigned:
    """With the record that a campaign leaves at its end."""
    repo = load(Folder(made.root))
    runs = {item.name.rpartition(".")[2]: item for item in repo.of("run/v1") if item.name.startswith(RUN_ID)}
    cells = {
        name: {"outcome": item.model.outcome, "run": f"{item.name}@{item.document.digest}"}
        for name, item in runs.items()
    }
    cells |= {name: {"outcome": "not-run"} for name in made.threads if name not in runs}
    record = {"hio": "campaign-run/v1", "name": RUN_ID, "service": SERVICE, "campaign": made.pin,
              "at": "2026-01-04T02:59:00Z", "ended": "2026-01-04T04:01:00Z", "cells": cells}  # fmt: skip
    write(made.root, {f"{ROOM}/campaign-runs/{RUN_ID}.yaml": text(record)})
    return made


def _whole(root: Path) -> Campaigned:
    made = Campaigned(root, TWO)
    made.run("two")
    made.run("four", FASTER)
    return _recorded(made)


def _json(root: Path, *words: str) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(hio(root, "report", "threads", "--format", "json", *words).out)
    return shape


def test_the_champion_stands_first_and_every_cell_is_told(tmp_path: Path) -> None:
    said = hio(_whole(tmp_path).root, "report", "threads")
    assert said.code == 0, said.all
    parts = said.out.split("\n\n")
    assert parts[0] == "# lab/tiny/threads: champion, VERDICT"
    assert parts[1] == "**the champion is base with server.threads 4.**"
    answer = " ".join(parts[2].split())
    assert answer.startswith(
        "- short: base with server.threads 4, decode_tps 50.1 -> 80.25 token/s (+60.18 %), by four"
    )
    assert "best of the 3 configurations measured in this scope" in answer
    assert parts[3] == "VERDICT: every condition of the record is met."
    titles = [line[3:] for line in said.out.split("\n") if line.startswith("## ")]
    assert titles == ["What serves now", "Champion", "Cells", "Gates of a champion", "Decisions", "Every cell",
                      "Rollback", "What is left", "Evidence"]  # fmt: skip
    for cell in TWO:
        assert f"### {cell}: individual observations" in said.out and f"### {cell}: identity" in said.out
    assert f"hio ledger append increment --service lab/tiny --from-run {RUN_ID}.four" in said.out


def test_no_improvement_is_a_result_that_is_published(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO)
    made.run("two", SAME)
    made.run("four", SLOWER)
    said = hio(_recorded(made).root, "report", "threads")
    assert (said.code, said.out.split("\n")[0]) == (0, "# lab/tiny/threads: no improvement, VERDICT")
    assert "| short  | -    | -        | keep base     |" in said.out
    assert "best of" not in said.out.partition("## Champion")[2].partition("## ")[0]


def test_a_gate_that_is_missed_is_a_gap_with_what_closes_it(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO)
    made.run("two")
    refused = hio(_recorded(made).root, "report", "threads")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.split("\n")[0] == "hio: no strict report of threads: 1 gap (DRAFT)"
    assert "run the cells that are left: hio campaign run" in refused.err
    said = hio(made.root, "report", "threads", "--no-strict")
    assert said.code == 0
    assert said.out.split("\n")[0] == "# lab/tiny/threads: no champion, DRAFT"
    assert "### four: not run" in said.out


def test_a_campaign_without_its_record_is_not_over(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO)
    made.run("two")
    made.run("four", FASTER)
    shape = _json(made.root)
    assert [each["id"] for each in shape["gaps"]] == ["not-recorded"] and shape["exit_code"] == 1


def test_the_gaps_of_a_cell_that_the_champion_needs_are_told(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO)
    made.run("two", run=lambda document: document.pop("logs"))
    made.run("four", FASTER)
    shape = _json(_recorded(made).root)
    assert ("no-log", "cell two: no server log is kept beside it") in [
        (each["id"], each["sentence"]) for each in shape["gaps"]
    ]
    assert all(each["do"] for each in shape["gaps"])


def test_a_campaign_that_measured_nothing_is_no_pass(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO)
    assert hio(made.root, "report", "threads").code == 3
    said = hio(made.root, "report", "threads", "--no-strict")
    assert (said.code, said.out.split("\n")[0]) == (3, "# lab/tiny/threads: nothing measured, DRAFT")


def test_the_bundle_holds_every_run_and_can_be_checked(tmp_path: Path) -> None:
    made, out = _whole(tmp_path / "repo"), tmp_path / "bundle"
    assert hio(made.root, "report", "threads", "--out", out).code == 0
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", "hashes.txt"], cwd=out, capture_output=True, check=False
    )
    assert done.returncode == 0
    for cell in TWO:
        assert (out / "evidence" / ROOM / f"runs/{RUN_ID}.{cell}/rows.tsv").is_file()
    assert (out / "evidence" / ROOM / "campaigns/threads.yaml").is_file()
    (made.root / ROOM / f"runs/{RUN_ID}.two/server.log").unlink()
    assert "server.log, which it relies on, is not there" in " ".join(
        hio(made.root, "report", "threads").err.split()
    )


def test_one_name_for_a_run_and_a_campaign_is_asked_about(tmp_path: Path) -> None:
    made = _whole(tmp_path)
    made.experiment.run("threads")
    refused = hio(made.root, "report", "threads")
    assert refused.code == 2 and "is the name of a run and of a campaign" in one_sentence(refused)
