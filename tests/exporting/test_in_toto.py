"""An in-toto Statement v1 about a run: its files by their hashes, the verdict computed, nothing claimed that is unknown."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from hio_validate.exporting.cannot import CannotExport, NotTheRecordedBytes
from hio_validate.exporting.checked import checked
from hio_validate.exporting.in_toto import SCHEMA, statement
from hio_validate.rests_on import rests_on
from tests.evidence.experiment import SPEEDS, Experiment, whole
from tests.small_repo import EXECUTABLE, ROOM, sha


def _statement(experiment: Experiment) -> dict[str, Any]:
    judged = experiment.verdict()
    return checked(statement(judged, rests_on(judged.case.known.repo, [judged.run])), SCHEMA)


def test_its_subjects_are_the_files_of_the_run(tmp_path: Path) -> None:
    told = _statement(whole(tmp_path))
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    names = [each["name"] for each in told["subject"]]
    assert len(names) == len(set(names))
    there = {str(path.relative_to(tmp_path)) for path in (tmp_path / ROOM / "runs/threads").rglob("*.*")}
    assert set(names) == there
    for each in (*told["subject"], *told["predicate"]["restsOn"]):
        assert each["digest"]["sha256"] == sha((tmp_path / each["name"]).read_bytes())
    assert f"{ROOM}/runs/aa/rows.tsv" in {each["name"] for each in told["predicate"]["restsOn"]}


def test_its_predicate_is_the_verdict(tmp_path: Path) -> None:
    predicate = _statement(whole(tmp_path))["predicate"]
    assert predicate["verdict"]["tier"] == "VERDICT" and predicate["verdict"]["lacks"] == []
    first = predicate["verdict"]["comparisons"][0]
    assert first["values"] == SPEEDS
    assert first["changePercent"] == pytest.approx(100 * (60.25 / 50.1 - 1))
    assert predicate["plan"]["digest"]["sha256"] == sha((tmp_path / ROOM / "plans/threads.yaml").read_bytes())
    assert predicate["arms"][0]["processes"][0]["sha256"]["executable"] == EXECUTABLE
    assert "recordedBy" not in predicate, "this run does not say who recorded it"


def test_a_draft_says_what_it_lacks(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.pop("logs"))
    verdict = _statement(experiment)["predicate"]["verdict"]
    assert verdict["tier"] == "DRAFT" and verdict["inWords"].startswith(
        "DRAFT, improvement; it lacks: no-log"
    )
    assert [each["reason"] for each in verdict["lacks"]] == ["no-log"]


def test_different_work_has_no_ratio(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(rows=lambda row: row.update(generated=7) if row["arm"] == "two" else None)
    for each in _statement(experiment)["predicate"]["verdict"]["comparisons"]:
        assert not {"changePercent", "p", "noisePercent"} & each.keys()


def test_other_bytes_than_the_recorded_ones_are_not_stated(tmp_path: Path) -> None:
    experiment = whole(tmp_path)
    (tmp_path / ROOM / "runs/threads/server.log").write_text("other\n")
    with pytest.raises(NotTheRecordedBytes, match=r"threads/run.yaml:\d+: server.log has other bytes"):
        _statement(experiment)


@pytest.mark.parametrize(
    ("key", "value"),
    [("_type", "https://in-toto.io/Statement/v0.1"), ("subject", []), ("predicateType", "run"),
     ("subject", [{"name": "a"}]), ("subject", [{"name": "a", "digest": {"sha256": "abc"}}]), ("predicate", {})],
)  # fmt: skip
def test_the_schema_refuses_what_is_no_statement(tmp_path: Path, key: str, value: Any) -> None:
    spoilt = copy.deepcopy(_statement(whole(tmp_path)))
    spoilt[key] = value
    with pytest.raises(CannotExport, match="refuses"):
        checked(spoilt, SCHEMA)
