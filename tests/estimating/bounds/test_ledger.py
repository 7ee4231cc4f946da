"""Ledgers of whole paths: the published example, each path by hand, and what has to hold whatever is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hio_validate.costs.composition import at_least, longest_of_groups, time_of
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import Ledger, bound_of, terms_of
from tests.estimating.workloads import ceilings, inputs, rate, said, shape

LARGE = shape(("feed-forward", "int8", 70_000_000_000, 70_000_000_000))
PUBLISHED = ceilings(
    "accelerator",
    {
        "memory": rate("memory-read", 2.0, "TB/s", efficiency=1.0),
        "fabric": rate("link", 200.0, "GB/s", efficiency=1.0),
    },
    how="published",
    per="device",
    date="2026-01",
    source="a data sheet",
    host=None,
)


def times(ledger: Ledger) -> dict[str, float]:
    return {term.name: base(term.time).value for term in ledger.terms}


def test_the_published_example_of_seventy_billion_parameters_on_eight_devices() -> None:
    asked = inputs(
        shape=LARGE,
        ceilings=(PUBLISHED,),
        devices=8,
        stated=said(launches=450, launch=4, collective_bytes=32e6, link_latency=20),
    )
    ledger = terms_of(asked)
    assert times(ledger) == pytest.approx({"weights": 4.375e-3, "collectives": 0.18e-3, "launches": 1.8e-3})
    bound = bound_of(ledger, asked)
    assert bound is not None and bound.metric is not None
    assert base(bound.time).value == pytest.approx(4.375e-3)
    assert (bound.metric.value, bound.metric.unit) == (pytest.approx(4.375), "ms")
    assert bound.metric.value / 6.0 == pytest.approx(0.729, abs=5e-4)
    assert bound.groups == [["weights", "collectives", "launches"]]
    rated = bound_of(ledger, inputs(metric="decode_tps", shape=LARGE, devices=8))
    assert rated is not None and rated.metric is not None
    assert (rated.metric.value, rated.metric.unit) == (pytest.approx(228.57, abs=0.01), "1")


SMALL = shape(
    ("embedding", "f16", 3200, 6400),
    ("output", "f16", 3200, 6400),
    ("attention", "Q4_K", 2560, 1440),
    ("feed-forward", "Q4_K", 5120, 2880),
    ("norm", "f32", 64, 256),
    embedding=32,
    heads=4,
    vocabulary=100,
    tied=False,
    attention=[
        {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8},
        {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8, "window": 10},
    ],
)
"""100 tokens of 32 numbers, two layers with two heads of 8 for K and V: 64 bytes of f16 a token and layer."""
HERE = ceilings(
    "box",
    {
        "memory": rate("memory-read", 1000.0, "B/s", threads=1),
        "f32": rate("matmul", 1.0, "MFLOP/s", threads=1, dtype="f32"),
        "q4-k": rate("matmul", 4.0, "MFLOP/s", threads=1, dtype="q4_K"),
        "f16": rate("matmul", 2.0, "MFLOP/s", threads=1, dtype="f16"),
        "http": rate("http-round-trip", 3.0, "ms"),
        "disk": rate("disk-read", 100.0, "B/s"),
        "start": rate("process-start", 7.0, "ms"),
    },
)
USUAL: dict[str, Any] = {
    "shape": SMALL, "ceilings": (HERE,), "threads": 1, "prompt_tokens": 100, "generated_tokens": 8, "microbatch": 64,
    "key_type": "f16", "value_type": "f16",
}  # fmt: skip
ONE_PASS = 6400 + 1440 + 2880 + 256 + 64  # output, layers, norms and one row of the embedding


def work(ledger: Ledger, name: str) -> Interval:
    return next(base(term.work) for term in ledger.terms if term.name == name)


def test_one_token_of_an_answer() -> None:
    asked = inputs("decode-token", "decode_tps", **USUAL)
    ledger = terms_of(asked)
    assert work(ledger, "weights") == Interval.exact(ONE_PASS)
    assert work(ledger, "kv-read").value == pytest.approx(64 * 104 + 64 * 10)
    assert work(ledger, "kv-write").value == 128
    products = 2 * (3200 + 2560 + 5120) + 2 * 4 * (8 + 8) * (104 + 10)
    assert work(ledger, "compute").value == products
    assert ledger.missing == ()
    bound = bound_of(ledger, asked)
    assert bound is not None and bound.metric is not None
    assert bound.groups == [["weights", "compute"], ["kv-read"], ["kv-write"]]
    seconds = (ONE_PASS + 64 * 114 + 128) / 1000
    assert base(bound.time).value == pytest.approx(seconds)
    # The server counts 8 tokens in the time of 7.
    assert bound.metric.value == pytest.approx(8 / 7 / seconds)
    for metric, expected in (("tpot_ms", 1e3 * seconds), ("bench_decode_tps", 1 / seconds)):
        other = bound_of(ledger, inputs("decode-token", metric, **USUAL))
        assert other is not None and other.metric is not None
        assert base(other.metric).value * (1e3 if metric == "tpot_ms" else 1) == pytest.approx(expected)


def test_one_token_of_a_prompt_has_its_share_of_the_passes() -> None:
    ledger = terms_of(inputs("prefill-token", "prefill_tps", **USUAL))
    layers = 2 * (1440 + 2880 + 256)  # two passes, of 64 and of 36 tokens
    assert work(ledger, "weights").value == pytest.approx((layers + 6400 + 100 * 64) / 100)
    assert work(ledger, "kv-read").value == pytest.approx(64 * (64 + 64 + 100 + 10 + 35) / 100)
    attention = 2 * 4 * (8 + 8) * (50.5 + (sum(range(1, 11)) + 90 * 10) / 100)
    assert work(ledger, "compute").value == pytest.approx(2 * (2560 + 5120 + 3200 / 100) + attention)


def test_the_first_token_of_a_request_waits_for_the_whole_prompt() -> None:
    one, whole = (
        terms_of(inputs(path, metric, stated=said(queue_wait=5, host_gap=10), **USUAL))
        for path, metric in (("prefill-token", "prefill_tps"), ("request", "ttft_ms"))
    )
    for name in ("weights", "kv-read", "kv-write", "compute"):
        assert work(whole, name).value == pytest.approx(100 * work(one, name).value)
    spent = times(whole)
    assert spent["dispatch"] == pytest.approx(0.003) and spent["queueing"] == pytest.approx(0.005)
    assert next(term.time.low for term in whole.terms if term.name == "dispatch") == 0
    gaps = work(whole, "host-gaps")
    assert (gaps.low, gaps.value) == (1, 2)  # between two passes there is one
    assert whole.groups[-3:] == (("host-gaps",), ("queueing",), ("dispatch",))


def test_a_whole_request_has_the_answer_too() -> None:
    first, one, whole = (
        terms_of(inputs(path, metric, **USUAL))
        for path, metric in (("request", "ttft_ms"), ("decode-token", "tpot_ms"), ("request", "wall_s"))
    )
    for name in ("weights", "kv-read", "kv-write", "compute"):
        assert work(whole, name).value == pytest.approx(work(first, name).value + 7 * work(one, name).value)


def test_a_model_file_is_read_once_and_a_process_starts_once() -> None:
    loaded = terms_of(inputs("load", "wall_s", **USUAL))
    assert times(loaded) == {"loading": pytest.approx((6400 * 2 + 1440 + 2880 + 256) / 100)}
    started = inputs("setup", "wall_s", ceilings=(HERE,))
    assert times(terms_of(started)) == {"dispatch": pytest.approx(0.007)}
    assert bound_of(terms_of(started), started) is not None


def test_devices_share_weights_and_arithmetic_and_k_and_v_by_heads() -> None:
    alone = terms_of(inputs(**{**USUAL, "ceilings": (), "stated": RATES}))
    shared = terms_of(inputs(**{**USUAL, "ceilings": (), "stated": RATES, "devices": 8}))
    assert work(shared, "weights").value == pytest.approx(work(alone, "weights").value / 8)
    assert work(shared, "compute").value == pytest.approx(work(alone, "compute").value / 8)
    assert work(shared, "kv-read").value == pytest.approx(work(alone, "kv-read").value / 2)
    assert any("collective-bytes" in each for each in shared.missing)


RATES = said(memory_read=1000, matmul=1e6)


def test_requests_at_the_same_time_share_a_pass_and_each_has_its_own_k_and_v() -> None:
    alone, four = (terms_of(inputs(**USUAL, concurrency=count)) for count in (1, 4))
    assert work(four, "kv-read").value == pytest.approx(4 * work(alone, "kv-read").value)
    assert work(four, "kv-read").low == work(alone, "kv-read").value
    assert work(four, "weights").value == ONE_PASS + 3 * 64  # three more rows of the embedding
    assert [each.name for each in four.assumptions] == ["concurrency"]


@pytest.mark.parametrize(("slots", "decoded"), [(None, 8), (1, 1), (3, 3), (20, 8)])
def test_no_more_requests_are_decoded_together_than_there_are_slots(slots: int | None, decoded: int) -> None:
    found = terms_of(inputs(**USUAL, concurrency=8, slots=slots))
    assert work(found, "kv-read") == work(terms_of(inputs(**USUAL, concurrency=decoded)), "kv-read")
    assert [each.amount.high for each in found.assumptions] == [decoded] * (decoded > 1)


def test_a_pass_that_verifies_drafted_tokens_yields_the_accepted_ones() -> None:
    stated = said(draft_tokens=3, acceptance=(0.5, 0.25, 0.75))
    drafted = terms_of(inputs(**USUAL, drafting="ngram-simple", stated=stated))
    weights = work(drafted, "weights")
    assert weights.value == pytest.approx((ONE_PASS + 3 * 64) / 2.5)
    assert weights.low == pytest.approx(ONE_PASS / 3.25)  # at least: one row, and three of four accepted
    assert work(drafted, "kv-read").value == pytest.approx(64 * 114 / 2.5)  # once a pass, not once a token
    assert work(drafted, "kv-write").value == pytest.approx(4 * 128 / 2.5)
    assert {each.name for each in drafted.assumptions} == {"draft-tokens", "acceptance"}
    assert "draft" not in times(drafted)


def test_an_acceptance_that_nobody_states_is_none_to_all() -> None:
    drafted = terms_of(inputs(**USUAL, drafting="ngram-simple", stated=said(draft_tokens=3)))
    found = next(each for each in drafted.assumptions if each.name == "acceptance")
    assert (found.amount.low, found.amount.high) == (0, 1)


def test_drafted_tokens_that_nobody_counts_leave_no_bound_of_a_token() -> None:
    asked = inputs(**USUAL, drafting="draft model d1")
    ledger = terms_of(asked)
    assert bound_of(ledger, asked) is None
    assert any("draft-tokens=N" in each and "draft model d1" in each for each in ledger.missing)


def test_drafting_comes_before_the_pass_by_a_stated_share_of_it() -> None:
    stated = said(draft_tokens=2, acceptance=0.5, draft_cost=0.1)
    asked = inputs(**USUAL, drafting="draft model d1", stated=stated)
    ledger = terms_of(asked)
    without = terms_of(
        inputs(**USUAL, drafting="draft model d1", stated=said(draft_tokens=2, acceptance=0.5))
    )
    before = bound_of(without, asked)
    assert before is not None and any("draft-cost" in each for each in without.missing)
    assert times(ledger)["draft"] == pytest.approx(0.2 * base(before.time).value)
    assert ledger.groups[-1] == ("draft",)


def test_layers_that_draft_are_read_for_each_drafted_token() -> None:
    with_layers = shape(("attention", "f16", 100, 200), ("draft", "f16", 50, 100), draft_layers=1)
    ledger = terms_of(
        inputs(shape=with_layers, drafting="mtp", stated=said(draft_tokens=2, acceptance=1, memory_read=100))
    )
    assert times(ledger) == {"weights": pytest.approx(2 / 3), "draft": pytest.approx(2 / 3)}


def test_a_window_and_an_unknown_format_widen_what_is_read() -> None:
    ledger = terms_of(inputs(**{**USUAL, "key_type": None}))
    read = work(ledger, "kv-read")
    assert read.low < read.value < read.high
    assert [each.name for each in ledger.assumptions] == ["key-type"]


KEPT = {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8}


def attending(*layers: Mapping[str, int], **more: Any) -> Ledger:
    model = shape(("attention", "f16", 100, 200), heads=4, attention=list(layers))
    return terms_of(inputs(**{**USUAL, "shape": model, **more}))


def test_layers_without_k_and_v_are_said() -> None:
    assert not attending(KEPT).missing
    without = {**KEPT, "layers": 3, "kv_heads": 0}
    assert [each.split(":")[0] for each in attending(KEPT, without).missing] == [
        "3 layers of shape-1 keep no K/V of their own"
    ]


def test_the_format_of_v_is_not_asked_where_v_is_a_part_of_k() -> None:
    unsaid = {"key_type": None, "value_type": None}
    asked = [each.name for each in attending(KEPT, **unsaid).assumptions]
    of_latent = [each.name for each in attending({**KEPT, "value_size": 0}, **unsaid).assumptions]
    assert (asked, of_latent) == (["key-type", "value-type"], ["key-type"])


def test_an_unknown_microbatch_is_one_pass_at_least_and_one_a_token_at_most() -> None:
    known, unknown = (
        work(terms_of(inputs("request", "ttft_ms", **{**USUAL, "microbatch": size})), "weights")
        for size in (64, None)
    )
    assert unknown.low < known.value < unknown.high


def test_what_is_stated_of_a_pass_counts_for_each_pass() -> None:
    stated = said(launches=450, launch=4, collective_bytes=1e6, link=1e9, link_latency=20)
    asked = inputs("request", "ttft_ms", **USUAL, stated=stated)  # two passes, of 64 and of 36 tokens
    spent = times(terms_of(asked))
    assert spent["launches"] == pytest.approx(2 * 450 * 4e-6)
    assert spent["collectives"] == pytest.approx(2 * (1e6 / 1e9 + 20e-6))


def test_devices_share_the_layers_that_draft() -> None:
    with_layers = shape(("attention", "f16", 100, 200), ("draft", "f16", 50, 100), draft_layers=1)
    stated = said(draft_tokens=2, acceptance=1, memory_read=100)
    ledger = terms_of(inputs(shape=with_layers, drafting="mtp", stated=stated, devices=4))
    assert times(ledger)["draft"] == pytest.approx(2 / 3 / 4)


@pytest.mark.parametrize(
    ("path", "metric", "prompt", "own_kernel"),
    [
        ("decode-token", "tpot_ms", 100, True),
        ("request", "ttft_ms", 100, False),
        ("request", "wall_s", 100, True),
        ("request", "ttft_ms", 1, True),
    ],
)
def test_a_kernel_of_one_vector_tells_the_time_of_passes_of_one_token(
    path: str, metric: str, prompt: int, own_kernel: bool
) -> None:
    kernels = ceilings("kernels", {"q4-k": rate("matvec", 500.0, "B/s", threads=1, dtype="q4_K")})
    asked = inputs(path, metric, **{**USUAL, "ceilings": (HERE, kernels), "prompt_tokens": prompt})
    weights = next(term for term in terms_of(asked).terms if term.name == "weights")
    assert ("q4-k of kernels" in (weights.cost.assumed or "")) is own_kernel


@pytest.mark.parametrize(
    ("path", "metric", "each"), [("prefill-token", "prefill_tps", 100), ("request", "ttft_ms", 1)]
)
def test_the_output_layer_follows_a_prompt_where_its_own_kernel_was_measured(
    path: str, metric: str, each: int
) -> None:
    without = terms_of(inputs(path, metric, **USUAL))
    assert "output" not in times(without)
    kernels = ceilings("kernels", {"head": rate("matvec", 400.0, "B/s", threads=1, dtype="f16")})
    ledger = terms_of(inputs(path, metric, **{**USUAL, "ceilings": (HERE, kernels)}))
    assert work(ledger, "output").value == pytest.approx(6400 / each)
    assert times(ledger)["output"] == pytest.approx(16 / each) and ("output",) in ledger.groups
    read, products = (work(without, name).value - work(ledger, name).value for name in ("weights", "compute"))
    assert (read, products) == (pytest.approx(6400 / each), pytest.approx(2 * 3200 / each))


def test_a_prompt_of_one_token_has_no_output_layer_apart() -> None:
    kernels = ceilings("kernels", {"head": rate("matvec", 400.0, "B/s", threads=1, dtype="f16")})
    more = {"ceilings": (HERE, kernels), "prompt_tokens": 1}
    assert "output" not in times(terms_of(inputs("request", "ttft_ms", **{**USUAL, **more})))


LACKING: dict[str, tuple[dict[str, Any], str]] = {
    "the shape": ({"shape": None}, "hio probe model"),
    "rates": ({"ceilings": ()}, "hio probe host --yes"),
    "the prompt": ({"prompt_tokens": None}, "--assume prompt-tokens=N"),
    "layers": ({"shape": LARGE}, "tells no layers that attend"),
    "launches": ({"stated": said(launch=4)}, "--assume launches=N"),
    "a launch": ({"stated": said(launches=4)}, "--assume launch="),
    "a link": ({"stated": said(collective_bytes=4)}, "--assume link="),
}


@pytest.mark.parametrize("what", sorted(LACKING))
def test_what_is_not_known_is_left_out_and_said_with_what_to_type(what: str) -> None:
    changed, sentence = LACKING[what]
    full, less = inputs(**USUAL), inputs(**{**USUAL, **changed})
    ledger = terms_of(less)
    assert any(sentence in each for each in ledger.missing)
    assert not any(sentence in each for each in terms_of(full).missing)
    bound, whole = bound_of(ledger, less), bound_of(terms_of(full), full)
    assert what == "layers" or bound is None or (whole and base(bound.time).low <= base(whole.time).low)


def test_a_missing_shape_is_said_once() -> None:
    asked = inputs(**{**USUAL, "shape": None})
    told = terms_of(replace(asked, missing=("no shape of this model is recorded",)))
    assert not any("probe model" in each for each in told.missing)
    assert bound_of(told, asked) is None


def test_a_shape_that_is_missing_leaves_no_bound_though_terms_are_known() -> None:
    asked = inputs("request", "ttft_ms", ceilings=(HERE,))
    ledger = terms_of(asked)
    assert "dispatch" in times(ledger) and bound_of(ledger, asked) is None


@pytest.mark.parametrize(
    ("path", "metric", "drafting"),
    [("prefill-token", "ttft_ms", None), ("decode-token", "wall_s", None), ("decode-token", "itl_ms", "mtp")],
)
def test_a_bound_says_nothing_of_the_metric_of_another_path(
    path: str, metric: str, drafting: str | None
) -> None:
    asked = inputs(path, metric, **USUAL, drafting=drafting, stated=said(draft_tokens=2))
    bound = bound_of(terms_of(asked), asked)
    assert bound is not None and bound.metric is None


@pytest.mark.parametrize(("generated", "bounded"), [(1, False), (2, True)])
def test_the_only_token_of_an_answer_takes_no_pass_of_decode(generated: int, bounded: bool) -> None:
    asked = inputs("decode-token", "decode_tps", **{**USUAL, "generated_tokens": generated})
    bound = bound_of(terms_of(asked), asked)
    assert bound is not None and (bound.metric is not None) == bounded


def test_stated_lengths_go_before_the_fixtures() -> None:
    stated = terms_of(inputs(**USUAL, stated=said(prompt_tokens=1000)))
    known = terms_of(inputs(**{**USUAL, "prompt_tokens": 1000}))
    assert work(stated, "kv-read") == work(known, "kv-read") != work(terms_of(inputs(**USUAL)), "kv-read")


@pytest.mark.parametrize("end", [(10, 2), (10, 40), (1000, 2), (1000, 40)])
@pytest.mark.parametrize(
    ("path", "metric"), [("decode-token", "tpot_ms"), ("prefill-token", "prefill_tps"), ("request", "wall_s")]
)
def test_a_stated_interval_of_lengths_stays_one(path: str, metric: str, end: tuple[int, int]) -> None:
    """The bound of either end lies within, and the lengths are assumptions."""
    stated = said(prompt_tokens=(505, 10, 1000), generated_tokens=(21, 2, 40))
    wide, narrow = (
        inputs(path, metric, **USUAL, stated=each)
        for each in (stated, said(prompt_tokens=end[0], generated_tokens=end[1]))
    )
    ledger = terms_of(wide)
    assert {each.name for each in ledger.assumptions} == {"prompt-tokens", "generated-tokens"}
    bound, one = bound_of(ledger, wide), bound_of(terms_of(narrow), narrow)
    assert bound and one
    whole, part = base(bound.time), base(one.time)
    assert whole.low <= part.low * (1 + 1e-9) and part.high <= whole.high * (1 + 1e-9)
    for term in ledger.terms:
        assert time_of(term).value == pytest.approx(base(term.time).value)


PATHS = st.sampled_from(
    (
        ("decode-token", "tpot_ms"),
        ("prefill-token", "prefill_tps"),
        ("request", "ttft_ms"),
        ("request", "wall_s"),
    )
)
LENGTHS = st.integers(1, 300)


def seconds_of(path: tuple[str, str], **more: Any) -> Interval:
    ledger = terms_of(inputs(*path, **{**USUAL, **more}))
    return at_least(
        {term.name: base(term.time) for term in ledger.terms}, {t.name: t.resource for t in ledger.terms}
    )


@settings(max_examples=60, deadline=None)
@given(PATHS, LENGTHS, LENGTHS, st.integers(1, 9), st.sampled_from((1, 16, 64, None)))
def test_no_bound_is_more_than_the_resources_need_and_each_time_follows(
    path: tuple[str, str], prompt: int, answer: int, concurrency: int, microbatch: int | None
) -> None:
    asked = inputs(
        *path,
        **{**USUAL, "prompt_tokens": prompt, "generated_tokens": answer, "microbatch": microbatch},
        concurrency=concurrency,
        stated=said(launches=30, launch=(4, 2, 9), host_gap=11, queue_wait=3),
    )
    ledger = terms_of(asked)
    spent = {term.name: base(term.time) for term in ledger.terms}
    bound, least = (
        longest_of_groups(ledger.groups, spent),
        at_least(spent, {t.name: t.resource for t in ledger.terms}),
    )
    assert bound.low <= least.low * (1 + 1e-9) and bound.value <= least.value * (1 + 1e-9)
    for term in ledger.terms:
        assert time_of(term).value == pytest.approx(base(term.time).value)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from((("decode-token", "tpot_ms"), ("request", "ttft_ms"))), LENGTHS, LENGTHS)
def test_a_longer_prompt_is_never_faster(path: tuple[str, str], one: int, other: int) -> None:
    short, long = sorted((one, other))
    assert seconds_of(path, prompt_tokens=short).low <= seconds_of(path, prompt_tokens=long).low * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(PATHS, st.floats(10, 1e9), st.floats(10, 1e9), st.sampled_from(("memory_read", "matmul")))
def test_a_higher_rate_is_never_slower(path: tuple[str, str], one: float, other: float, name: str) -> None:
    slow, fast = sorted((one, other))
    stated: list[Mapping[str, Any]] = [{**RATES, **said(**{name: each})} for each in (slow, fast)]
    assert seconds_of(path, stated=stated[1]).low <= seconds_of(path, stated=stated[0]).low * (1 + 1e-9)
