"""Published results of serving benchmarks are read into records. `HIO_CASES` names the folder with results/."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.evidence.outcome import Tier
from tests.importing.results.reading import ids, metric, names, records_of

CASES = Path(os.environ.get("HIO_CASES", "nowhere")) / "results"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="HIO_CASES names no folder with results")


def one(pattern: str, format: str) -> Observation:
    (file,) = CASES.glob(pattern)
    (record,) = records_of(file, format)
    return record


def test_a_key_with_a_colon_and_a_rate_without_end() -> None:
    record = one("multinode_concurrency_4.json", "vllm-bench")
    assert record.tier is Tier.DRAFT and not record.findings
    assert record.workload["request_rate"] == "inf" and record.workload["concurrency"] == 4
    assert (record.workload["prompt_tokens"], record.workload["generated_tokens"]) == (1024, 1024)
    assert record.requests.completed == 40
    assert not [name for name in names(record) if "goodput" in name]
    assert metric(record, "p99.9_ttft_ms").value == 1082.7990462793985
    assert metric(record, "mean_itl_ms").definition == "itl-per-gap"
    assert metric(record, "mean_tpot_ms").definition == "itl-request-mean"


def test_an_aggregate_in_seconds_and_what_no_reciprocal_gives() -> None:
    record = one("agg_kimik2.5_*.json", "inferencex")
    assert record.tier is Tier.DRAFT
    assert {metric(record, name).unit for name in ("mean_ttft", "p99_tpot", "p99.9_e2el")} == {"s"}
    assert metric(record, "mean_ttft").value == 0.3170863160688896
    assert record.subject["dp_attention"] is False and record.subject["disaggregated"] is False
    assert set(ids(record)) == {"std-through-reciprocal", "mean-through-reciprocal"}
    assert not {"std_intvty", "mean_intvty"} & names(record)
    assert (
        metric(record, "p99_intvty").statistic == "p1"
        and metric(record, "median_intvty").statistic == "median"
    )
    assert any(text.startswith("tokens in a piece") for text in record.unknown)


def test_valid_with_one_query_is_a_draft_with_few_samples() -> None:
    record = one("sdxl_*_summary.txt", "mlperf-summary")
    assert record.foreign["Result is"] == "VALID" and record.tier is Tier.DRAFT
    assert [finding.id for finding in record.findings] == ["few-samples"] and record.requests.completed == 1
    latency = metric(record, "Mean latency (ns)")
    assert (latency.value, latency.unit, latency.n) == (2917612874, "ns", 1)


def test_a_system_whose_units_stand_in_its_texts() -> None:
    record = one("system_gh_macos-latest.json", "mlperf-system")
    assert not record.metrics and record.subject["accelerators_per_node"] == "0"
    assert "host_memory_capacity" not in record.subject and "accelerator_model_name" not in record.subject
    assert "host_memory_capacity" in record.unknown[0]
