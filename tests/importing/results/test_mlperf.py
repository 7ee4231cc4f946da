"""MLPerf's logs and descriptions: nanoseconds exact, VALID qualifies nothing, few samples are told, unknown is not zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.mlperf import MLPERF_DETAIL, MLPERF_SUMMARY
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, findings, ids, metric, names, records_of

HERE = SAMPLES / "mlperf"


def summary(file: Path) -> Any:
    (record,) = records_of(file, "mlperf-summary")
    return record


def with_lines(to: Path, sample: str, old: str, new: str) -> Path:
    text = (HERE / sample).read_text()
    assert old in text
    file = to / "given.txt"
    file.write_text(text.replace(old, new))
    return file


def test_offline_counts_its_samples_by_rate_and_greatest_latency() -> None:
    record = summary(HERE / "offline_summary.txt")
    assert record.name == "offline" and record.requests.completed == 64 and not ids(record)
    latency = metric(record, "99.90 percentile latency (ns)")
    assert (latency.definition, latency.statistic, latency.value, latency.unit, latency.n) == (
        "latency-sample", "p99.9", 2_000_000_000, "ns", 64,
    )  # fmt: skip
    assert metric(record, "Tokens per second").definition == "throughput-output"
    assert metric(record, "Samples per second").unit == "sample/s"
    assert record.foreign["Result is"] == "VALID" and record.foreign["min_duration (ms)"] == 600000
    assert record.workload["scenario"] == "Offline" and record.tier is Tier.DRAFT


def test_a_server_tells_first_tokens_and_time_per_token_in_exact_nanoseconds() -> None:
    record = summary(HERE / "server_summary.txt")
    assert metric(record, "Max latency (ns)").value == 9007199254740993
    assert metric(record, "Mean First Token latency (ns)").definition == "ttft-harness"
    assert metric(record, "99.90 percentile time to output token (ns)").definition == "itl-request-harness"
    assert metric(record, "Completed tokens per second").value == 3883.67
    assert record.workload["scheduled_rate"] == 13.43 and record.requests.completed == 24576
    assert ids(record) == ["result-invalid", "harness-warning"]


def test_a_word_that_is_neither_valid_nor_invalid_is_told(tmp_path: Path) -> None:
    text = (HERE / "server_summary.txt").read_text()
    assert "INVALID" in text
    (tmp_path / "mlperf_log_summary.txt").write_text(text.replace("INVALID", "FAILED", 1))
    record = summary(tmp_path / "mlperf_log_summary.txt")
    assert record.findings[0].message == "expected VALID or INVALID, the load generator says FAILED"


def test_few_samples_are_told_and_valid_does_not_help(tmp_path: Path) -> None:
    record = summary(HERE / "single_stream_summary.txt")
    assert (
        findings([record])[0][0] == "few-samples"
        and ids(record) == ["result-invalid"]
        and record.requests.completed == 4
    )
    assert metric(record, "90th percentile latency (ns)").statistic == "p90"
    alone = with_lines(tmp_path, "offline_summary.txt", "Samples per second: 32", "Samples per second: 0.5")
    record = summary(alone)
    assert [id for id, _ in findings([record])] == ["few-samples"] and record.foreign["Result is"] == "VALID"
    assert metric(record, "Mean latency (ns)").n == 1 and record.tier is Tier.DRAFT


@pytest.mark.parametrize(
    ("rate", "told"), [("32.00001", None), ("3200000", None), ("31.9", "rate-contradicts-counts")]
)
def test_a_rate_of_six_digits_tells_samples_only_as_far_as_it_reaches(
    tmp_path: Path, rate: str, told: str | None
) -> None:
    record = summary(with_lines(tmp_path, "offline_summary.txt", "second: 32", f"second: {rate}"))
    assert ids(record) == ([told] if told else [])
    assert record.requests.completed == (64 if rate == "32.00001" else None)


def test_a_query_of_several_samples_is_no_sample() -> None:
    record = summary(HERE / "multi_stream_summary.txt")
    assert metric(record, "Mean latency (ns)").definition == "latency-query"
    assert record.workload["samples_per_query"] == 8 and record.requests.completed == 700


@pytest.mark.parametrize(
    ("old", "new", "finding", "gone"),
    [
        ("per second: 32", "per second: 0.7", "rate-contradicts-counts", "Samples per second"),
        ("Min latency (ns)                : 5", "Min latency (ns)                : -5", "impossible-value", "Min latency (ns)"),
        ("90.00 percentile latency (ns)   : 19", "90.00 percentile latency (ns)   : 29", "statistics-out-of-order",
         "90.00 percentile latency (ns)"),
        ("Mean latency (ns)               : 1200000000", "Mean latency (ns)               : fast", "no-number",
         "Mean latency (ns)"),
    ],
)  # fmt: skip
def test_a_number_that_cannot_be_so_is_a_finding_and_no_metric(
    tmp_path: Path, old: str, new: str, finding: str, gone: str
) -> None:
    record = summary(with_lines(tmp_path, "offline_summary.txt", old, new))
    assert finding in ids(record) and gone not in names(record)


def test_a_first_token_after_the_end_is_told(tmp_path: Path) -> None:
    least = "Min latency (ns)                : "
    record = summary(with_lines(tmp_path, "server_summary.txt", f"{least}800000000", f"{least}50000000"))
    assert ids(record)[0] == "first-token-after-end"
    assert not {"Min latency (ns)", "Min First Token latency (ns)"} & names(record)


def test_a_summary_without_its_end_is_told(tmp_path: Path) -> None:
    text = (HERE / "offline_summary.txt").read_text()
    file = tmp_path / "cut.txt"
    file.write_text(text[: text.index("90.00 percentile")])
    record = summary(file)
    assert ids(record) == ["cut-short"] and metric(record, "Max latency (ns)").n == 64


def test_two_summaries_are_two_records_and_a_log_before_them_is_refused(tmp_path: Path) -> None:
    text = (HERE / "offline_summary.txt").read_text()
    file = tmp_path / "two.txt"
    file.write_text(text + text)
    assert [each.name for each in records_of(file, "mlperf-summary")] == ["offline", "offline-2"]
    file.write_text("INFO:main:starting\n" + text)
    with pytest.raises(CannotImport, match=r"two\.txt:1: the line is no data: 'INFO:main:starting'"):
        list(MLPERF_SUMMARY.read(Source(file)))
    (record,) = MLPERF_SUMMARY.read(Source(file, skip_log_lines=True))
    assert ids(record) == ["skipped-lines"]


def test_the_detail_log_says_the_same_key_by_key() -> None:
    (record,) = records_of(HERE / "detail.txt", "mlperf-detail")
    assert record.name == "server" and record.requests.completed == 24576 and not ids(record)
    assert record.subject["loadgen"] == "5.0.25 @ 0000000"
    assert metric(record, "result_first_token_99.00_percentile_latency_ns").definition == "ttft-harness"
    assert metric(record, "result_time_to_output_token_mean").definition == "itl-request-harness"
    assert "result_token_throughput" not in names(record) and "result_token_throughput" in record.foreign


ISSUED, COMPLETED = "result_token_throughput_with_loadgen_overhead", "result_completed_tokens_per_second"


@pytest.mark.parametrize(
    ("scenario", "completed", "taken", "told"),
    [
        ("Server", None, set(), True),
        ("Server", 763.5, {COMPLETED}, True),
        ("SingleStream", None, {ISSUED}, False),
        ("SingleStream", 763.5, {COMPLETED}, False),
    ],
)
def test_tokens_until_the_last_query_was_issued_are_no_throughput_of_a_server(
    tmp_path: Path, scenario: str, completed: float | None, taken: set[str], told: bool
) -> None:
    text = (HERE / "detail.txt").read_text().replace('"value": "Server"', f'"value": "{scenario}"')
    if completed is not None:
        text += (
            f':::MLLOG {{"key": "{COMPLETED}", "value": {completed}, "metadata": {{"is_error": false}}}}\n'
        )
    file = tmp_path / "detail.txt"
    file.write_text(text)
    (record,) = records_of(file, "mlperf-detail")
    assert names(record) & {ISSUED, COMPLETED} == taken
    assert any(ISSUED in each for each in record.unknown) is told
    assert all(metric(record, name).definition == "throughput-output" for name in taken)


def test_a_query_and_its_samples_are_told_apart_and_counted_each_for_itself() -> None:
    old = summary(HERE / "multi_stream_2019_summary.txt")
    for name, definition, value in (
        ("99.00 percentile latency (ns)", "latency-query", 46_000_000),
        ("Per-sample 99.00 percentile latency (ns)", "latency-sample", 44_000_000),
        ("Per-sample Mean latency (ns)", "latency-sample", 28_000_000),
    ):
        assert (metric(old, name).definition, metric(old, name).value) == (definition, value)
    assert "Mean latency (ns)" not in names(old)
    new = summary(HERE / "multi_stream_tokens_summary.txt")
    assert metric(new, "Mean latency (ns)").n == 50
    assert metric(new, "Mean First Token latency (ns)").n == 400
    assert metric(new, "99.00 percentile time to output token (ns)").n == 400


def test_errors_of_the_detail_log_are_told_and_broken_lines_refused(tmp_path: Path) -> None:
    text = (HERE / "detail.txt").read_text()
    file = tmp_path / "detail.txt"
    file.write_text(text.replace('"is_error": false', '"is_error": true', 2))
    (record,) = records_of(file, "mlperf-detail")
    assert ids(record) == ["harness-error"] and record.findings[0].line == 1
    for broken, said in (
        (text[:-30], "detail.txt:26: no JSON"),
        (f"{text}hello\n", "detail.txt:27: the line is no data"),
    ):
        file.write_text(broken)
        with pytest.raises(CannotImport, match=said):
            list(MLPERF_DETAIL.read(Source(file)))


def test_lines_of_the_older_logger_measure_nothing() -> None:
    (record,) = records_of(HERE / "detail_of_training.txt", "mlperf-detail")
    assert record.subject == {"benchmark": "ncf"} and not record.metrics
    assert record.foreign["preproc_hp_num_eval"] == 999 and record.tier is Tier.NEEDS_CONTEXT


def test_a_system_is_facts_and_what_is_not_told_is_no_zero() -> None:
    (record,) = records_of(HERE / "system.json", "mlperf-system")
    assert record.name == "small_box" and not record.metrics and record.tier is Tier.NEEDS_CONTEXT
    assert (
        record.subject["accelerators_per_node"] == "0" and record.subject["host_memory_capacity"] == "64 GB"
    )
    assert record.subject["operating_system"] == "(linux)"
    assert record.subject["node_types.0.host_memory_capacity"] == "2.2T"
    assert not {"accelerator_model_name", "accelerator_memory_capacity"} & record.subject.keys()
    assert record.unknown == ("accelerator_memory_capacity, accelerator_model_name",)


def test_a_count_of_thousands_of_digits_is_none(tmp_path: Path) -> None:
    text = (HERE / "single_stream_summary.txt").read_text() + f" * Only processed {'9' * 5000} queries\n"
    file = tmp_path / "given.txt"
    file.write_text(text)
    assert summary(file).requests.completed is None or summary(file).requests.completed < 10**18


@pytest.mark.parametrize("said", ["nan", "inf", "-3", "2.5"])
@pytest.mark.parametrize("key", ["samples_per_query : 8", "min_query_count : 50", "Only processed 50"])
def test_a_count_that_is_none_counts_nothing(tmp_path: Path, key: str, said: str) -> None:
    changed = key.replace(key.split()[-1], said)
    record = summary(with_lines(tmp_path, "multi_stream_tokens_summary.txt", key, changed))
    assert metric(record, "Mean First Token latency (ns)").n in (None, 400)


def test_a_count_of_the_detail_log_that_is_none_counts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "detail.txt"
    file.write_text(
        (HERE / "detail.txt").read_text() + ':::MLLOG {"key": "result_query_count", "value": NaN}\n'
    )
    (record,) = records_of(file, "mlperf-detail")
    assert record.requests.completed is None
