"""What vLLM and SGLang measure without a server, or with one batch: seconds, batches, and which time a rate is over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.evidence.outcome import Tier
from tests.importing.results.reading import SAMPLES, changed, ids, metric, names, records_of

VLLM, SGLANG = SAMPLES / "vllm-offline", SAMPLES / "sglang-offline"


def test_a_latency_of_vllm_is_one_batch() -> None:
    (record,) = records_of(VLLM / "latency.json", "vllm-offline")
    average = metric(record, "avg_latency")
    assert (average.definition, average.unit, average.n, average.samples) == (
        "latency-batch",
        "s",
        4,
        (2, 3, 2, 3),
    )
    assert (
        metric(record, "percentiles.50").statistic == "median"
        and metric(record, "percentiles.99").statistic == "p99"
    )
    assert record.tier is Tier.NEEDS_CONTEXT and not ids(record)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"avg_latency": 2.7}, "statistic-contradicts-samples"),
        ({"std_latency": 0.7}, "statistic-contradicts-samples"),
        ({"latencies": []}, "zero-completed"),
    ],
)
def test_a_latency_that_its_batches_contradict_is_no_metric(
    tmp_path: Path, change: dict[str, Any], finding: str
) -> None:
    (record,) = records_of(changed("vllm-offline/latency.json", tmp_path, change), "vllm-offline")
    assert ids(record) == [finding] and not names(record) & change.keys()


def test_tokens_per_second_of_vllm_count_prompts_too() -> None:
    (record,) = records_of(VLLM / "throughput.json", "vllm-offline")
    assert metric(record, "tokens_per_second").definition == "throughput-total"
    assert metric(record, "requests_per_second").value == 12.5 and record.tier is Tier.NEEDS_CONTEXT


def test_a_throughput_that_its_counts_contradict_is_no_metric(tmp_path: Path) -> None:
    file = changed("vllm-offline/throughput.json", tmp_path, {"tokens_per_second": 41000.5})
    (record,) = records_of(file, "vllm-offline")
    assert ids(record) == ["rate-contradicts-counts"] and "tokens_per_second" not in names(record)


def test_offline_throughput_of_sglang() -> None:
    (record,) = records_of(SGLANG / "offline.jsonl", "sglang-offline")
    assert record.workload == {"prompt_tokens": 100, "generated_tokens": 20} and record.tier is Tier.DRAFT
    assert metric(record, "output_throughput").definition == "throughput-output"
    assert record.foreign == {"last_gen_throughput": 61.5}


def test_one_name_means_two_rates_and_the_arithmetic_tells_which() -> None:
    old, new, engine = records_of(SGLANG / "batches.jsonl", "sglang-offline")
    assert metric(old, "output_throughput").definition == "throughput-output"
    assert metric(new, "output_throughput").definition == "decode-rate-batch"
    assert metric(new, "input_throughput").definition == "prefill-rate-batch"
    assert "acc_length" not in names(new) and not ids(new)
    assert metric(engine, "median_decode_latency").statistic == "median"
    assert metric(engine, "median_decode_throughput").definition == "decode-rate-step"
    assert [each.name for each in (old, new, engine)] == [
        "batch-16-1024-16",
        "batch-16-1024-16-2",
        "batch-2-8-3",
    ]


def batch(to: Path, change: dict[str, Any]) -> Observation:
    file = to / "given.jsonl"
    file.write_text(
        json.dumps(json.loads((SGLANG / "batches.jsonl").read_text().split("\n")[1]) | change) + "\n"
    )
    (record,) = records_of(file, "sglang-offline")
    return record


def test_a_rate_over_no_time_of_the_line_is_no_metric(tmp_path: Path) -> None:
    record = batch(tmp_path, {"output_throughput": 500.25})
    assert ids(record) == ["rate-contradicts-counts"] and "output_throughput" not in names(record)
    record = batch(tmp_path, {"output_throughput": 500.25, "last_ttft": -1})
    assert not ids(record) and "output_throughput: over which time it is" in record.unknown


def test_what_a_cache_answered_is_told(tmp_path: Path) -> None:
    assert "work: a cache answered a part of the prompts" in batch(tmp_path, {"cache_hit_rate": 0.5}).unknown
