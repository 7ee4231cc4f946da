"""hio report as a person and as a script calls it: the answer first, no gap unsaid, a bundle that can be checked."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.cli.console import hio, one_sentence
from tests.evidence.experiment import Experiment, text, whole
from tests.evidence.test_quality_gate import judged as answered
from tests.evidence.test_quality_gate import rows
from tests.small_repo import ROOM, SERVICE, committed, git, pin, sha, stack, write

OWN = Path(__file__).parents[2]


def _json(root: Path, *words: str) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(hio(root, "report", *words, "--format", "json").out)
    return shape


def _draft(tmp_path: Path) -> Path:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.pop("logs"))
    return tmp_path


def test_the_answer_stands_in_the_first_lines(tmp_path: Path) -> None:
    said = hio(whole(tmp_path).root, "report", "threads")
    assert said.code == 0
    first = said.out.split("\n\n")
    assert first[0] == "# lab/tiny/threads: improvement, VERDICT"
    assert " ".join(first[1].split()) == (
        "**two is better (decode_tps 50.1 -> 60.25 token/s, +20.26 %, n 4 and 4, p 0.0286, noise 0.90 %).** "
        "two is the best of the 2 configurations measured in scope tides, cold."
    )
    assert first[2] == "VERDICT: every condition of the record is met."
    assert first[3].startswith("To do: accept it")
    prose = [line for line in said.out.split("\n") if line[:1] not in "|h"]
    assert max(map(len, prose)) <= 80, "only tables and commands to copy may be wider"


def test_every_part_that_is_published_is_there(tmp_path: Path) -> None:
    said = hio(whole(tmp_path).root, "report", "threads").out
    titles = [line[3:] for line in said.split("\n") if line.startswith("## ")]
    assert titles == [
        "What serves now", "Configurations", "Measurements", "Individual observations", "Quality gate", "What was not measured",
        "Failed and invalid", "Conditions of the tier", "Identity", "Restoration", "Rollback", "What is left", "Evidence",
    ]  # fmt: skip
    assert "remaining bottleneck: unknown: no profile" in said
    assert "a warm prefix cache and its tails" in said
    assert "hio ledger append increment --service lab/tiny --from-run threads" in said


def test_every_number_is_computed_from_the_raw_rows(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    shape = _json(root, "threads")
    table = [line.split("\t") for line in (root / ROOM / "runs/threads/rows.tsv").read_text().splitlines()]
    rows = [dict(zip(table[0], line, strict=True)) for line in table[1:]]
    for leg in shape["legs"]:
        mine = [row for row in rows if row["leg"] == str(leg["leg"]) and row["phase"] == "measured"]
        for metric, value in leg["values"].items():
            assert value == pytest.approx(median(float(row[metric]) for row in mine))
    medians = {
        arm: median(leg["values"]["decode_tps"] for leg in shape["legs"] if leg["arm"] == arm)
        for arm in ("base", "two")
    }
    first = shape["comparisons"][0]
    assert first["medians"] == pytest.approx(list(medians.values()))
    assert first["change_percent"] == pytest.approx(100 * (medians["two"] / medians["base"] - 1))


def test_a_draft_is_refused_with_every_gap_and_what_closes_it(tmp_path: Path) -> None:
    said = hio(_draft(tmp_path), "report", "threads")
    assert (said.code, said.out) == (1, "")
    lines = said.err.splitlines()
    assert lines[0] == "hio: no strict report of threads: 1 gap (DRAFT)"
    assert lines[1] == "  no-log: no server log is kept beside it"
    assert lines[2].startswith("    measure it with hio run")
    assert max(map(len, lines)) <= 80
    shape = _json(tmp_path, "threads")
    assert (shape["version"], shape["refused"], shape["exit_code"]) == (1, True, 1)
    assert [each["id"] for each in shape["gaps"]] == ["no-log"]
    out = tmp_path / "bundle"
    assert hio(tmp_path, "report", "threads", "--out", out).code == 1 and not out.exists()


def test_a_report_that_is_not_strict_says_its_gaps_and_is_a_draft(tmp_path: Path) -> None:
    said = hio(_draft(tmp_path), "report", "threads", "--no-strict")
    assert said.code == 0
    assert said.out.split("\n")[0] == "# lab/tiny/threads: improvement, DRAFT"
    assert "- no-log: no server log is kept beside it. Do: measure it with hio run" in said.out
    assert "1 gap below" in " ".join(said.out.split())


def test_without_gaps_it_is_a_draft_all_the_same_when_nobody_wanted_them_refused(tmp_path: Path) -> None:
    shape = _json(whole(tmp_path).root, "threads", "--no-strict")
    assert (shape["tier"], shape["gaps"], shape["strict"]) == ("DRAFT", [], False)


def test_a_run_that_measured_nothing_is_no_pass(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(rows=lambda row: row.update(status="timeout", decode_tps="", ttft_ms=""))
    assert hio(tmp_path, "report", "threads").code == 3
    said = hio(tmp_path, "report", "threads", "--no-strict")
    assert said.code == 3
    assert said.out.split("\n")[0] == "# lab/tiny/threads: not measurable, DRAFT"
    assert "leg 1 of base does not count: 2 of 2 measured requests failed: timeout" in said.out
    assert "best of" not in said.out


def test_missing_rows_are_a_gap_and_no_traceback(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    (root / ROOM / "runs/threads/rows.tsv").unlink()
    said = hio(root, "report", "threads")
    assert said.code == 3
    assert "no-raw-rows" in said.err and "broken-evidence" in said.err
    assert "rows.tsv, which it relies on, is not there" in " ".join(said.err.split())


def test_different_work_has_values_and_no_ratio(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(rows=lambda row: row.update(generated=7) if row["arm"] == "two" else None)
    said = hio(tmp_path, "report", "threads", "--no-strict")
    assert said.code == 0
    assert "| decode_tps (token/s) | 50.1  | 60.25  | -      | -   | not comparable |" in said.out
    assert "different work: tokens generated in request 1: 8 in base and 7 in two" in " ".join(
        said.out.split()
    )


def test_what_git_does_not_keep_yet_is_a_gap(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    git(root, "init", "-q")
    assert "not-committed" in hio(root, "report", "threads").err
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the run")
    assert hio(root, "report", "threads").code == 0


def test_a_bundle_holds_all_evidence_and_sha256sum_checks_it(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    out = tmp_path / "bundle"
    said = hio(root, "report", "threads", "--out", out)
    assert said.code == 0, said.all
    assert "missing: profiles: no profile was recorded" in said.out
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", "hashes.txt"], cwd=out, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    listed = {
        line.partition("  ")[2] for line in (out / "hashes.txt").read_text().splitlines() if line[0] != "#"
    }
    there = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert listed == there - {"hashes.txt"}
    assert f"evidence/{ROOM}/runs/aa/rows.tsv" in listed, "the noise rests on these rows"
    assert "# missing: cost ledger: no cost was estimated" in (out / "hashes.txt").read_text()
    shape = json.loads((out / "report.json").read_text())
    assert shape["tier"] == "VERDICT"
    assert all(sha((root / each["file"]).read_bytes()) == each["sha256"] for each in shape["rests_on"])
    (out / f"evidence/{ROOM}/runs/threads/rows.tsv").write_text("other\n")
    assert subprocess.run(["sha256sum", "-c", "hashes.txt"], cwd=out, capture_output=True).returncode == 1


def test_a_bundle_replaces_nothing(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    out = tmp_path / "bundle"
    out.mkdir()
    (out / "report.md").write_text("mine\n")
    refused = hio(root, "report", "threads", "--out", out)
    assert (refused.code, "is not empty" in one_sentence(refused)) == (1, True)
    assert (out / "report.md").read_text() == "mine\n" and len(list(out.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    (tmp_path / "file").write_text("no folder\n")
    refused = hio(root, "report", "threads", "--out", tmp_path / "file/bundle")
    assert (refused.code, "could not write" in one_sentence(refused)) == (3, True)


def test_two_reports_of_the_same_bytes_are_the_same(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    assert hio(root, "report", "threads").out == hio(root, "report", "threads").out


def test_what_is_deployed_and_the_way_back_come_from_the_ledger(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    base = pin("base", stack("base"))
    entry = {
        "hio": "entry/v1", "id": "d1", "service": SERVICE, "by": "someone", "at": "2026-01-09T00:00:00Z",
        "after": [pin("ok", (root / f"ledger/{SERVICE}/2026/ok.yaml").read_bytes())], "kind": "deployment",
        "site": "lab", "pins": {"candidate": pin("two", stack("two", 2)), "rollback": base},
    }  # fmt: skip
    write(root, {f"ledger/{SERVICE}/2026/d1.yaml": text(entry)})
    said = hio(root, "report", "threads").out
    assert "- serving: two, deployment d1 by someone, 2026-01-09T00:00:00Z" in said
    assert "base serves again, no rollback plan is pinned; this shows it, --yes does it:" in said
    assert "```console\nhio rollback lab/tiny\n```" in said


def test_a_profile_of_another_time_names_no_bottleneck(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    source, records = "kernel,ns\n", '{"name": "k", "metrics": [{"definition": "kernel-time", "value": 5}]}\n'
    observation = {
        "hio": "observation/v1", "name": "nsys", "service": SERVICE, "stack": pin("base", stack("base")),
        "source": {"file": "source.csv", "sha256": sha(source), "format": "nsys-stats", "bytes": len(source)},
        "records": {"file": "records.jsonl", "sha256": sha(records), "count": 1},
    }  # fmt: skip
    folder = f"{ROOM}/observations/nsys"
    write(root, {f"{folder}/observation.yaml": text(observation), f"{folder}/source.csv": source,
                 f"{folder}/records.jsonl": records})  # fmt: skip
    shape = _json(root, "threads")
    assert shape["profiles"] == [{"observation": "nsys", "format": "nsys-stats"}]
    assert shape["bottleneck"] == "unknown: the profiles on record are not of these legs"
    assert "profiles" not in [each["what"] for each in shape["missing"]]
    assert f"{folder}/records.jsonl" in [each["file"] for each in shape["rests_on"]]


def test_the_entry_that_accepted_the_reference_is_named(tmp_path: Path) -> None:
    assert _json(whole(tmp_path / "one").root, "threads")["baseline"]["entry"] == "b0"
    experiment = Experiment(tmp_path / "two")
    experiment.noise()
    experiment.run(run=lambda document: document.update(at="2025-12-31T00:00:00Z"))
    told = _json(experiment.root, "threads", "--no-strict")
    assert told["baseline"]["entry"] is None, "the ledger had no parent when it began"
    said = hio(experiment.root, "report", "threads", "--no-strict").out
    assert "the reference is base, accepted by no entry when the run began" in said


def test_a_receipt_of_a_stack_of_the_run_is_named_and_kept(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    source = "{}\n"
    receipt = {
        "hio": "receipt/v1", "name": "gsm8k", "service": SERVICE, "stack": pin("base", stack("base")),
        "kind": "quality", "source": {"file": "gsm8k.json", "sha256": sha(source), "format": "lm-eval"},
        "harness": {"name": "lm-evaluation-harness", "version": "0.4.2"}, "task": "gsm8k", "task_version": "3",
        "filter": "strict-match", "metric": "exact_match", "better": "higher", "value": 0.25, "few_shot": 5,
        "limit": "none", "seed": "1", "dataset": {"name": "gsm8k", "sha256": "unknown"}, "n": 8, "whole": 8,
    }  # fmt: skip
    folder = f"{ROOM}/receipts"
    write(root, {f"{folder}/gsm8k.yaml": text(receipt), f"{folder}/gsm8k.json": source})
    assert hio(root, "validate", f"{folder}/gsm8k.yaml").code == 0
    shape = _json(root, "threads")
    assert shape["receipts"] == [
        {"receipt": "gsm8k", "kind": "quality", "stack": "base", "says": "gsm8k, exact_match 0.25"}
    ]
    assert {f"{folder}/gsm8k.yaml", f"{folder}/gsm8k.json"} <= {each["file"] for each in shape["rests_on"]}


def test_text_of_a_document_stays_text(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.update(unknown=["<script>x</script> \x1b[31m | @all"]))
    said = hio(tmp_path, "report", "threads").out
    assert "<script>" not in said and "\x1b" not in said
    assert r"&lt;script&gt;x&lt;/script&gt; \\x1b\[31m \| @&#8203;all" in " ".join(said.split())


def test_a_run_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    refused = hio(repo, "report", "nope")
    assert (refused.code, one_sentence(refused)) == (2, "hio: no readable run is called nope; there is r1")


def test_a_run_of_this_repository_is_reported(tmp_path: Path) -> None:
    said = hio(OWN, "report", "2026-11-30-threads", "--no-strict")
    assert said.code == 0
    assert "Decided: increment 2026-11-30-increment-threads" in said.out
    assert "the chosen configuration is the stack threads-2" in said.out


def test_the_task_set_is_told_with_its_numbers(tmp_path: Path) -> None:
    answered(tmp_path, rows({"base": 1, "two": 4}))
    said = hio(tmp_path, "report", "threads", "--no-strict").out
    quality = said.partition("## Quality gate")[2].partition("\n## ")[0]
    assert re.search(r"\| all +\| 59 of 60 \(0\.\d+ to 0\.\d+\) +\| 56 of 60 ", quality)
    assert "| even" in quality and "task set sums; other kinds of tasks are untested" in quality
    assert "No task set was asked" in hio(whole(tmp_path / "other").root, "report", "threads").out
