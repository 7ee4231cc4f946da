"""Reports of inference-perf: seconds, what a token is in each generation, failed requests, requests one by one."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.inference_perf import INFERENCE_PERF
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, changed, ids, metric, names, records_of

HERE = SAMPLES / "inference-perf"
STAGE = "inference-perf/stage_0_lifecycle_metrics.json"


def one(file: Path) -> Any:
    (record,) = records_of(file, "inference-perf")
    return record


def test_a_stage_is_a_record_in_seconds() -> None:
    record = one(SAMPLES / STAGE)
    assert record.name == "concurrency-4" and record.tier is Tier.DRAFT and not ids(record)
    assert record.requests._asdict() == {"asked": 12, "completed": 10, "failed": 2, "cancelled": None}
    assert record.workload == {
        "prompts": 12, "request_rate": 1.5, "concurrency": 4, "achieved_rate": 1.3333333333333333,
        "prompt_tokens": 100, "generated_tokens": 40,
    }  # fmt: skip
    whole = metric(record, "normalized_time_per_output_token.mean")
    assert (whole.definition, whole.unit, whole.n) == ("tpot-whole", "s", 10)
    assert metric(record, "request_latency.p99").definition == "latency-request"
    assert metric(record, "throughput.output_tokens_per_sec").value == 40.0
    assert metric(record, "benchmark_time_seconds").definition == "duration"
    assert record.foreign["failures.500 - other"] == 2 and "PRIVATE" not in repr(record)


@pytest.mark.parametrize(
    ("file", "per_request", "per_gap"),
    [
        ("of-2025.json", "gap-request-mean", "itl-per-gap"),
        ("stage_0_lifecycle_metrics.json", "gap-request-mean", "itl-per-gap"),
        ("summary_lifecycle_metrics.json", "itl-request-mean", "itl-per-token"),
    ],
)
def test_what_lies_between_tokens_is_counted_otherwise_in_each_generation(
    file: str, per_request: str, per_gap: str
) -> None:
    record = one(HERE / file)
    assert metric(record, "time_per_output_token.mean").definition == per_request
    assert metric(record, "inter_token_latency.mean").definition == per_gap


def test_the_generation_of_2025_has_p50() -> None:
    record = one(HERE / "of-2025.json")
    assert metric(record, "time_to_first_token.p50").statistic == "median" and record.name == "rate-1.5"


def test_goodput_is_a_rate() -> None:
    assert metric(one(HERE / "summary_lifecycle_metrics.json"), "goodput.request_goodput").unit == "request/s"


def with_(path: tuple[str, ...], value: Any) -> Any:
    def change(values: dict[str, Any]) -> dict[str, Any]:
        inner = made = copy.deepcopy(values)
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return made

    return change


@pytest.mark.parametrize(
    ("path", "value", "finding", "gone"),
    [
        (("throughput", "requests_per_sec"), 1.2, "rate-contradicts-counts", "throughput.requests_per_sec"),
        (
            ("throughput", "output_tokens_per_sec"),
            400.5,
            "rate-contradicts-counts",
            "throughput.output_tokens_per_sec",
        ),
        (
            ("throughput", "total_tokens_per_sec"),
            300.5,
            "rate-contradicts-counts",
            "throughput.total_tokens_per_sec",
        ),
        (("latency", "time_to_first_token", "max"), 9.0, "first-token-after-end", "time_to_first_token.max"),
        (("latency", "request_latency", "p90"), 3.55, "statistics-out-of-order", "request_latency.p90"),
        (("latency", "inter_token_latency", "min"), -1.0, "impossible-value", "inter_token_latency.min"),
    ],
)
def test_a_number_that_cannot_be_so_is_a_finding_and_no_metric(
    tmp_path: Path, path: tuple[str, ...], value: float, finding: str, gone: str
) -> None:
    assert gone in names(one(SAMPLES / STAGE))
    record = one(changed(STAGE, tmp_path, with_(("successes", *path), value)))
    assert finding in ids(record) and gone not in names(record)


def test_a_first_token_is_held_only_against_the_slowest_request(tmp_path: Path) -> None:
    """Answers of one piece have no time to first token, and may be quicker than the quickest that has one."""
    record = one(changed(STAGE, tmp_path, with_(("successes", "latency", "request_latency", "min"), 0.05)))
    assert not ids(record)


def test_more_outcomes_than_requests_are_told(tmp_path: Path) -> None:
    record = one(changed(STAGE, tmp_path, with_(("load_summary", "count"), 11)))
    assert ids(record) == ["completed-exceeds-asked"]


def test_zero_successes_are_no_evidence() -> None:
    record = one(HERE / "all-failed.json")
    assert ids(record) == ["zero-completed"] and not record.metrics
    assert record.requests.failed == 5 and record.tier is Tier.NEEDS_CONTEXT


def test_what_the_server_counted_is_not_what_a_client_saw() -> None:
    record = one(HERE / "summary_prometheus_metrics.json")
    assert metric(record, "time_to_first_token.p90").definition == "ttft-server"
    assert metric(record, "time_per_output_token.p90").definition == "unknown"
    assert metric(record, "prompt_len.mean").definition == "prompt-length"
    assert "everything that a client sees" in record.unknown


def test_requests_one_by_one_give_one_record_without_their_texts() -> None:
    record = one(HERE / "per_request_lifecycle_metrics.json")
    assert record.requests._asdict() == {"asked": 3, "completed": 2, "failed": 1, "cancelled": None}
    assert record.workload == {"prompts": 3, "prompt_tokens": 15.0, "generated_tokens": 4.0}
    assert metric(record, "end_time - start_time").samples == (2.0, 3.0)
    assert metric(record, "output_token_times[0] - start_time").samples == (0.5, 0.25)
    assert metric(record, "(last - first) / (times - 1)").samples == (0.75, 1.0)
    assert metric(record, "duration").value == 4.0 and "PRIVATE" not in repr(record)


def test_requests_that_all_failed_are_no_evidence(tmp_path: Path) -> None:
    def failing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "error": {"error_type": "HTTP"}} for row in rows] + [{**rows[0], "end_time": 1.0}]

    record = one(changed("inference-perf/per_request_lifecycle_metrics.json", tmp_path, failing))
    assert ids(record) == ["impossible-value", "zero-completed"] and not record.metrics


def test_a_cut_report_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    file.write_text((SAMPLES / STAGE).read_text()[:1500])
    with pytest.raises(CannotImport, match=r"cut\.json:\d+: no JSON from here on"):
        list(INFERENCE_PERF.read(Source(file)))


def of_07(report: dict[str, Any]) -> dict[str, Any]:
    """A report as 0.7 writes it: the prompts' lengths with what a cache held of them, and what was sent again."""
    done = report["successes"]
    done["prompt_tokens"] = {"total": 1000.0, "cached": 320.0, "uncached": 680.0, **done.pop("prompt_len")}
    done["output_tokens"] = {"total": 400.0, **done["output_len"]}
    done["token_count_mismatches"] = 0
    report["failures"]["prompt_tokens"] = {"total": 0.0, "cached": 0.0, "uncached": 0.0}
    report["retries"] = {"requests_retried": 1, "attempts": 2, "recovered": 1, "failed_after_retry": 0}
    return report


