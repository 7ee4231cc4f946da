"""A benchmark report v0.2 of one arm: numbers of the raw rows, units of the schema, nothing that the run does not know."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.raw import read_rows
from hio_validate.evidence.tiers import verdict
from hio_validate.exporting.cannot import CannotExport
from hio_validate.exporting.checked import checked
from hio_validate.exporting.llm_d import SCHEMA, report
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.evidence.experiment import Experiment, whole
from tests.small_repo import ROOM

OWN = Path(__file__).parents[2]


def _rows(root: Path, arm: str) -> list[dict[str, str]]:
    head, *lines = (root / ROOM / "runs/threads/rows.tsv").read_text().splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    return [row for row in rows if row["arm"] == arm and row["phase"] == "measured"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("whole")
    return root, report(whole(root).verdict(), "two")


def test_every_number_follows_from_the_raw_rows(made: tuple[Path, dict[str, Any]]) -> None:
    root, told = made
    rows = _rows(root, "two")
    aggregate = told["results"]["request_performance"]["aggregate"]
    ttft = [float(row["ttft_ms"]) for row in rows]
    found = aggregate["latency"]["time_to_first_token"]
    assert found["units"] == "ms"
    assert (found["mean"], found["p50"]) == (pytest.approx(fmean(ttft)), pytest.approx(median(ttft)))
    assert (found["min"], found["max"]) == (min(ttft), max(ttft))
    assert aggregate["requests"]["total"] == len(rows) == 8
    assert aggregate["requests"]["failures"] == 0
    assert aggregate["requests"]["input_length"]["mean"] == 5
    assert aggregate["requests"]["output_length"] == {"units": "count", **{
        key: 0 if key == "stddev" else 8 for key in aggregate["requests"]["output_length"] if key != "units"
    }}  # fmt: skip
    speed = told["results"]["observability"]["hio"]["metrics"]["decode_tps"]
    assert speed["mean"] == pytest.approx(fmean(float(row["decode_tps"]) for row in rows))
    assert (speed["units"], speed["definition"]) == ("tokens/s", "decode-rate-n")


FIELDS = {
    "time_to_first_token": ("ttft_ms", "ms"),
    "time_per_output_token": ("tpot_ms", "ms/token"),
    "request_latency": ("wall_s", "s"),
}


def test_a_run_of_this_repository_keeps_every_definition_apart() -> None:
    repo = load(Folder(OWN))
    item = repo.find("run/v1", "2026-11-30-threads")
    assert item is not None
    told = checked(report(verdict(item, View(repo)), "threads-2"), SCHEMA)
    raw = repo.beside(item, "rows.tsv")
    rows = [row for row in read_rows(item.model, raw or b"") if row.cells["phase"] == "measured"]
    mine = [row.cells for row in rows if row.cells["arm"] == "threads-2"]
    latency = told["results"]["request_performance"]["aggregate"]["latency"]
    assert set(latency) == set(FIELDS), "the median gap of an answer is no inter-token latency"
    for field, (column, unit) in FIELDS.items():
        assert latency[field]["units"] == unit
        assert latency[field]["p50"] == pytest.approx(median(float(row[column]) for row in mine))
    own = told["results"]["observability"]["hio"]["metrics"]
    assert {name: each["definition"] for name, each in own.items()} == {
        "decode_tps": "decode-rate-n", "prefill_tps": "prefill-rate-evaluated", "itl_ms": "itl-request-median",
    }  # fmt: skip
    assert told["scenario"]["load"]["standardized"]["output_seq_len"] == {
        "distribution": "fixed",
        "value": 128,
    }
    assert told["run"]["time"]["duration"] == "PT97.167S"


def test_the_tier_goes_with_it(made: tuple[Path, dict[str, Any]]) -> None:
    _, told = made
    assert told["run"]["description"] == (
        "hio run lab/tiny/threads, arm two: VERDICT, improvement. "
        "two is the best of the 2 configurations measured in scope tides, cold."
    )
    assert "tier:VERDICT" in told["run"]["keywords"]
    assert told["results"]["observability"]["hio"]["tier"] == "VERDICT"


def test_what_ran_and_what_was_asked_is_told(made: tuple[Path, dict[str, Any]]) -> None:
    _, told = made
    (component,) = told["scenario"]["stack"]
    assert component["native"]["args"] == {"--threads": "2", "--port": "8080"}
    assert (component["standardized"]["tool"], component["standardized"]["tool_version"]) == (
        "llama-server",
        "b1",
    )
    assert len(component["metadata"]["cfg_id"]) == 64
    load = told["scenario"]["load"]["standardized"]
    assert load["input_seq_len"] == {"distribution": "fixed", "value": 5}
    assert "output_seq_len" not in load, "an answer may end before its budget"
    assert told["run"]["time"]["duration"] == "PT3600S"


def test_what_is_unknown_is_absent_and_never_zero(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)

    def forget(document: dict[str, Any]) -> None:
        for key in ("ended", "judged_by"):
            document.pop(key, None)

    experiment.run(run=forget, rows=lambda row: row.update(evaluated="none"))
    told = report(experiment.verdict(), "two")
    aggregate = told["results"]["request_performance"]["aggregate"]
    assert set(aggregate["latency"]) == {"time_to_first_token"}
    assert "throughput" not in aggregate and "input_length" not in aggregate["requests"]
    assert "load" not in told["scenario"], "the schema wants a length of the prompts there"
    assert told["run"]["time"] == {"start": "2026-01-04T03:00:00Z"}
    checked(told, SCHEMA)


def test_a_metric_that_one_request_does_not_know_is_left_out(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(
        rows=lambda row: row.update(ttft_ms="") if (row["leg"], row["request"]) == (2, 3) else None
    )
    told = report(experiment.verdict(), "two")
    assert "latency" not in told["results"]["request_performance"]["aggregate"]
    assert "latency" in report(experiment.verdict(), "base")["results"]["request_performance"]["aggregate"]


def test_failed_requests_are_counted_and_their_leg_is_named(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)

    def fail(row: dict[str, Any]) -> None:
        if (row["leg"], row["request"]) == (2, 4):
            row.update(status="timeout", decode_tps="", ttft_ms="")

    experiment.run(rows=fail)
    told = report(experiment.verdict(), "two")
    requests = told["results"]["request_performance"]["aggregate"]["requests"]
    assert (requests["total"], requests["failures"]) == (8, 1)
    own = told["results"]["observability"]["hio"]
    assert (own["legs"], own["requests"]) == (3, 6)
    assert [each["leg"] for each in own["legs_left_out"]] == [2]
    assert own["tier"] == "DRAFT" and "DRAFT" in told["run"]["description"]


def test_an_imported_column_counts_only_where_it_says_how_it_was_counted(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)

    def imported(document: dict[str, Any]) -> None:
        document["imported"] = True
        document["columns"] = copy.deepcopy(document["columns"])
        document["columns"]["decode_tps"]["about"] = METRICS["decode_tps"].about

    experiment.run(run=imported)
    told = report(experiment.verdict(), "two")
    assert "latency" not in told["results"]["request_performance"]["aggregate"]
    assert list(told["results"]["observability"]["hio"]["metrics"]) == ["decode_tps"]
    assert told["scenario"]["load"]["standardized"]["tool"] == "unknown"
    assert "concurrency" not in told["scenario"]["load"]["standardized"]


def test_an_arm_that_measured_nothing_is_refused(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(
        rows=lambda row: (
            row.update(status="timeout", decode_tps="", ttft_ms="") if row["arm"] == "two" else None
        )
    )
    with pytest.raises(CannotExport, match="no request of the arm two counts"):
        report(experiment.verdict(), "two")
    assert report(experiment.verdict(), "base")["version"] == "0.2"


def _in(*path: str | int) -> Callable[[dict[str, Any]], Any]:
    def reach(data: dict[str, Any]) -> Any:
        for key in path:
            data = data[key]  # type: ignore[index]
        return data

    return reach


LATENCY = ("results", "request_performance", "aggregate", "latency", "time_to_first_token")


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (_in(), "version", "0.1"),
        (_in("run"), "uid", None),
        (_in("run"), "owner", "me"),
        (_in(*LATENCY), "units", "ms/token"),
        (_in(*LATENCY), "mean", None),
        (_in(*LATENCY), "stddev", -1),
        (_in("results", "request_performance", "aggregate", "requests"), "total", -1),
        (_in("results", "request_performance", "aggregate", "latency"), "ttft", {"units": "ms", "mean": 1}),
        (_in("scenario", "load", "standardized"), "source", "typed"),
        (_in("scenario", "load", "standardized"), "concurrency", 0),
        (_in("scenario", "stack", 0, "standardized"), "kind", "inference_engine"),
        (_in("results", "observability", "hio"), "tier", "PROVEN"),
    ],
)
def test_the_schema_refuses_what_llm_d_would(
    made: tuple[Path, dict[str, Any]], place: Callable[[dict[str, Any]], Any], key: str, value: Any
) -> None:
    assert checked(made[1], SCHEMA) == made[1]
    spoilt = copy.deepcopy(made[1])
    place(spoilt)[key] = value
    with pytest.raises(CannotExport, match="refuses"):
        checked(spoilt, SCHEMA)
