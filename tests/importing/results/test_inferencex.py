"""Aggregates in seconds: what may pass through one over x, and what divides by which devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.outcome import Tier
from hio_validate.importing.results.record_numbers import of_ordered, rank_of, statistic_of
from tests.importing.results.reading import SAMPLES, changed, ids, metric, names, records_of

HERE = SAMPLES / "inferencex"
USUAL = ["mean-through-reciprocal", "std-through-reciprocal"]


def one(file: Path) -> Any:
    (record,) = records_of(file, "inferencex")
    return record


def test_times_are_seconds_and_the_word_false_is_false() -> None:
    record = one(HERE / "aggregate.json")
    assert record.name == "concurrency-8" and record.tier is Tier.DRAFT
    assert (metric(record, "p99.9_ttft").value, metric(record, "p99.9_ttft").unit) == (0.95, "s")
    assert metric(record, "mean_itl").definition == "itl-per-gap"
    assert metric(record, "mean_tpot").definition == "itl-request-mean"
    assert record.subject["dp_attention"] is False and record.subject["engine"] == "vllm"
    assert record.workload == {"prompt_tokens": 1024, "generated_tokens": 512, "concurrency": 8}
    assert metric(record, "tput_per_gpu").definition == "throughput-total-per-device"


def test_neither_a_mean_nor_a_deviation_goes_through_one_over_x() -> None:
    record = one(HERE / "aggregate.json")
    assert sorted(ids(record)) == USUAL
    assert not {"std_intvty", "mean_intvty"} & names(record)


def test_one_over_a_quantile_is_the_opposite_quantile() -> None:
    record = one(HERE / "aggregate.json")
    told = {each.name: each.statistic for each in record.metrics if each.definition == "decode-rate-request"}
    assert told == {
        "median_intvty": "median",
        "p90_intvty": "p10",
        "p99_intvty": "p1",
        "p99.9_intvty": "p0.1",
    }


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=60).filter(lambda each: len(each) % 10 == 1))
def test_the_opposite_quantile_is_the_one_of_the_rates(tpots: list[float]) -> None:
    rates = [1 / each for each in tpots]
    for word in ("median", "p90", "p10"):
        rank = rank_of(word)
        opposite = statistic_of("median" if rank == 50 else f"p{100 - (rank or 0):g}")
        through, directly = of_ordered(word, sorted(tpots), 0), of_ordered(str(opposite), sorted(rates), 0)
        assert through is not None and directly == pytest.approx(1 / through)


def test_separate_devices_are_not_taken_for_all_of_them() -> None:
    first, apart = records_of(HERE / "list.json", "inferencex")
    assert first.name == "concurrency-8" and apart.name == "concurrency-64"
    assert metric(apart, "output_tput_per_gpu").definition == "throughput-output-per-decode-device"
    assert metric(apart, "input_tput_per_gpu").definition == "throughput-input-per-prefill-device"
    assert apart.subject["prefill_dp_attention"] is True
    assert any(text.startswith("tokens in a piece") for text in apart.unknown) and not first.unknown


@pytest.mark.parametrize(
    ("change", "finding", "gone"),
    [
        ({"tput_per_gpu": 151.0}, "rate-contradicts-counts", {"tput_per_gpu", "output_tput_per_gpu"}),
        ({"median_intvty": 65.5}, "rate-contradicts-counts", {"median_intvty"}),
        ({"p99_ttft": 0.7}, "statistics-out-of-order", {"p90_ttft", "p99_ttft"}),
        ({"median_ttft": 20.0, "p90_ttft": 21.0, "p99_ttft": 22.0, "p99.9_ttft": 23.0}, "first-token-after-end",
         {"median_ttft", "median_e2el"}),
        ({"mean_itl": -0.1}, "impossible-value", {"mean_itl"}),
    ],
)  # fmt: skip
def test_a_number_that_cannot_be_so_is_a_finding_and_no_metric(
    tmp_path: Path, change: dict[str, Any], finding: str, gone: set[str]
) -> None:
    record = one(changed("inferencex/aggregate.json", tmp_path, change))
    assert finding in ids(record) and not gone & names(record)


def test_a_row_of_the_dashboard_holds_its_numbers_apart(tmp_path: Path) -> None:
    def row(values: dict[str, Any]) -> dict[str, Any]:
        inner = {key: value for key, value in values.items() if "_" in key and isinstance(value, float)}
        return {key: value for key, value in values.items() if key not in inner} | {"metrics": inner}

    record = one(changed("inferencex/aggregate.json", tmp_path, row))
    assert names(record) == names(one(HERE / "aggregate.json"))


def test_nothing_done_is_no_evidence(tmp_path: Path) -> None:
    record = one(changed("inferencex/aggregate.json", tmp_path, {"tput_per_gpu": 0.0}))
    assert ids(record) == ["zero-completed"] and not record.metrics


def test_a_replay_of_agents_was_counted_by_another_client(tmp_path: Path) -> None:
    record = one(changed("inferencex/aggregate.json", tmp_path, {"median_ttlt": 3.0}))
    assert metric(record, "median_itl").definition == "unknown" and "median_intvty" not in names(record)


def test_a_row_whose_truths_are_words_is_of_one_node_and_says_its_device(tmp_path: Path) -> None:
    row = {"is_multinode": "false", "num_decode_gpu": 4, "device": "mi300x", "disagg": "false"}
    record = one(changed("inferencex/aggregate.json", tmp_path, lambda value: {**value, **row, "hw": None}))
    assert metric(record, "output_tput_per_gpu").definition == "throughput-output-per-device"
    assert record.subject["device"] == "mi300x" and record.subject["multinode"] is False
    record = one(changed("inferencex/aggregate.json", tmp_path, {**row, "is_multinode": "true"}))
    assert metric(record, "output_tput_per_gpu").definition == "throughput-output-per-decode-device"
