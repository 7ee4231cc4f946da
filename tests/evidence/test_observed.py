"""Records of foreign results: what a line of records.jsonl says is what the importer gave, digit for digit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.definitions import DEFINITIONS, STATISTICS, UNITS
from hio_validate.evidence.observed import (
    Finding,
    Measured,
    Observation,
    Requests,
    as_row,
    cannot_be,
    faults_of,
    of_row,
)
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.records import rows_of

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
FACTS = st.text() | st.booleans() | NUMBERS
COUNTS = st.none() | st.integers(0)
MEASURED = st.builds(
    Measured,
    st.text(min_size=1),
    st.sampled_from(list(DEFINITIONS)),
    st.sampled_from(STATISTICS),
    NUMBERS,
    st.text(min_size=1),
    COUNTS,
    st.lists(NUMBERS, max_size=4).map(tuple),
)
OBSERVATIONS = st.builds(
    Observation,
    name=st.text(min_size=1),
    line=st.integers(0),
    at=st.none() | st.text(min_size=1),
    subject=st.dictionaries(st.text(), FACTS, max_size=4),
    workload=st.dictionaries(st.text(), FACTS, max_size=4),
    requests=st.builds(Requests, COUNTS, COUNTS, COUNTS, COUNTS),
    metrics=st.lists(MEASURED, max_size=3, unique_by=lambda each: (each.name, each.statistic)),
    foreign=st.dictionaries(st.text(), FACTS, max_size=4),
    findings=st.lists(st.builds(Finding, st.text(), st.text(), st.integers(0)), max_size=2),
    unknown=st.lists(st.text(), max_size=2).map(tuple),
)


@given(OBSERVATIONS)
def test_a_record_survives_its_line(observation: Observation) -> None:
    assert of_row(json.loads(json.dumps(as_row(observation)))) == observation


def test_integers_beyond_what_a_float_holds_stay_exact() -> None:
    when = 2**60 + 1
    kept = Observation("a", metrics=[Measured("t", "latency-request", "value", when, "ns")])
    assert of_row(json.loads(json.dumps(as_row(kept)))).metrics[0].value == when


def test_what_is_absent_is_left_out_and_zero_is_not() -> None:
    row = as_row(Observation("a", requests=Requests(asked=3, completed=0)))
    assert row == {"name": "a", "line": 0, "requests": {"asked": 3, "completed": 0}}


@pytest.mark.parametrize("value", ["3", None, True, [1]])
def test_a_line_whose_metric_is_no_number_is_no_record(value: object) -> None:
    row = as_row(Observation("a", metrics=[Measured("t", "latency-request", "value", 1, "ms")]))
    row["metrics"][0]["value"] = value
    with pytest.raises((ValueError, TypeError, KeyError)):
        of_row(row)


def measured(value: float = 1.0, unit: str = "ms", definition: str = "ttft-client") -> Measured:
    return Measured("x", definition, "mean", value, unit)


def test_a_number_that_may_be_so_has_no_fault() -> None:
    assert not list(faults_of(measured()))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (measured(-1.0), "less than nothing"),
        (measured(float("nan")), "not a finite number"),
        (measured(float("inf")), "not a finite number"),
        (measured(unit="token/s"), "no unit of time"),
        (measured(definition="ttft"), "no definition"),
        (measured()._replace(statistic="p50"), "no statistic"),
        (measured()._replace(samples=(1.0, -2.0)), "less than nothing"),
    ],
)
def test_a_number_that_cannot_be_so_is_told(wrong: Measured, said: str) -> None:
    assert any(said in fault for fault in faults_of(wrong))


def test_what_others_measured_is_a_draft_at_most() -> None:
    of_known_work = Observation("a", workload={"prompt_tokens": 8}, metrics=[measured()])
    assert of_known_work.tier is Tier.DRAFT
    assert Observation("a", metrics=[measured()]).tier is Tier.NEEDS_CONTEXT
    assert Observation("a", workload={"prompt_tokens": 8}).tier is Tier.NEEDS_CONTEXT


def test_every_dimension_of_a_definition_has_units() -> None:
    assert {each.dimension for each in DEFINITIONS.values()} - {"any"} == set(UNITS)


RATE = Measured("x", "ttft-client", "mean", 1, "ms", 3)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tier": "VERDICT"}, "it has a key that no record has: tier"),
        ({"name": 3}, "name is no text"),
        ({"metrics": {"a": 1}}, "metrics is no list"),
        ({"metrics": [1]}, "one of metrics is no object"),
        ({"metrics": [RATE._asdict() | {"zz": 1}]}, "a metric has a key that no record has: zz"),
        ({"metrics": [{"name": "x"}]}, "a metric has no definition"),
        ({"metrics": [RATE._asdict() | {"samples": 7}]}, "samples is no list"),
        ({"metrics": [RATE._asdict() | {"derived": "no"}]}, "derived of x is neither true nor false"),
        ({"metrics": [RATE._asdict(), RATE._asdict() | {"value": 2}]}, "x (mean) stands twice"),
        ({"subject": [1]}, "subject is no object"),
        ({"requests": [1]}, "requests is no object"),
        ({"requests": {"asked": -1}}, "asked is no count"),
        ({"requests": {"lost": 1}}, "requests has a key that no record has: lost"),
        ({"findings": 3}, "findings is no list"),
        ({"findings": [{"id": "few-samples"}]}, "a finding has no message"),
        ({"unknown": "all"}, "unknown is no list"),
    ],
)
def test_why_a_line_is_no_record_is_said_in_words(changed: dict[str, object], said: str) -> None:
    line = json.dumps(as_row(Observation("a")) | changed).encode()
    assert list(rows_of(line)) == [(1, said)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"name": "a", "name": "b"}', "the key name stands twice"),
        (b'{"line": 3}', "it has no name"),
        (b'{"name": "\xff"}', "it is not UTF-8"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_line_of_records_is_said_in_words(line: bytes, said: str) -> None:
    assert list(rows_of(line)) == [(1, said)]


def test_a_number_that_no_float_holds_and_one_of_no_observation_are_faults() -> None:
    assert "more than any number" in next(faults_of(RATE._replace(value=10**400)))
    assert "of 0 observations" in next(faults_of(RATE._replace(n=0)))


@pytest.mark.parametrize(
    ("finding", "is_one"),
    [
        ("impossible-value", True), ("rate-contradicts-counts", True), ("completed-exceeds-asked", True),
        ("counts-contradict", True), ("few-samples", False), ("zero-completed", False), ("std-contradicts-samples", False),
    ],
)  # fmt: skip
def test_which_findings_say_that_a_file_contradicts_itself(finding: str, is_one: bool) -> None:
    assert cannot_be(finding) == is_one
