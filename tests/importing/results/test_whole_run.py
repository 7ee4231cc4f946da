"""What does not fit into its run is a finding and no metric, whichever client wrote it down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.measurements import opened
from tests.importing.results.reading import ids, records_of

RUN: dict[str, Any] = {
    "date": "20260102-030405", "endpoint_type": "openai", "backend": "openai", "model_id": "m", "tokenizer_id": "m",
    "num_prompts": 100, "request_rate": "inf", "max_concurrency": 8, "duration": 10.0, "completed": 100, "failed": 0,
    "total_input_tokens": 10000, "total_output_tokens": 5000, "request_throughput": 10.0, "output_throughput": 500.0,
    "total_token_throughput": 1500.0, "mean_ttft_ms": 100.0, "p99_ttft_ms": 150.0, "mean_e2el_ms": 590.0,
    "std_e2el_ms": 20.0, "p99_e2el_ms": 700.0,
}  # fmt: skip
SGLANG: dict[str, Any] = {
    "backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "max_concurrency": None, "duration": 2.0,
    "completed": 40, "total_input_tokens": 40, "total_output_tokens": 80, "total_output_tokens_retokenized": 80,
    "request_throughput": 20.0, "output_throughput": 40.0, "random_range_ratio": 0.5, "mean_e2e_latency_ms": 500.0, "accept_length": 2.5,
}  # fmt: skip


def record(tmp_path: Path, format: str = "vllm-bench", **changed: Any) -> Any:
    file = tmp_path / "result.json"
    file.write_text(json.dumps((RUN if format == "vllm-bench" else SGLANG) | changed) + "\n")
    (found,) = records_of(file, format)
    return found


@pytest.mark.parametrize("format", ["vllm-bench", "sglang-bench"])
def test_a_run_that_has_room_for_all_it_says_has_no_finding(tmp_path: Path, format: str) -> None:
    assert not ids(record(tmp_path, format))


DRAFTS = {"spec_decode_draft_tokens": 100, "spec_decode_num_drafts": 50}


@pytest.mark.parametrize(
    ("changed", "id", "lost"),
    [
        ({"failed": 1}, "counts-contradict", set()),
        ({"num_prompts": 99}, "completed-exceeds-asked", set()),
        ({"p99_e2el_ms": 10_200.0}, "latency-exceeds-duration", {"p99_e2el_ms"}),
        ({"mean_e2el_ms": 900.0, "p99_e2el_ms": 990.0}, "latency-exceeds-duration", {"mean_e2el_ms"}),
        ({"duration": 0.0}, "impossible-value", {"duration", "request_throughput", "output_throughput"}),
        (DRAFTS | {"spec_decode_accepted_tokens": 140}, "impossible-value", set()),
        (DRAFTS | {"spec_decode_accepted_tokens": 140, "spec_decode_acceptance_length": 3.8},
         "impossible-value", {"spec_decode_acceptance_length"}),
        ({"spec_decode_acceptance_rate": 20.0, "spec_decode_acceptance_length": 0.4}, "impossible-value",
         {"spec_decode_acceptance_length"}),
    ],
)  # fmt: skip
def test_what_does_not_fit_into_its_run_is_told_and_is_no_metric(
    tmp_path: Path, changed: dict[str, Any], id: str, lost: set[str]
) -> None:
    found = record(tmp_path, **changed)
    assert set(ids(found)) == {id}
    names = {each.name for each in found.metrics}
    assert not lost & names and "mean_ttft_ms" in names
    read = opened(tmp_path / "result.json")
    assert list(read.records()) and read.code == 1


def test_without_a_bound_of_requests_at_once_a_mean_is_only_held_against_the_duration(tmp_path: Path) -> None:
    assert not ids(record(tmp_path, max_concurrency=None, mean_e2el_ms=900.0, p99_e2el_ms=990.0))
    assert not ids(record(tmp_path, max_concurrency="", mean_e2el_ms=900.0, p99_e2el_ms=990.0))


@pytest.mark.parametrize(
    ("changed", "id"),
    [
        ({"accept_length": 0.5}, "impossible-value"),
        ({"mean_e2e_latency_ms": 2500.0}, "latency-exceeds-duration"),
        ({"mean_e2e_latency_ms": 400.0, "max_concurrency": 4}, "latency-exceeds-duration"),
    ],
)
def test_it_holds_for_sglang_too(tmp_path: Path, changed: dict[str, Any], id: str) -> None:
    assert set(ids(record(tmp_path, "sglang-bench", **changed))) == {id}


def test_a_file_that_contradicts_itself_is_an_error_even_where_nothing_is_left_of_it(tmp_path: Path) -> None:
    timings = {
        "prompt_n": 9,
        "prompt_ms": 3.0,
        "predicted_n": 48,
        "predicted_ms": 0.0,
        "predicted_per_second": 1e9,
    }
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"content": "", "stop": True, "timings": timings}))
    read = opened(file)
    (found,) = read.records()
    assert not found.metrics and set(ids(found)) == {"impossible-value"}
    assert read.code == 1
