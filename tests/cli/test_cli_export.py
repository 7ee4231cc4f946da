"""hio export as a person and as a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.console import hio, one_sentence
from tests.evidence.campaigned import RUN_ID, Campaigned
from tests.evidence.experiment import Experiment, whole
from tests.small_repo import ROOM

OWN = Path(__file__).parents[2]


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    words = ("export", "threads", "--to", "llm-d", "--arm", "two")
    said = hio(root, *words)
    assert said.code == 0, said.all
    told = yaml.safe_load(said.out)
    assert told["version"] == "0.2"
    assert told["run"]["time"]["start"] == "2026-01-04T03:00:00Z", "a time stays the text that it is"
    assert json.loads(hio(root, *words, "--format", "json").out) == told


def test_a_report_is_about_one_configuration(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    refused = hio(root, "export", "threads", "--to", "llm-d")
    assert refused.code == 2
    assert one_sentence(refused).endswith("has base, two: give --arm, or --out FOLDER for all of them")
    assert hio(root, "export", "threads", "--to", "llm-d", "--arm", "three").code == 2
    out = tmp_path / "out"
    said = hio(root, "export", "threads", "--to", "llm-d", "--out", out)
    assert said.out.splitlines() == [
        f"wrote {out}/threads.base.llm-d.yaml",
        f"wrote {out}/threads.two.llm-d.yaml",
    ]
    uids = {yaml.safe_load(path.read_text())["run"]["uid"] for path in out.iterdir()}
    eids = {yaml.safe_load(path.read_text())["run"]["eid"] for path in out.iterdir()}
    assert (len(uids), len(eids)) == (2, 1)


def test_nothing_is_replaced(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    out = tmp_path / "out"
    words = ("export", "threads", "--to", "in-toto", "--out", out)
    assert hio(root, *words).code == 0
    before = (out / "threads.intoto.json").read_bytes()
    refused = hio(root, *words)
    assert (refused.code, "is never replaced" in one_sentence(refused)) == (1, True)
    assert (out / "threads.intoto.json").read_bytes() == before


def test_all_arms_are_written_or_none(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    out = tmp_path / "out"
    out.mkdir()
    (out / "threads.two.llm-d.yaml").write_text("mine\n")
    assert hio(root, "export", "threads", "--to", "llm-d", "--out", out).code == 1
    assert [path.name for path in out.iterdir()] == ["threads.two.llm-d.yaml"]


def test_a_statement_is_whole_and_json(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    assert json.loads(hio(root, "export", "threads", "--to", "in-toto").out)["_type"].endswith("Statement/v1")
    for more in (("--arm", "two"), ("--format", "yaml")):
        assert hio(root, "export", "threads", "--to", "in-toto", *more).code == 2


def test_bytes_that_are_not_the_recorded_ones_are_refused(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    (root / ROOM / "runs/threads/rows.tsv").write_text("arm\n")
    refused = hio(root, "export", "threads", "--to", "in-toto")
    assert refused.code == 1 and "rows.tsv has other bytes than it had" in one_sentence(refused)
    refused = hio(root, "export", "threads", "--to", "llm-d", "--arm", "two")
    assert refused.code == 3 and "nothing to export" in one_sentence(refused)


def test_a_run_that_measured_nothing_has_nothing_to_export(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(rows=lambda row: row.update(status="timeout", decode_tps="", ttft_ms=""))
    refused = hio(tmp_path, "export", "threads", "--to", "llm-d", "--arm", "two")
    assert refused.code == 3 and "no request of the arm two counts" in one_sentence(refused)


def test_without_a_checker_nothing_is_exported(tmp_path: Path) -> None:
    root = whole(tmp_path / "repo").root
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "jsonschema.py").write_text("raise ImportError\n")
    path = f"{hidden}:{OWN}"
    refused = hio(root, "export", "threads", "--to", "in-toto", env={"PYTHONPATH": path})
    assert refused.code == 3 and "pip install 'hio-validate[deliver]'" in one_sentence(refused)


@pytest.mark.parametrize("run", ["2026-11-30-threads", "2026-11-30-ngram", "2026-11-30-kv-q8-on-flash"])
def test_runs_of_this_repository_are_exported(run: str, tmp_path: Path) -> None:
    for target in ("llm-d", "in-toto"):
        said = hio(OWN, "export", run, "--to", target, "--out", tmp_path)
        assert said.code == 0, said.all


def test_a_campaign_is_exported_run_by_run(tmp_path: Path) -> None:
    made = Campaigned(tmp_path / "repo", {"two": ("2", "short")})
    unrun = hio(made.root, "export", "threads", "--to", "in-toto")
    assert unrun.code == 2 and one_sentence(unrun).endswith("run it first: hio campaign run threads")
    made.run("two")
    refused = hio(made.root, "export", "threads", "--to", "in-toto")
    assert refused.code == 2 and one_sentence(refused).endswith(f"is a run: export {RUN_ID}.two")


def test_where_no_document_of_a_kind_is_there_a_sentence_says_how_the_first_one_begins(
    tmp_path: Path,
) -> None:
    root = whole(tmp_path / "repo").root
    said = one_sentence(hio(root, "champion", "nope"))
    assert said == "hio: no readable campaign is called nope; there is none yet, hio campaign new begins one"
