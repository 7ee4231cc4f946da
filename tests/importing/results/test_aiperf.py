"""AIPerf's summaries and its rows of requests."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import as_row
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.aiperf_rows import AIPERF_ROWS
from hio_validate.importing.results.reading import reading
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, generation, ids, names, number, read, records_of

HERE = SAMPLES / "aiperf"
SUMMARIES = (
    "profile_export_aiperf-0.5.json",
    "profile_export_aiperf-records.json",
    "profile_export_aiperf.csv",
)
ROWS = SAMPLES / "aiperf-records" / "profile_export.jsonl"
FILES = [*HERE.iterdir(), ROWS]


def changed(tmp_path: Path, change: Any) -> Path:
    export = json.loads((HERE / SUMMARIES[0]).read_text())
    change(export)
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(export))
    return file


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_generation_says_the_same_sixty_requests(name: str) -> None:
    (record,) = records_of(HERE / name, "aiperf")
    assert record.requests.completed == 60
    for metric, statistic, value, unit, definition in (
        ("time_to_first_token", "mean", 150.0, "ms", "ttft-client"),
        ("inter_token_latency", "p99", 21.0, "ms", "itl-request-mean"),
        ("request_latency", "median", 340.0, "ms", "latency-request"),
        ("request_throughput", "value", 30.0, "request/s", "throughput-requests"),
        ("output_token_throughput", "value", 330.0, "token/s", "throughput-output"),
        ("benchmark_duration", "value", 2.0, "s", "duration"),
    ):
        found = number(record, metric, statistic)
        assert (found.value, found.unit, found.definition) == (value, unit, definition)
    assert record.tier is Tier.DRAFT


def test_the_version_is_the_generation_where_it_stands() -> None:
    assert [generation(HERE / name) for name in SUMMARIES] == ["0.5.0", "records", None]


@pytest.mark.parametrize("name", SUMMARIES[:2])
def test_the_cancelled_are_no_failed_ones_and_both_are_kept(name: str) -> None:
    (record,) = records_of(HERE / name, "aiperf")
    assert record.requests == (64, 60, 3, 1)
    assert number(record, "time_to_first_token").n == 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_secret_and_no_message_of_a_server_is_kept(path: Path) -> None:
    kept = json.dumps([as_row(record) for record in records_of(path, path.parent.name)])
    for secret in ("s3cret", "sk-do-not-keep", "treasure"):
        assert secret not in kept


def test_nanoseconds_that_a_float_cannot_hold_are_told() -> None:
    (record,) = records_of(HERE / SUMMARIES[1], "aiperf")
    assert "inexact-number" in ids(record)
    assert "1.759522419154569e+18" in str(record.foreign["min_request_timestamp"])


def test_a_run_in_which_all_failed_measured_nothing() -> None:
    (record,) = records_of(HERE / "all-failed.json", "aiperf")
    assert record.requests == (9, 0, 9, 0)
    assert not record.metrics and ids(record) == ["zero-completed"]


@pytest.mark.parametrize(
    ("path", "value", "id", "lost"),
    [
        (("time_to_first_token", "unit"), "fortnights", "unknown-unit", "time_to_first_token"),
        (("time_to_first_token", "unit"), "tokens/sec", "unknown-unit", "time_to_first_token"),
        (("time_to_first_token", "avg"), 300.0, "impossible-value", "time_to_first_token"),
        (("request_throughput", "avg"), 31.0, "rate-contradicts-counts", "request_throughput"),
        (("output_token_throughput", "avg"), 400.0, "rate-contradicts-counts", "output_token_throughput"),
        (("benchmark_duration", "avg"), 0.2, "latency-exceeds-duration", "request_latency"),
        (("request_latency", "unit"), "sec", "latency-exceeds-duration", "request_latency"),
        (("error_request_count", "avg"), 9.0, "counts-contradict", None),
        (("inter_token_latency", "count"), 61, "counts-contradict", None),
        (("inter_token_latency", "std"), 5.0, "impossible-value", None),
    ],
)
def test_what_cannot_be_so_is_told(
    tmp_path: Path, path: tuple[str, str], value: Any, id: str, lost: str | None
) -> None:
    def change(export: Any) -> None:
        export[path[0]][path[1]] = value

    (record,) = records_of(changed(tmp_path, change), "aiperf")
    assert id in ids(record)
    assert lost is None or lost not in names(record)
    assert ("inter_token_latency" if lost == "request_latency" else "request_latency") in names(record)


def test_the_unit_beside_the_number_counts_and_not_its_size(tmp_path: Path) -> None:
    def change(export: Any) -> None:
        export["time_to_first_token"]["unit"] = "ns"

    (record,) = records_of(changed(tmp_path, change), "aiperf")
    assert (number(record, "time_to_first_token").value, number(record, "time_to_first_token").unit) == (
        150.0,
        "ns",
    )


def test_a_benchmark_that_was_cancelled_says_so(tmp_path: Path) -> None:
    (record,) = records_of(changed(tmp_path, lambda export: export.update(was_cancelled=True)), "aiperf")
    assert "cut-short" in ids(record)


def test_the_phases_of_newer_configurations(tmp_path: Path) -> None:
    config = {
        "models": {"items": [{"name": "acme/small-1b"}]},
        "endpoint": {"urls": ["http://me:s3cret@10.0.0.7:8000/v1"], "streaming": True},
        "phases": [
            {"name": "warmup", "kind": "warmup", "type": "concurrency", "concurrency": 1, "requests": 3},
            {
                "name": "profiling",
                "kind": "profiling",
                "type": "poisson",
                "rate": 12.5,
                "concurrency": 8,
                "requests": 64,
            },
        ],
        "datasets": [{"type": "synthetic", "prompts": {"isl": 550, "osl": {"mean": 11, "stddev": 1}}}],
    }
    (record,) = records_of(changed(tmp_path, lambda export: export.update(input_config=config)), "aiperf")
    assert (
        record.subject["model"] == "acme/small-1b" and record.subject["endpoint"] == "http://10.0.0.7:8000/v1"
    )
    assert record.workload == {
        "load": "poisson", "request_rate": 12.5, "concurrency": 8, "requests": 64, "prompt_tokens": 550,
        "generated_tokens": 11, "dataset": "synthetic",
    }  # fmt: skip
    assert record.requests.asked == 64


def test_what_a_server_said_of_itself_is_no_measurement_of_the_client(tmp_path: Path) -> None:
    file = tmp_path / "server_metrics_export.json"
    file.write_text(
        '{"schema_version": "1.0", "aiperf_version": "0.8.0", "summary": {}, "metrics": {}, "input_config": {}}'
    )
    with pytest.raises(CannotImport, match="what the server said of itself"):
        records_of(file, "aiperf")


def test_a_sum_of_several_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotImport, match="sums up several runs"):
        records_of(
            changed(tmp_path, lambda export: export.update(metadata={"aggregation_type": "confidence"})),
            "aiperf",
        )


def test_the_columns_of_a_telemetry_table_are_none_of_the_client() -> None:
    (record,) = records_of(HERE / SUMMARIES[2], "aiperf")
    assert not [each for each in record.metrics if "gpu" in each.name.lower()]
    assert "rounded" in ids(record)


def test_rows_become_statistics() -> None:
    (record,) = records_of(ROWS, "aiperf-records")
    assert record.requests == (None, 3, 1, 1)
    assert record.workload["warmup_requests"] == 1
    first = number(record, "time_to_first_token")
    assert (first.value, first.unit, first.n, first.samples) == (150.0, "ms", 3, (100.0, 150.0, 200.0))
    assert number(record, "time_to_first_token", "std").value == pytest.approx(
        statistics.pstdev((100, 150, 200))
    )
    assert number(record, "inter_chunk_latency").n == 10 + 10 + 9
    assert number(record, "inter_chunk_latency").definition == "itl-per-gap"
    assert record.foreign["errors.HTTPError"] == 1


def test_moments_beyond_what_a_float_holds_are_exact() -> None:
    (record,) = records_of(ROWS, "aiperf-records")
    duration = number(record, "benchmark_duration", "value")
    assert (duration.value, duration.unit) == (580000009, "ns")
    assert number(record, "request_throughput", "value").value == 3 * 10**9 / 580000009
    assert number(record, "output_token_throughput", "value").value == 32 * 10**9 / 580000009


def lines() -> list[Any]:
    return [json.loads(line) for line in ROWS.read_text().splitlines()]


def written(tmp_path: Path, rows: list[Any]) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_values_that_cannot_be_are_told_with_their_line_and_count_nowhere(tmp_path: Path) -> None:
    rows = lines()
    rows[2]["metrics"]["time_to_first_token"]["value"] = -5
    rows[3]["metrics"]["time_to_first_token"]["value"] = -6
    rows[3]["metrics"]["request_latency"]["value"] = "slow"
    rows[2]["metadata"]["request_end_ns"] = 1
    (record,) = records_of(written(tmp_path, rows), "aiperf-records")
    assert number(record, "time_to_first_token").n == 1
    found = {finding.line: finding.message for finding in record.findings}
    assert "and 1 more" in "".join(
        finding.message for finding in record.findings if "first_token" in finding.message
    )
    assert {3, 4} <= found.keys()
    assert number(record, "request_latency").n == 2


def test_a_unit_that_changes_makes_no_metric(tmp_path: Path) -> None:
    rows = lines()
    rows[3]["metrics"]["time_to_first_token"]["unit"] = "sec"
    (record,) = records_of(written(tmp_path, rows), "aiperf-records")
    assert "time_to_first_token" not in names(record) and "mixed-units" in ids(record)


def test_rows_that_all_failed_measured_nothing(tmp_path: Path) -> None:
    (record,) = records_of(written(tmp_path, lines()[4:]), "aiperf-records")
    assert not record.metrics and "zero-completed" in ids(record)
    assert record.tier is Tier.NEEDS_CONTEXT


@pytest.mark.parametrize(
    "extra", ["2026-03-01 10:00:00 INFO done", '{"metadata": {"session_num": 1}, "metr', "[1]", "{}"]
)
def test_a_line_that_is_no_request_is_named(tmp_path: Path, extra: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(ROWS.read_text() + extra)
    with pytest.raises(CannotImport, match=r"rows\.jsonl:7"):
        records_of(file, "aiperf-records")


def test_lines_that_are_no_requests_are_skipped_where_that_was_asked_for_and_told(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("INFO begin\n" + ROWS.read_text() + '{"metadata": {"session')
    (record,) = AIPERF_ROWS.read(Source(file, skip_log_lines=True))
    assert record.requests.completed == 3
    assert (record.findings[0].id, record.findings[0].line) == ("skipped-lines", 1)
    assert "2 lines" in record.findings[0].message


def test_more_values_than_are_held_at_once(tmp_path: Path) -> None:
    rows = lines()[1:2] * 300
    gaps = [float(i % 1000) for i in range(1000)]
    rows[0]["metrics"]["inter_chunk_latency"]["value"] = gaps
    (record,) = records_of(written(tmp_path, rows), "aiperf-records")
    assert number(record, "inter_chunk_latency").n == 300_000
    assert number(record, "inter_chunk_latency", "median").value == pytest.approx(499.5)
    assert not number(record, "inter_chunk_latency").samples


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_cut_anywhere_is_told_or_read_never_worse(tmp_path: Path, path: Path) -> None:
    raw, name, format = path.read_bytes(), path.name, path.parent.name
    for part in range(14 if name.endswith(".json") else 1, 20):
        file = tmp_path / name
        file.write_bytes(raw[: len(raw) * part // 20])
        try:
            (record,) = records_of(file, format)
            assert (
                not name.endswith(".csv")
                or raw[len(raw) * part // 20 - 1] == 10
                or "cut-short" in ids(record)
            )
        except CannotImport as error:
            assert "\n" not in str(error)


def of_13(requests: int, **more: Any) -> Any:
    """Makes an export one of 0.13, whose requests all ended."""

    def change(export: dict[str, Any]) -> None:
        done = int(export["request_count"]["avg"])
        export["input_config"] = {
            "phases": [{"name": "profiling", "kind": "profiling", "requests": requests}],
            "datasets": [{"type": "synthetic", "prompts": {"osl": {"mean": 11.0}}}],
        }
        export["error_summary"] = []
        export.pop("error_request_count", None)
        export["completed_request_count"] = {"unit": "requests", "avg": float(done)}
        export.update(more)

    return change


def test_requests_that_ended_without_failing_failed_never(tmp_path: Path) -> None:
    (record,) = records_of(changed(tmp_path, of_13(60)), "aiperf")
    assert record.requests == (60, 60, 0, 0) and not ids(record)
    ended = {"completed_request_count": {"unit": "requests", "avg": 64.0}}
    (record,) = records_of(changed(tmp_path, of_13(64, **ended)), "aiperf")
    assert record.requests == (64, 60, 4, 0)


def test_a_warm_up_or_a_run_that_ended_early_is_told_and_no_contradiction(tmp_path: Path) -> None:
    (record,) = records_of(changed(tmp_path, of_13(900)), "aiperf")
    assert ids(record) == ["fewer-than-asked"] and record.metrics
    assert "60 requests were completed, 900 asked for" in record.findings[0].message


def test_answers_of_another_length_than_was_asked_for_are_told(tmp_path: Path) -> None:
    longer = {"output_sequence_length": {"unit": "tokens", "avg": 33.0, "min": 30.0, "max": 36.0}}
    (record,) = records_of(changed(tmp_path, of_13(60, **longer)), "aiperf")
    assert ids(record) == ["length-not-as-asked"]
    assert record.findings[0].message == "output_sequence_length is 33 tokens on average, 11 were asked for"


def test_a_count_of_tokens_is_no_credential(tmp_path: Path) -> None:
    said = {
        "unit": "%",
        "avg": 200 / 3,
        **{f"p{rank}": 200 / 3 for rank in (1, 5, 10, 25, 50, 75, 90, 95, 99)},
    }
    file = changed(tmp_path, of_13(60, usage_completion_tokens_diff_pct=said))
    found = reading(Source(file))
    assert found is not None
    (record,) = found.records()
    assert "secret-withheld" not in ids(record)


def test_an_export_behind_lines_of_a_log_is_told_or_read_from_its_line(tmp_path: Path) -> None:
    file = tmp_path / "captured.txt"
    text = json.dumps(json.loads((HERE / SUMMARIES[0]).read_text()), indent=2)
    file.write_text("INFO starting\nINFO done\n" + text + "\n")
    with pytest.raises(CannotImport, match=r"captured\.txt:1: the line is no data.*--skip-log-lines"):
        records_of(file, "aiperf")
    (record,) = read(Source(file, skip_log_lines=True), "aiperf")
    assert record.line == 3 and record.requests.completed == 60 and "skipped-lines" in ids(record)


NATIVE: dict[str, Any] = {
    "schema_version": "2.0",
    "aiperf_version": "0.14.0",
    "run": {"mode": "online", "model": "m"},
    "summary": {"was_cancelled": False},
    "metrics": {
        "request_latency": {"type": "distribution", "unit": "ms", "series": [
            {"labels": {"worker": "1"}, "stats": {"count": 30, "avg": 9.0}},
            {"labels": None, "stats": {"count": 60, "avg": 12.5, "min": 10.0, "max": 15.0, "std": 1.5,
                                       "percentiles": {"p50": 12.0, "p99": 15.0}}}]},
        "inter_token_latency": {"type": "distribution", "unit": "ms", "series": [
            {"labels": {"worker": "1"}, "stats": {"count": 30, "avg": 9.0}}]},
        "request_count": {"type": "counter", "unit": "requests", "series": [{"labels": None, "stats": {"total": 60.0, "rate": 4.0}}]},
        "request_throughput": {"type": "scalar", "unit": "requests/sec", "series": [{"labels": None, "stats": {"value": 4.0}}]},
    },
    "errors": [],
}  # fmt: skip


def test_a_report_of_series_gives_the_series_of_the_run_alone(tmp_path: Path) -> None:
    file = tmp_path / "native.json"
    file.write_text(json.dumps(NATIVE))
    (record,) = records_of(file, "aiperf")
    latency = number(record, "request_latency")
    assert (latency.value, latency.unit, latency.n) == (12.5, "ms", 60)
    assert number(record, "request_latency", "median").value == 12.0
    assert number(record, "request_throughput", "value").value == 4.0
    assert "inter_token_latency" not in names(record)
    assert record.requests.completed == 60 and record.subject["model"] == "m"
    file.write_text(json.dumps({key: value for key, value in NATIVE.items() if key != "run"}))
    with pytest.raises(CannotImport, match="what the server said of itself"):
        records_of(file, "aiperf")


def test_the_table_says_as_much_of_requests_that_failed(tmp_path: Path) -> None:
    text = (HERE / SUMMARIES[2]).read_text()
    assert "Request Count,60" in text
    file = tmp_path / "profile.csv"
    kept = "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith("Error Request Count")
    )
    file.write_text(
        kept.replace("Request Count,60", "Completed Requests (Success + Error),63.00\nRequest Count,60")
    )
    (record,) = records_of(file, "aiperf")
    assert record.requests[:3] == (None, 60, 3)
