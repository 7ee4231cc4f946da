"""genai-perf's summaries, and the requests that perf_analyzer keeps for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import as_row
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.genai_perf import GENAI_PERF
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, generation, ids, names, number, records_of

HERE = SAMPLES / "genai-perf"
REQUESTS = SAMPLES / "perf-analyzer" / "profile_export.json"


@pytest.mark.parametrize("name", [path.name for path in HERE.iterdir()])
def test_every_form_says_the_same(name: str) -> None:
    (record,) = records_of(HERE / name, "genai-perf")
    factor = {"ns": 10**6, "ms": 1}
    for metric, statistic, value, definition in (
        ("time_to_first_token", "mean", 150.0, "ttft-client"),
        ("request_latency", "p99", 1800.0, "latency-request"),
        (
            "inter_token_latency",
            "median",
            20.0,
            "itl-gap-per-token" if name == "first.csv" else "itl-request-mean",
        ),
    ):
        found = number(record, metric, statistic)
        assert (found.value / factor[found.unit], found.definition) == (value, definition)
    rate = number(record, "output_token_throughput", "value")
    assert (rate.value, rate.unit, rate.definition) == (120.0, "token/s", "throughput-output")
    assert number(record, "request_throughput", "value").unit == "request/s"
    assert record.workload["generated_tokens"] == 48.0
    assert record.tier is Tier.DRAFT
    assert ("rounded" in ids(record)) == name.endswith(".csv")


def test_the_unit_in_the_name_of_a_row_counts() -> None:
    (first,) = records_of(HERE / "first.csv", "genai-perf")
    assert (number(first, "request_latency").value, number(first, "request_latency").unit) == (
        1500000000,
        "ns",
    )
    assert generation(HERE / "first.csv") == "chunked"


def test_what_was_asked_stands_in_both_layouts() -> None:
    for name in ("profile_export_genai_perf-0.0.7.json", "profile_export_genai_perf-0.0.13.json"):
        (record,) = records_of(HERE / name, "genai-perf")
        assert record.workload["concurrency"] == 4
        assert record.workload["prompt_tokens"] == 550
        assert "small-1b" in str(record.subject["model"])
        kept = json.dumps(as_row(record))
        assert "s3cret" not in kept and "sk-do-not-keep" not in kept


def test_a_count_of_requests_where_there_is_one() -> None:
    (old,) = records_of(HERE / "profile_export_genai_perf-0.0.7.json", "genai-perf")
    (new,) = records_of(HERE / "profile_export_genai_perf-0.0.13.json", "genai-perf")
    assert old.requests.completed is None and new.requests.completed == 40


@pytest.mark.parametrize(
    ("old", "new", "id"),
    [
        ("150.00,100.00,200.00", "150.00,160.00,200.00", "impossible-value"),
        ("150.00,100.00,200.00", "n/a,100.00,200.00", "no-number"),
        ("Token (ms)", "Token (tokens)", "unknown-unit"),
        ("Request Count (count),40.00", "Request Count (count),0.00", "zero-completed"),
    ],
)
def test_what_cannot_be_so_is_told(tmp_path: Path, old: str, new: str, id: str) -> None:
    text = (HERE / "profile_export_genai_perf.csv").read_text()
    assert old in text
    file = tmp_path / "profile.csv"
    file.write_text(text.replace(old, new, 1))
    (record,) = records_of(file, "genai-perf")
    assert id in ids(record)


def test_a_table_that_stands_twice_says_so(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    file.write_text((HERE / "profile_export_genai_perf.csv").read_text() * 2)
    (record,) = records_of(file, "genai-perf")
    assert "repeated-metric" in ids(record)


def test_a_table_that_is_cut_says_so(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    text = (HERE / "profile_export_genai_perf.csv").read_text()
    file.write_text(text[: text.index("120.00") + 2])
    (record,) = records_of(file, "genai-perf")
    assert "cut-short" in ids(record)
    file.write_text(text[: text.index("1,800.00") + 3])
    with pytest.raises(CannotImport, match=r"profile\.csv:4: no CSV from here on: a quote is opened"):
        records_of(file, "genai-perf")
    file.write_text(text[: text.index("19.00")])
    with pytest.raises(CannotImport, match=r"profile\.csv:3: expected 10 cells, got"):
        records_of(file, "genai-perf")


def test_lines_of_a_log_are_named_and_skipped_where_that_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    text = (HERE / "profile_export_genai_perf.csv").read_text()
    for logged in (
        "INFO, exporting\n" + text,
        text.replace("Request Latency", "INFO, half\nRequest Latency", 1),
    ):
        file.write_text(logged)
        line = logged.splitlines().index(next(each for each in logged.splitlines() if "INFO" in each)) + 1
        with pytest.raises(CannotImport, match=rf"profile\.csv:{line}: expected .* --skip-log-lines"):
            records_of(file, "genai-perf")
        (record,) = GENAI_PERF.read(Source(file, skip_log_lines=True))
        assert [(each.id, each.line) for each in record.findings if each.id == "skipped-lines"] == [
            ("skipped-lines", line)
        ]
        assert number(record, "request_latency").value == 1500.0


def test_answers_are_timed_from_those_that_bring_content() -> None:
    streamed, single = records_of(REQUESTS, "perf-analyzer")
    assert generation(REQUESTS) == "2.59.0"
    assert streamed.name == "concurrency-2" and streamed.workload["concurrency"] == 2
    assert streamed.requests == (3, 2, 1, None)
    first = number(streamed, "time_to_first_token")
    assert (first.value, first.unit, first.samples) == (150000.0, "ns", (100000, 200000))
    assert number(streamed, "inter_chunk_latency").samples == (20000, 20000, 30000, 30000)
    assert number(streamed, "request_latency", "max").value == 260000
    assert number(streamed, "benchmark_duration", "value").value == 310000
    assert number(streamed, "request_throughput", "value").value == 2 * 10**9 / 310000
    assert "time_to_first_token" not in names(single) and single.unknown
    assert number(single, "request_latency").value == 80000


def test_no_text_of_an_answer_is_kept() -> None:
    kept = json.dumps([as_row(record) for record in records_of(REQUESTS, "perf-analyzer")])
    assert "treasure" not in kept and "Under" not in kept and "oak" not in kept


def changed(tmp_path: Path, change: Any) -> Path:
    export = json.loads(REQUESTS.read_text())
    change(export)
    file = tmp_path / "profile_export.json"
    file.write_text(json.dumps(export))
    return file


def test_moments_in_no_order_are_told_and_count_nowhere(tmp_path: Path) -> None:
    def change(export: Any) -> None:
        export["experiments"][0]["requests"][0]["response_timestamps"][2] = 5

    streamed, _ = records_of(changed(tmp_path, change), "perf-analyzer")
    assert "impossible-value" in ids(streamed)
    assert streamed.requests.completed == 1


def test_an_experiment_in_which_all_failed_measured_nothing(tmp_path: Path) -> None:
    def change(export: Any) -> None:
        for request in export["experiments"][0]["requests"]:
            request["response_timestamps"], request["response_outputs"] = [], []

    streamed, _ = records_of(changed(tmp_path, change), "perf-analyzer")
    assert "zero-completed" in ids(streamed) and not streamed.metrics


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda export: export.update(experiments=[]), "holds no experiment"),
        (lambda export: export.update(experiments=3), "expected a list of experiments"),
        (lambda export: export["experiments"].append({}), "experiment 3 has no list of requests"),
    ],
)
def test_what_gives_nothing_is_told(tmp_path: Path, change: Any, said: str) -> None:
    def keep(export: Any) -> None:
        export["kept"] = {"response_timestamps": []}
        change(export)

    with pytest.raises(CannotImport, match=said):
        records_of(changed(tmp_path, keep), "perf-analyzer")
