"""Times and bounds: by hand, and never more than what every correct engine needs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.composition import (
    METRIC_UNIT,
    SERIAL,
    as_metric,
    at_least,
    grouped,
    longest_of_groups,
    time_of,
)
from hio_validate.costs.interval import Interval, total
from hio_validate.costs.units import UNITS
from hio_validate.models.estimate import Term
from hio_validate.models.plan import METRIC
from tests.costs.test_interval import INTERVALS, POSITIVE

RESOURCES = {
    "weights": "memory", "kv-read": "memory", "kv-write": "memory", "compute": "compute", "launches": "launch",
    "collectives": "interconnect", "draft": "memory", "host-gaps": "host", "queueing": "queue", "dispatch": "host",
}  # fmt: skip
LEDGERS = st.dictionaries(st.sampled_from(sorted(RESOURCES)), INTERVALS, min_size=1)


def amount(unit: str, *ends: float) -> dict[str, Any]:
    low, value, high = ends if len(ends) == 3 else ends * 3
    return {"value": value, "low": low, "high": high, "unit": unit}


def term(work: dict[str, Any], cost: dict[str, Any], fixed: dict[str, Any] | None = None) -> Term:
    return Term.model_validate(
        {
            "name": "weights",
            "about": "a test",
            "resource": "memory",
            "work": work,
            "cost": {"amount": cost},
            "fixed": fixed,
            "time": amount("s", 0.0),
            "source": "a test",
            "confidence": "low",
            "refuted_by": "kernel-counters",
        }
    )


def test_a_rate_divides_and_a_time_multiplies_and_what_is_fixed_comes_on_top() -> None:
    assert time_of(term(amount("GB", 4.0), amount("GB/s", 2.0))) == Interval.exact(2.0)
    assert time_of(term(amount("1", 450.0), amount("us", 4.0))).value == pytest.approx(1.8e-3)
    found = time_of(term(amount("B", 32e6), amount("B/s", 200e9), amount("us", 20.0)))
    assert found.value == pytest.approx(0.18e-3)


def test_the_least_work_goes_with_the_highest_rate() -> None:
    found = time_of(term(amount("B", 10.0, 20.0, 40.0), amount("B/s", 2.0, 4.0, 5.0)))
    assert (found.low, found.value, found.high) == (2.0, 5.0, 20.0)


@pytest.mark.parametrize(
    ("work", "cost"), [("B", "FLOP/s"), ("FLOP", "B/s"), ("B", "us"), ("1", "GB/s"), ("1", "B")]
)
def test_work_and_cost_of_different_kinds_have_no_time(work: str, cost: str) -> None:
    with pytest.raises(ValueError, match="cost"):
        time_of(term(amount(work, 1.0), amount(cost, 1.0)))


@given(POSITIVE, POSITIVE, POSITIVE)
def test_more_work_is_never_faster_and_a_higher_rate_never_slower(
    work: Interval, rate: Interval, more: Interval
) -> None:
    def seconds(one: Interval, other: Interval) -> Interval:
        return time_of(
            term(amount("B", one.low, one.value, one.high), amount("B/s", other.low, other.value, other.high))
        )

    usual = seconds(work, rate)
    slower, faster = seconds(work + more, rate), seconds(work, rate + more)
    assert all(getattr(usual, end) <= getattr(slower, end) for end in ("low", "value", "high"))
    assert all(getattr(faster, end) <= getattr(usual, end) for end in ("low", "value", "high"))


def test_memory_that_is_longest_is_a_sum_and_what_overlaps_stands_with_its_longest() -> None:
    times = {
        "weights": Interval.exact(4.0),
        "kv-read": Interval.exact(1.0),
        "compute": Interval.exact(3.0),
        "host-gaps": Interval.exact(0.5),
    }
    groups = grouped(times, RESOURCES)
    assert groups == (("weights", "compute"), ("kv-read",), ("host-gaps",))
    assert longest_of_groups(groups, times) == at_least(times, RESOURCES) == Interval.exact(5.5)


@pytest.mark.parametrize(
    ("compute", "expected", "bound", "least"),
    [
        (4.0, (("weights", "compute"), ("kv-read",), ("kv-write",)), 5.5, 5.5),
        (4.5, (("weights", "kv-read", "compute"), ("kv-write",)), 5.0, 5.5),
        (6.0, (("weights", "kv-read", "kv-write", "compute"),), 6.0, 6.0),
    ],
)
def test_what_is_longer_than_one_reading_overlaps_as_many_as_hide_it(
    compute: float, expected: object, bound: float, least: float
) -> None:
    each = {"weights": 4.0, "kv-read": 1.0, "kv-write": 0.5, "compute": compute}
    times = {name: Interval.exact(time) for name, time in each.items()}
    groups = grouped(times, RESOURCES)
    assert groups == expected
    assert longest_of_groups(groups, times) == Interval.exact(bound)
    assert at_least(times, RESOURCES) == Interval.exact(least)


def test_what_waits_is_counted_once_though_it_uses_a_resource() -> None:
    times = {"weights": Interval.exact(4.0), "draft": Interval.exact(1.0), "host-gaps": Interval.exact(9.0)}
    assert at_least(times, RESOURCES) == Interval.exact(14.0)


def test_an_uncertain_high_end_takes_nothing_from_the_bound() -> None:
    times = {
        "weights": Interval.exact(4.0), "kv-read": Interval.exact(1.0), "compute": Interval(3.0, 2.0, 9.0),
    }  # fmt: skip
    found = longest_of_groups(grouped(times, RESOURCES), times)
    assert (found.low, found.value) == (5.0, 5.0) and found.high >= at_least(times, RESOURCES).high


def test_without_any_reading_the_rest_overlaps() -> None:
    times = {"compute": Interval.exact(1.0), "launches": Interval.exact(2.0), "queueing": Interval.exact(3.0)}
    assert grouped(times, RESOURCES) == (("compute", "launches"), ("queueing",))
    assert grouped({"dispatch": Interval.exact(1.0)}, RESOURCES) == (("dispatch",),)


@given(LEDGERS)
def test_no_bound_is_more_than_what_the_resources_need(times: dict[str, Interval]) -> None:
    groups = grouped(times, RESOURCES)
    bound, least = longest_of_groups(groups, times), at_least(times, RESOURCES)
    assert sorted(name for group in groups for name in group) == sorted(times)
    for end in ("low", "value"):
        assert getattr(bound, end) <= getattr(least, end) * (1 + 1e-12)
    for end in ("low", "value", "high"):
        assert getattr(bound, end) <= getattr(total(*times.values()), end) * (1 + 1e-12)
        assert getattr(bound, end) >= max(getattr(each, end) for each in times.values())
        assert getattr(bound, end) >= sum(getattr(times[name], end) for name in times if name in SERIAL)


def test_the_busiest_resource_is_the_one_that_adds_up() -> None:
    each = {"weights": 4.0, "kv-read": 1.5, "kv-write": 1.0, "compute": 2.0}
    times = {name: Interval.exact(time) for name, time in each.items()}
    by_arithmetic = {**RESOURCES, "weights": "compute"}
    assert grouped(times, by_arithmetic) == (("weights", "kv-read", "kv-write"), ("compute",))
    assert longest_of_groups(grouped(times, by_arithmetic), times) == at_least(times, by_arithmetic)
    assert at_least(times, by_arithmetic) == Interval.exact(6.0)


@given(LEDGERS, st.data())
def test_no_bound_is_more_than_what_the_resources_need_whichever_is_the_busiest(
    times: dict[str, Interval], data: st.DataObject
) -> None:
    which = st.sampled_from(("memory", "compute", "launch"))
    resources = {name: data.draw(which) for name in times}
    groups = grouped(times, resources)
    bound, least = longest_of_groups(groups, times), at_least(times, resources)
    assert sorted(name for group in groups for name in group) == sorted(times)
    for end in ("low", "value"):
        assert max(getattr(each, end) for each in times.values()) <= getattr(bound, end)
        assert getattr(bound, end) <= getattr(least, end) * (1 + 1e-12)


@given(LEDGERS, st.data())
def test_a_longer_term_never_makes_the_least_time_shorter(
    times: dict[str, Interval], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(times)))
    longer = {**times, name: times[name] + data.draw(INTERVALS)}
    assert at_least(times, RESOURCES).low <= at_least(longer, RESOURCES).low * (1 + 1e-12)


@pytest.mark.parametrize(
    ("metric", "tokens", "expected"),
    [
        ("decode_tps", 1.0, 250.0),
        ("bench_prefill_tps", 8.0, 2000.0),
        ("tpot_ms", 2.0, 2.0),
        ("itl_ms", 1.0, 4.0),
        ("ttft_ms", 5.0, 4.0),
        ("wall_s", 5.0, 0.004),
    ],
)
def test_a_time_as_the_metric_counts_it(metric: str, tokens: float, expected: float) -> None:
    assert as_metric(Interval.exact(0.004), metric, tokens).value == pytest.approx(expected)


def test_the_least_time_is_the_highest_rate() -> None:
    found = as_metric(Interval(2.0, 1.0, 4.0), "decode_tps", 1.0)
    assert (found.low, found.value, found.high) == (0.25, 0.5, 1.0)


def test_each_metric_has_a_unit_of_documents() -> None:
    assert set(METRIC_UNIT) == set(METRIC["expected"])
    assert set(METRIC_UNIT.values()) <= set(UNITS)
