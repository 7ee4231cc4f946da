"""SGLang's serving benchmark: two ways to count ITL, bare Infinity, lists against statistics, nothing of server_info kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.sglang_bench import SGLANG_BENCH
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES, ids, metric, names, records_of

RUNS = SAMPLES / "sglang-bench" / "runs.jsonl"


def changed(to: Path, change: dict[str, Any], without: tuple[str, ...] = ()) -> Observation:
    values = json.loads(RUNS.read_text().split("\n")[0]) | change
    file = to / "changed.jsonl"
    file.write_text(json.dumps({key: value for key, value in values.items() if key not in without}) + "\n")
    (record,) = records_of(file, "sglang-bench")
    return record


def test_a_line_is_a_run() -> None:
    first, chat = records_of(RUNS, "sglang-bench")
    assert (first.name, chat.name) == ("concurrency-2", "rate-4") and (first.line, chat.line) == (1, 2)
    assert not ids(first) and first.requests._asdict() == {
        "asked": 3, "completed": 2, "failed": 1, "cancelled": None,
    }  # fmt: skip
    assert first.workload == {
        "dataset": "random", "request_rate": "inf", "concurrency": 2, "range_ratio": 0.5,
        "prompt_tokens": 20, "generated_tokens": 3.5,
    }  # fmt: skip
    assert first.subject["engine"] == "sglang" and first.subject["version"] == "0.5.1"
    assert metric(first, "mean_ttft_ms").samples == (250.0, 500.0)
    assert metric(first, "p95_itl_ms").n == 5
    assert metric(first, "concurrency").definition == "concurrency"


def test_neither_answers_nor_keys_of_the_server_are_kept() -> None:
    kept = repr(records_of(RUNS, "sglang-bench"))
    assert "PRIVATE" not in kept and "hunter2" not in kept


@pytest.mark.parametrize(
    ("change", "without", "definition"),
    [
        ({}, (), "itl-per-gap-shared"),
        ({}, ("p95_itl_ms",), "itl-per-gap"),
        ({"backend": "vllm"}, (), "itl-per-gap"),
        ({"backend": "sglang-oai"}, (), "itl-per-gap"),
        ({"backend": "sglang-oai", "accept_length": 2.5}, (), "itl-per-gap-shared"),
        ({"backend": "sglang-oai", "accept_length": 2.5}, ("max_concurrent_requests",), "unknown"),
    ],
)
def test_one_name_hides_two_ways_to_count(
    tmp_path: Path, change: dict[str, Any], without: tuple[str, ...], definition: str
) -> None:
    assert metric(changed(tmp_path, change, without), "median_itl_ms").definition == definition


def test_of_a_chat_only_the_answer_counts() -> None:
    _, chat = records_of(RUNS, "sglang-bench")
    assert metric(chat, "mean_ttft_ms").definition == "ttft-answer"
    assert metric(chat, "accept_length").definition == "draft-length"
    assert "tokens in a piece: with drafting several may come at once" in chat.unknown


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"mean_itl_ms": 20.0}, "statistic-contradicts-samples"),
        ({"p99_ttft_ms": 490.0}, "statistic-contradicts-samples"),
        ({"concurrency": 4.0}, "rate-contradicts-counts"),
        ({"output_throughput": 350.0}, "rate-contradicts-counts"),
        ({"total_throughput": 20.0}, "rate-contradicts-counts"),
        ({"mean_e2e_latency_ms": -1}, "impossible-value"),
    ],
)
def test_a_number_that_cannot_be_so_is_a_finding_and_no_metric(
    tmp_path: Path, change: dict[str, Any], finding: str
) -> None:
    record = changed(tmp_path, change)
    assert finding in ids(record) and not names(record) & change.keys()


def test_zero_completed_requests_are_no_evidence(tmp_path: Path) -> None:
    nothing = {
        "completed": 0,
        "mean_e2e_latency_ms": float("nan"),
        "output_lens": [0, 0, 0],
        "errors": ["no"] * 3,
    }
    record = changed(tmp_path, nothing)
    assert ids(record) == ["zero-completed"] and not record.metrics and record.requests.failed == 3


def test_prompts_that_were_not_counted_are_no_rate_of_zero(tmp_path: Path) -> None:
    record = changed(tmp_path, {"total_input_tokens": 0, "input_throughput": 0.0, "total_throughput": 3.5})
    assert "input_throughput" not in names(record) and "prompt_tokens" not in record.workload
    assert "input_throughput: 0, so that nothing was counted" in record.unknown and not ids(record)


def test_the_generation_of_2024_has_few_keys() -> None:
    (record,) = records_of(RUNS.parent / "of-2024.jsonl", "sglang-bench")
    assert (
        metric(record, "median_itl_ms").definition == "itl-per-gap" and "range_ratio" not in record.workload
    )


def test_a_cut_line_is_refused_with_its_number(tmp_path: Path) -> None:
    file = tmp_path / "cut.jsonl"
    file.write_text(RUNS.read_text()[:-40])
    with pytest.raises(CannotImport, match=r"cut\.jsonl:2: no JSON from here on"):
        list(SGLANG_BENCH.read(Source(file)))


def test_without_a_stream_there_is_no_first_token(tmp_path: Path) -> None:
    whole = {"mean": 422.5, "median": 422.5, "std": 102.5, "p99": 522.95}
    same = {f"{word}_ttft_ms": value for word, value in whole.items()}
    lists = ("ttfts", "itls", "output_lens", "errors", "input_lens", "generated_texts")
    streamed = changed(tmp_path, {}, lists)
    assert "mean_ttft_ms" in names(streamed) and "mean_tpot_ms" in names(streamed)
    record = changed(tmp_path, same, lists)
    assert "not-streamed" in ids(record)
    assert not {"mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms"} & set(names(record))
    assert metric(record, "mean_e2e_latency_ms").value == 422.5


def test_texts_that_hold_few_of_the_counted_tokens_are_told(tmp_path: Path) -> None:
    assert "few-tokens-in-texts" not in ids(changed(tmp_path, {"total_output_tokens_retokenized": 4}))
    assert "few-tokens-in-texts" in ids(changed(tmp_path, {"total_output_tokens_retokenized": 3}))


def test_servers_behind_a_router_are_what_all_of_them_are(tmp_path: Path) -> None:
    prefill = {
        "model_path": "example/Small-1B",
        "tp_size": 1,
        "attention_backend": "fa3",
        "version": "0.5.6",
        "api_key": "k",
    }
    decode = prefill | {"attention_backend": "flashinfer"}
    info = {"internal_states": [decode], "prefill": [prefill], "decode": [decode, decode]}
    record = changed(tmp_path, {"server_info": info})
    assert record.subject["disaggregation"] == "1 prefill, 2 decode"
    assert (record.subject["model"], record.subject["version"]) == ("example/Small-1B", "0.5.6")
    assert "attention_backend" not in record.subject and "api_key" not in record.subject


def test_a_generation_that_the_head_does_not_show_is_unknown(tmp_path: Path) -> None:
    values = json.loads(RUNS.read_text().split("\n")[0])
    for length, told in ((10, "bench_serving with peaks"), (70_000, None)):
        values["server_info"] = {"padding": "x" * length}
        (tmp_path / "run.jsonl").write_text(json.dumps(values) + "\n")
        assert SGLANG_BENCH.generation(Source(tmp_path / "run.jsonl")) == told
