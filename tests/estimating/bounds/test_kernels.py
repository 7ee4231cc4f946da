"""Which rate of an engine's kernel is taken by how many vectors a pass has, and what then bounds it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.composition import at_least, longest_of_groups
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import Ledger, terms_of
from hio_validate.estimating.bounds.operands import ONE, Operand
from hio_validate.estimating.bounds.rates import product_price, reading_price
from hio_validate.models.estimate import Term
from hio_validate.repo import Item
from tests.estimating.workloads import ceilings, inputs, rate, said, shape

KERNELS = {
    "read": rate("matvec", 20.0, "B/s", threads=1, dtype="q8_0", low=19.0, high=21.0),
    "read-x2": rate("matvec", 16.0, "B/s", threads=1, dtype="q8_0", vectors=2),
    "read-x4": rate("matvec", 10.0, "B/s", threads=1, dtype="q8_0", vectors=4, low=9.0, high=11.0),
    "read-x16": rate("matvec", 4.0, "B/s", threads=1, dtype="q8_0", vectors=16),
    "block-x32": rate("matmul", 140.0, "FLOP/s", threads=1, dtype="q8_0", vectors=32),
    "block-x512": rate("matmul", 160.0, "FLOP/s", threads=1, dtype="q8_0", vectors=512, low=150.0, high=170.0),
}  # fmt: skip
MEMORY = {"memory": rate("memory-read", 30.0, "B/s", threads=1, low=25.0, high=31.0)}
HERE = ceilings("kernels", {**KERNELS, **MEMORY})
LAYERS = shape(("feed-forward", "Q8_0", 3200, 3400), ("norm", "f32", 10, 40))
"""1.0625 bytes a number, as q8_0 has."""


def of(vectors: float) -> Operand:
    return Operand("Q8_0", Interval.exact(vectors))


def term(ledger: Ledger, name: str) -> Term:
    return next(each for each in ledger.terms if each.name == name)


def asked(*documents: Item, **more: Any) -> Any:
    return inputs(ceilings=documents or (HERE,), threads=1, **more)


@pytest.mark.parametrize(
    ("vectors", "name", "ends"),
    [(1, "read", (19.0, 20.0, 21.0)), (2, "read-x2", (16.0,) * 3), (4, "read-x4", (9.0, 10.0, 11.0))],
)
def test_a_measured_count_is_taken_as_it_is_with_the_reading_in_it(
    vectors: int, name: str, ends: tuple[float, ...]
) -> None:
    found = reading_price(asked(), of(vectors))
    assert found is not None and found.reads
    assert (found.price.cost.rate, found.price.cost.assumed) == (name, None)
    assert (found.price.interval.low, found.price.interval.value, found.price.interval.high) == ends


def test_between_two_counts_the_price_says_so_and_spans_both() -> None:
    found = reading_price(asked(), of(3))
    assert found is not None and found.reads
    price = found.price
    assert (price.cost.rate, price.cost.ceiling) == (None, "kernels")
    assert price.cost.assumed == "3 vectors: read-x2 to read-x4"
    # A pass takes 1/16 s a byte with two, 1/10 s with four: the middle. At best a vector takes what each of four takes: 4/11 of 1/4.
    assert price.interval.value == pytest.approx(1 / ((1 / 16 + 1 / 10) / 2))
    assert price.interval.high == pytest.approx(4 / 3 * 11)
    assert price.interval.low <= 9.0


def test_from_the_last_streamed_count_on_the_arithmetic_stands_alone() -> None:
    reads, streamed = reading_price(asked(), of(32)), reading_price(asked(), of(24))
    assert reads is not None and not reads.reads and reads.price.cost.rate == "memory"
    assert streamed is not None and streamed.reads
    # 24 vectors take between what 16 take from memory, 1.0625 / 4 s a number, and 2 * 32 / 140 s.
    assert streamed.price.interval.value == pytest.approx(1.0625 / ((1.0625 / 4 + 64 / 140) / 2))
    products = product_price(asked(), of(32))
    assert products is not None and products.cost.rate == "block-x32"
    many = product_price(asked(), of(2048))
    assert many is not None and many.interval.high == pytest.approx(170.0)
    between = product_price(asked(), of(128))
    assert (
        between is not None and between.interval.low <= 140 and between.interval.high == pytest.approx(170.0)
    )


def test_rates_that_do_not_say_by_how_many_vectors_count_as_before() -> None:
    old = ceilings(
        "old",
        {
            "read": rate("matvec", 20.0, "B/s", threads=1, dtype="q8_0"),
            "block": rate("matmul", 160.0, "FLOP/s", threads=1, dtype="q8_0"),
            **MEMORY,
        },
    )
    one, four = reading_price(asked(old), of(1)), reading_price(asked(old), of(4))
    assert one is not None and one.reads and one.price.cost.rate == "read"
    assert four is not None and not four.reads and four.price.cost.rate == "memory"
    products = product_price(asked(old), of(4))
    assert products is not None and products.cost.rate == "block"
    both = product_price(asked(old, HERE), of(32))
    assert both is not None and both.cost.rate == "block-x32", "a counted rate goes before an uncounted one"


def test_where_nobody_knows_how_many_vectors_the_best_of_all_counts_stays_possible() -> None:
    found = product_price(asked(), Operand("Q8_0", None))
    assert found is not None and found.interval.high == 170.0 and found.interval.low == 140.0


def test_what_a_person_states_of_products_goes_before_kernels_of_several_vectors() -> None:
    stated = asked(stated=said(matmul=99.0))
    found = reading_price(stated, of(4))
    assert found is not None and not found.reads
    products = product_price(stated, of(4))
    assert products is not None and products.interval.value == 99.0
    one = reading_price(stated, of(1))
    assert one is not None and one.reads


USUAL: dict[str, Any] = {
    "shape": LAYERS,
    "threads": 1,
    "prompt_tokens": 100,
    "generated_tokens": 8,
    "microbatch": 64,
}


def ledger(*documents: Item, path: str = "decode-token", metric: str = "decode_tps", **more: Any) -> Ledger:
    return terms_of(inputs(path, metric, ceilings=documents or (HERE,), **{**USUAL, **more}))


def test_a_pass_that_verifies_is_priced_by_its_own_number_of_vectors() -> None:
    drafted = ledger(drafting="ngram", stated=said(draft_tokens=3, acceptance=0.5))
    weights = term(drafted, "weights")
    seconds = 3400 / 10 + 40 / 30
    assert base(weights.time).value == pytest.approx(seconds / 2.5)
    assert "arithmetic with 4 vectors included" in weights.about
    assert not [each for each in drafted.terms if each.name == "compute"]


def test_a_prompt_is_priced_by_the_tokens_of_each_of_its_passes() -> None:
    prefill = ledger(path="request", metric="ttft_ms")  # passes of 64 and of 36 tokens
    assert base(term(prefill, "compute").work).value == 2 * 3200 * 100
    short = ledger(path="request", metric="ttft_ms", prompt_tokens=4)
    assert base(term(short, "weights").time).value == pytest.approx(3400 / 10 + 40 / 30)
    rest = ledger(path="request", metric="ttft_ms", prompt_tokens=68)  # 64 from the cache, 4 streamed
    assert base(term(rest, "compute").work).value == 2 * 3200 * 64
    assert base(term(rest, "weights").time).value == pytest.approx(3400 / 30 + 3400 / 10 + 80 / 30)
    assert term(rest, "weights").resource == "memory", "the reading of the first pass overlaps its arithmetic"


def test_each_token_of_a_mixture_chooses_its_experts_so_that_no_count_is_known() -> None:
    experts = shape(("experts", "Q8_0", 3200, 3400), experts={"count": 8, "active": 2})
    one, four = (ledger(shape=experts, concurrency=count) for count in (1, 4))
    assert "arithmetic with one vector included" in term(one, "weights").about
    assert "included" not in term(four, "weights").about
    assert term(four, "weights").cost.rate == "memory"


def test_a_kernel_below_what_memory_gives_is_bound_by_its_arithmetic() -> None:
    weights = term(ledger(), "weights")
    assert weights.resource == "compute"
    assert "the engine's kernels read 20.1 B/s where memory gives 30 B/s" in weights.about
    assert weights.about.endswith("their arithmetic bounds it, not memory")


@pytest.mark.parametrize("low", [20.0, 21.0])
def test_a_kernel_that_may_be_as_fast_as_memory_stays_on_memory(low: float) -> None:
    near = {"memory": rate("memory-read", 22.0, "B/s", threads=1, low=low, high=31.0)}
    weights = term(ledger(ceilings("kernels", {**KERNELS, **near})), "weights")
    assert weights.resource == "memory" and "bounds" not in weights.about


def test_where_nobody_measured_memory_the_suspect_stays_open_and_is_said() -> None:
    elsewhere = ceilings("other", MEMORY, host="b" * 64)
    told = ledger(ceilings("kernels", KERNELS), elsewhere)
    assert term(told, "weights").resource == "memory"
    assert term(told, "weights").about.endswith("whether memory or its arithmetic bounds it is not known")
    assert any(each.endswith("measures what memory gives with 1 thread") for each in told.missing)


def seconds(found: Ledger) -> dict[str, Interval]:
    return {each.name: base(each.time) for each in found.terms}


@given(st.integers(1, 40), st.floats(0, 20), st.floats(0, 1), st.integers(1, 80))
def test_no_bound_is_more_than_the_resources_need_whatever_bounds_a_kernel(
    concurrency: int, drafted: float, acceptance: float, prompt: int
) -> None:
    stated = said(draft_tokens=drafted, acceptance=acceptance)
    for path, metric in (
        ("decode-token", "tpot_ms"),
        ("request", "wall_s"),
        ("prefill-token", "prefill_tps"),
    ):
        found = ledger(
            path=path, metric=metric, concurrency=concurrency, drafting="ngram", stated=stated, prompt_tokens=prompt,
            microbatch=16,
        )  # fmt: skip
        times, resources = seconds(found), {each.name: each.resource for each in found.terms}
        bound, least = longest_of_groups(found.groups, times), at_least(times, resources)
        assert bound.low <= least.low * (1 + 1e-9) and bound.value <= least.value * (1 + 1e-9)


@given(st.floats(0, 40), st.floats(0, 40))
def test_a_pass_that_verifies_more_is_never_faster_where_the_kernels_times_grow(
    one: float, other: float
) -> None:
    few, many = (
        seconds(ledger(drafting="ngram", stated=said(draft_tokens=each, acceptance=0)))["weights"]
        for each in sorted((one, other))
    )
    if max(one, other) + 1 < 32:  # from there on the arithmetic is a term of its own
        assert few.low <= many.low * (1 + 1e-9) and few.value <= many.value * (1 + 1e-9)


def test_one_vector_is_one_vector() -> None:
    assert Operand("Q8_0", ONE).by_one and not Operand("Q8_0", None).by_one