def test_lengths_are_read_where_later_reports_say_them(tmp_path: Path) -> None:
    record = one(changed(STAGE, tmp_path, of_07))
    assert record.tier is Tier.DRAFT and ids(record) == ["sent-again"]
    assert record.workload["prompt_tokens"] == 100 and record.workload["generated_tokens"] == 40
    length = metric(record, "prompt_tokens.mean")
    assert (length.definition, length.value, length.n) == ("prompt-length", 100, 10)
    assert metric(record, "output_len.mean").definition == "generated-length"
    assert record.foreign["successes.prompt_tokens.cached"] == 320.0
    assert record.findings[0].message.startswith("1 request sent again")


@pytest.mark.parametrize(
    "fields", [{"info"}, {"computed_metrics"}, {"info", "computed_metrics"}, set()], ids=sorted
)
def test_requests_are_read_with_the_fields_that_were_asked_for(tmp_path: Path, fields: set[str]) -> None:
    every = {
        "info": {"request_metrics": {"text": {"input_tokens": 50}},
                 "response_metrics": {"output_tokens": 3, "output_token_times": [10.5, 10.75, 11.0]}},
        "computed_metrics": {"request_latency": 1.5, "time_to_first_token": 0.5, "time_per_output_token": 0.25,
                             "inter_token_latencies": [0.25, 0.25], "input_tokens": 50, "output_tokens": 3},
    }  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"start_time": 10.0, "end_time": 11.5, **{key: every[key] for key in sorted(fields)}, "error": None},
        {"start_time": 11.0, "end_time": 11.1, "error": {"error_type": "HTTP 503", "error_msg": "no"}},
    ]
    file = tmp_path / "requests.json"
    file.write_text(json.dumps(rows))
    record = one(file)
    assert record.requests[:3] == (2, 1, 1)
    assert metric(record, "end_time - start_time").value == 1.5
    if not fields:
        assert "generated_tokens" not in record.workload
        return
    assert metric(record, "output_token_times[0] - start_time").value == 0.5
    assert (record.workload["prompt_tokens"], record.workload["generated_tokens"]) == (50, 3)
    if "info" not in fields:
        token = metric(record, "computed_metrics.time_per_output_token")
        assert (token.definition, token.value, token.derived) == ("itl-request-mean", 0.25, True)
