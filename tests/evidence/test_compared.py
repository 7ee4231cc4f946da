"""Two sides metric by metric: what is compared, what is refused and with which sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.compared import Allowed, Compared, Pair, Word
from hio_validate.evidence.observed import Fact, Measured, Observation, Requests
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.sides import of_observation

ASKED: dict[str, Fact] = {"prompt_tokens": 512, "generated_tokens": 64, "concurrency": 4, "dataset": "random"}
RATE = Measured("output_throughput", "throughput-output", "value", 100.0, "token/s")


def compared(
    one: list[Measured],
    other: list[Measured],
    asked: dict[str, Fact] | None = None,
    allowed: Allowed | None = None,
    **more: Any,
) -> Compared:
    """Two records that were asked the same, or `asked` of the second one."""
    sides = (
        of_observation(Observation("a", workload=dict(ASKED), metrics=one), "a"),
        of_observation(
            Observation("b", workload=ASKED if asked is None else asked, metrics=other, **more), "b"
        ),
    )
    return Compared(*sides, allowed or Allowed())


def the_pair(found: Compared) -> Pair:
    (pair,) = found.pairs
    return pair


def test_a_gain_and_a_loss_have_a_direction() -> None:
    latency = Measured("mean_ttft_ms", "ttft-client", "mean", 100.0, "ms")
    found = compared([RATE, latency], [RATE._replace(value=125.0), latency._replace(value=150.0)])
    assert [(pair.change, pair.word) for pair in found.pairs] == [(25.0, Word.BETTER), (50.0, Word.WORSE)]
    assert found.tier is Tier.DRAFT


def test_other_units_of_one_dimension_are_the_same_number() -> None:
    found = compared(
        [Measured("mean_ttft_ms", "ttft-client", "mean", 250, "ms")],
        [Measured("ttft", "ttft-client", "mean", 0.25, "s")],
    )
    assert (the_pair(found).word, the_pair(found).change) == (Word.EQUAL, 0.0)


def test_the_same_name_is_not_the_same_metric() -> None:
    found = compared(
        [Measured("itl", "itl-per-gap", "mean", 20, "ms")],
        [Measured("itl", "itl-request-mean", "mean", 10, "ms")],
    )
    pair = the_pair(found)
    assert (pair.word, pair.change) == (Word.NOT_COMPARABLE, None)
    assert "counted in two ways" in pair.reasons[0] and "each gap" in pair.reasons[0]


def test_another_name_of_one_definition_is_found_before_another_definition_of_one_name() -> None:
    found = compared(
        [
            Measured("tpot", "itl-request-mean", "mean", 20, "ms"),
            Measured("itl", "itl-per-gap", "mean", 5, "ms"),
        ],
        [Measured("itl", "itl-request-mean", "mean", 10, "ms")],
    )
    assert [(pair.one.name, pair.other.name, pair.word) for pair in found.pairs] == [
        ("tpot", "itl", Word.BETTER),
        ("itl", "itl", Word.NOT_COMPARABLE),
    ]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (RATE._replace(definition="unknown"), "unknown is never equal"),
        (RATE._replace(statistic="mean"), "one is the value, the other the mean"),
        (RATE._replace(definition="throughput-total"), "counted in two ways"),
        (RATE._replace(definition="from-a-newer-hio"), "unknown is never equal"),
    ],
)
def test_what_was_counted_otherwise_is_not_compared(other: Measured, reason: str) -> None:
    pair = the_pair(compared([RATE], [other]))
    assert pair.change is None
    assert any(reason in each for each in pair.reasons)


@pytest.mark.parametrize("key", sorted(ASKED))
def test_another_workload_is_not_compared(key: str) -> None:
    found = compared(
        [RATE], [RATE._replace(value=200.0)], {**ASKED, key: 8 if key != "dataset" else "sharegpt"}
    )
    assert the_pair(found).word is Word.NOT_COMPARABLE
    assert found.workload == (
        f"{key.replace('_', ' ')}: {ASKED[key]} in A, {8 if key != 'dataset' else 'sharegpt'} in B",
    )


@pytest.mark.parametrize("key", sorted(ASKED))
@pytest.mark.parametrize("unknown", ["unknown", " ", None])
def test_a_workload_that_one_side_does_not_say_is_never_equal(key: str, unknown: str | None) -> None:
    asked = {name: value for name, value in ASKED.items() if name != key}
    found = compared([RATE], [RATE], asked if unknown is None else {**asked, key: unknown})
    assert the_pair(found).word is Word.NOT_COMPARABLE
    assert "unknown in B" in found.workload[0]


def test_what_no_side_says_is_never_equal_but_by_a_word() -> None:
    def both(allowed: Allowed) -> Compared:
        asked = {key: value for key, value in ASKED.items() if key != "concurrency"}
        sides = [
            of_observation(Observation(name, workload=dict(asked), metrics=[RATE]), name) for name in "ab"
        ]
        return Compared(sides[0], sides[1], allowed)

    assert both(Allowed()).workload == ("concurrency: unknown in both, and unknown is never equal",)
    assert both(Allowed(same=frozenset({"concurrency"}))).comparable


@pytest.mark.parametrize("rate", ["inf", float("inf")])
def test_an_infinite_rate_beside_a_concurrency_is_none(rate: Fact) -> None:
    assert compared([RATE], [RATE], {**ASKED, "request_rate": rate}).comparable
    assert not compared([RATE], [RATE], {**ASKED, "request_rate": 4}).comparable


def test_a_word_never_makes_one_sided_knowledge_equal() -> None:
    asked = {key: value for key, value in ASKED.items() if key != "concurrency"}
    assert not compared([RATE], [RATE], asked, Allowed(same=frozenset({"concurrency"}))).comparable


def test_a_program_that_asks_one_thing_after_the_other_has_no_concurrency() -> None:
    asked: dict[str, Fact] = {"prompt_tokens": 0, "generated_tokens": 128}
    rate = Measured("avg_ts", "decode-rate-bench", "mean", 20.0, "token/s")
    sides = [of_observation(Observation(name, workload=asked, metrics=[rate]), name) for name in "ab"]
    assert Compared(sides[0], sides[1]).comparable


@pytest.mark.parametrize(
    ("definition", "sentence"),
    [
        ("accepted-tokens", "accepted tokens: 40 in A, 41 in B"),
        ("drafted-tokens", "drafted tokens: 40 in A, 41 in B"),
        ("target-batches", "target batches: 40 in A, 41 in B"),
        ("cached-length", "cached tokens: 40 in A, 41 in B"),
        ("generated-length", "generated tokens: 40 in A, 41 in B"),
    ],
)
def test_other_work_done_is_not_compared(definition: str, sentence: str) -> None:
    count = Measured("count", definition, "value", 40, "1")
    found = compared([RATE, count], [RATE, count._replace(value=41)])
    assert found.pairs[0].reasons == (sentence,)
    assert found.pairs[1].word is Word.HIGHER, "the counts themselves are compared"
    assert (
        compared([RATE, count], [RATE, count._replace(value=41)], allowed=Allowed(3.0)).pairs[0].change == 0.0
    )


def test_work_that_one_side_does_not_say_is_never_equal() -> None:
    count = Measured("n", "accepted-tokens", "value", 40, "1")
    found = compared([RATE, count], [RATE])
    assert found.pairs[0].reasons == ("accepted tokens: 40 in A, unknown in B",)


def test_other_acceptance_does_not_forbid_to_compare_first_tokens_or_acceptance() -> None:
    acceptance = Measured("acceptance", "draft-acceptance", "value", 0.5, "1")
    first = Measured("ttft", "ttft-client", "mean", 0.2, "s")
    found = compared(
        [acceptance, first, RATE],
        [acceptance._replace(value=0.75), first._replace(value=100.0, unit="ms"), RATE],
    )
    assert [(pair.word, pair.change) for pair in found.pairs] == [
        (Word.BETTER, 50.0), (Word.BETTER, -50.0), (Word.NOT_COMPARABLE, None),
    ]  # fmt: skip


def test_no_ratio_to_nothing_but_a_direction() -> None:
    pair = the_pair(compared([RATE._replace(value=0)], [RATE]))
    assert (pair.change, pair.word) == (None, Word.BETTER)


def test_a_spread_has_no_direction() -> None:
    std = RATE._replace(statistic="std")
    assert the_pair(compared([std], [std._replace(value=200.0)])).word is Word.HIGHER


def test_a_deviation_of_unknown_divisor_is_compared_with_nothing() -> None:
    spread = RATE._replace(statistic="spread")
    pair = the_pair(compared([spread], [spread]))
    assert (pair.word, pair.change) == (Word.NOT_COMPARABLE, None)
    assert "divided by n or n - 1 is unknown" in pair.reasons[0]
    assert not compared([spread], [RATE._replace(statistic="std")]).comparable


def test_a_time_per_token_that_is_weighted_is_not_one_that_is_not() -> None:
    weighted = Measured("inter_token_latency_ms", "itl-request-weighted", "mean", 20, "ms")
    pair = the_pair(compared([Measured("mean_tpot_ms", "itl-request-mean", "mean", 10, "ms")], [weighted]))
    assert pair.word is Word.NOT_COMPARABLE and "which counts once for each" in pair.reasons[0]


def test_metrics_of_one_side_are_named() -> None:
    latency = Measured("mean_ttft_ms", "ttft-client", "mean", 100.0, "ms")
    found = compared([RATE, latency], [RATE, Measured("wall", "latency-request", "mean", 2.0, "s")])
    assert [[each.name for each in found.only(side)] for side in (False, True)] == [
        ["mean_ttft_ms"],
        ["wall"],
    ]


def test_what_was_measured_is_told_and_forbids_nothing() -> None:
    sides = [
        of_observation(Observation("a", subject=dict(subject), workload=dict(ASKED), metrics=[RATE]), "a")
        for subject in ({"model": "m", "tp": 1, "build": "b1"}, {"model": "m", "tp": 2})
    ]
    found = Compared(sides[0], sides[1])
    assert found.subject == ("tp: 1 in A, 2 in B", "build: b1 in A, unknown in B")
    assert found.comparable


@pytest.mark.parametrize(
    ("said", "comparable"), [("mtp", False), ("none", True), (False, True), ("unknown", True)]
)
def test_who_drafts_and_tells_no_acceptance_is_not_compared(said: Fact, comparable: bool) -> None:
    sides = [
        of_observation(
            Observation("a", subject={"speculation": said}, workload=dict(ASKED), metrics=[RATE]), "a"
        )
        for _ in range(2)
    ]
    assert bool(Compared(sides[0], sides[1]).comparable) is comparable
    assert Compared(sides[0], sides[1], Allowed(same=frozenset({"acceptance"}))).comparable


def test_a_partner_of_the_other_side_keeps_its_side() -> None:
    per_device = Measured("tput", "throughput-output-per-device", "value", 10, "token/s/device")
    found = compared([RATE], [RATE, per_device])
    assert [(pair.one.name, pair.other.name) for pair in found.pairs] == [
        ("output_throughput", "output_throughput"), ("output_throughput", "tput"),
    ]  # fmt: skip
    assert "one is in token/s, the other in token/s/device" in found.pairs[1].reasons


def test_a_number_that_no_ratio_can_be_computed_of_is_told() -> None:
    found = compared([RATE], [RATE._replace(value=10**400)])
    assert found.pairs == ()
    assert found.other.notes == ("output_throughput: more than any measured quantity, hence not used",)


def test_failed_requests_and_a_missing_shape_are_told() -> None:
    found = compared([RATE], [RATE], {}, requests=Requests(10, 9, 1))
    assert found.other.notes == ("1 of 10 requests failed",)
    assert found.tier is Tier.NEEDS_CONTEXT


VALUES = st.integers(1, 10**6)


@given(VALUES, VALUES)
def test_the_way_back_is_the_inverse(one: int, other: int) -> None:
    there = the_pair(compared([RATE._replace(value=one)], [RATE._replace(value=other)]))
    back = the_pair(compared([RATE._replace(value=other)], [RATE._replace(value=one)]))
    assert there.change is not None and back.change is not None
    assert (1 + there.change / 100) * (1 + back.change / 100) == pytest.approx(1)
    assert {there.word, back.word} in ({Word.EQUAL}, {Word.BETTER, Word.WORSE})
