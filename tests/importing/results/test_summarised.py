"""Sums of another tool: what cannot be so is told and never a metric."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.observed import Observation, Requests
from hio_validate.importing.results.distribution import Distribution
from hio_validate.importing.results.summarised import (
    Summary,
    add,
    judge_counts,
    judge_rate,
    whole,
    without_secrets,
)


def told(**values: object) -> Observation:
    record = Observation("one")
    add(record, Summary("ttft", "ttft-client", "ms", values, 5))
    return record


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=30))
def test_statistics_of_real_values_are_never_doubted(values: list[float]) -> None:
    with Distribution() as column:
        for value in values:
            column.add(value)
        record = told(**column.statistics())
    assert not record.findings
    assert len(record.metrics) == len(column.statistics())


@pytest.mark.parametrize(
    "values",
    [
        {"min": 3, "median": 2},
        {"median": 2, "p99": 1},
        {"p99": 3, "max": 2},
        {"mean": 1, "min": 2},
        {"mean": 3, "max": 2},
    ],
)
def test_statistics_in_no_possible_order_are_all_dropped(values: dict[str, object]) -> None:
    record = told(p10=0.5, **values)
    assert [finding.id for finding in record.findings] == ["impossible-value"]
    assert not record.metrics


@pytest.mark.parametrize("value", [-1, math.inf, math.nan, "12", True, [1], 10**400])
def test_one_number_that_cannot_be_is_dropped_alone(value: object) -> None:
    record = told(max=2.0, mean=value)
    assert len(record.findings) == 1
    assert [each.statistic for each in record.metrics] == ["max"]


def test_a_std_that_no_values_can_have() -> None:
    record = told(min=1, max=3, std=1.5)
    assert [each.statistic for each in record.metrics] == ["min", "max"]
    assert not told(min=1, max=3, std=math.sqrt(2)).findings


def test_a_time_of_zero_throughout_was_not_measured_and_absent_is_no_finding() -> None:
    assert [finding.id for finding in told(mean=0.0, max=0.0).findings] == ["zero-throughout"]
    assert told(mean=None) == Observation("one")


def test_a_metric_that_stands_twice_is_told_and_the_first_one_taken() -> None:
    record = told(mean=1.0)
    add(record, Summary("ttft", "ttft-client", "ms", {"mean": 2.0}, None, 9))
    assert [each.value for each in record.metrics] == [1.0]
    assert [(each.id, each.line) for each in record.findings] == [("repeated-metric", 9)]


def test_printed_numbers_may_be_off_by_their_rounding() -> None:
    record = Observation("one")
    add(record, Summary("ttft", "ttft-client", "ms", {"min": 2.01, "mean": 2.0, "max": 2.0}, None, 0, 0.005))
    assert not record.findings


@pytest.mark.parametrize(
    ("requests", "id"),
    [
        (Requests(10, 0, 7, 3), "zero-completed"),
        (Requests(10, 9, 2, 0), "counts-contradict"),
        (Requests(10, 8, 2, 0), "few-samples"),
        (Requests(100, 89, 0, 11), None),
        (Requests(100, 89, None, None), None),
    ],
)
def test_counts(requests: Requests, id: str | None) -> None:
    record = told(mean=1)
    record.requests = requests
    judge_counts(record)
    assert id in {finding.id for finding in record.findings} or (id is None and not record.findings)
    assert bool(record.metrics) == (requests.completed != 0)


def test_a_rate_above_its_own_counts_is_dropped_and_one_below_stays() -> None:
    record = Observation("one")
    add(record, Summary("rate", "throughput-requests", "request/s", {"value": 10.2}))
    judge_rate(record, "rate", 100, 10.0, 0.05)
    assert record.metrics and not record.findings
    judge_rate(record, "rate", 100, 10.0, 0.01)
    assert not record.metrics and record.findings[0].id == "rate-contradicts-counts"


@pytest.mark.parametrize(
    ("value", "count"),
    [(89.0, 89), (0, 0), (8.5, None), (-1, None), (True, None), ("3", None), (math.inf, None)],
)
def test_whole(value: object, count: int | None) -> None:
    assert whole(value) == count


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000/v1"),
        ("https://me:secret@host/v1?key=1#a", "https://host/v1"),
        ("me:secret@host:9000", "host:9000"),
        ("localhost:9000", "localhost:9000"),
    ],
)
def test_an_address_keeps_no_secret(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
