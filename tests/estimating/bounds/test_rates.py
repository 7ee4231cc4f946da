"""Which rate is taken, and how far it is trusted: stated, measured here, measured elsewhere, published."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.interval import Interval
from hio_validate.estimating.bounds.ledger import Ledger, terms_of
from hio_validate.estimating.bounds.operands import ONE, Operand
from hio_validate.estimating.bounds.price import Price
from hio_validate.estimating.bounds.rates import price_of, product_price, reading_price, together
from hio_validate.models.estimate import Term
from hio_validate.repo import Item
from tests.estimating.workloads import ceilings, inputs, rate, said, shape

HERE = ceilings("box", {"memory": rate("memory-read", 10.0, "GB/s", confidence="high")})
ELSEWHERE = ceilings("other", {"memory": rate("memory-read", 20.0, "GB/s", confidence="high")}, host="b" * 64)
PUBLISHED = ceilings(
    "sheet",
    {"memory": rate("memory-read", 40.0, "GB/s", efficiency=0.8, confidence="high")},
    how="published",
    host=None,
    source="a data sheet",
)
ALL = (HERE, ELSEWHERE, PUBLISHED)


@pytest.mark.parametrize(
    ("documents", "stated", "value", "confidence", "ceiling"),
    [
        (ALL, {"memory_read": 5e9}, 5e9, "medium", None),
        (ALL, {}, 10e9, "high", "box"),
        (ALL[::-1], {}, 10e9, "high", "box"),
        (ALL[1:], {}, 20e9, "low", "other"),
        (ALL[2:], {}, 32e9, "medium", "sheet"),
    ],
)
def test_stated_goes_before_measured_here_before_elsewhere_before_published(
    documents: tuple[Item, ...], stated: dict[str, float], value: float, confidence: str, ceiling: str | None
) -> None:
    price = price_of(inputs(ceilings=documents, stated=said(**stated)), "memory-read")
    assert price is not None
    assert (price.interval.value, price.confidence, price.cost.ceiling) == (value, confidence, ceiling)


def test_nothing_tells_a_rate_that_no_document_has() -> None:
    assert price_of(inputs(ceilings=ALL), "disk-read") is None
    assert reading_price(inputs(), Operand("f16", ONE)) is None
    assert product_price(inputs(ceilings=ALL), Operand("f16", None)) is None


def test_a_published_rate_is_reached_from_its_assumed_part_to_all_of_it() -> None:
    price = price_of(inputs(ceilings=(PUBLISHED,)), "memory-read")
    assert price is not None and price.cost.efficiency == 0.8
    assert price.interval == Interval(32e9, 32e9, 40e9)
    assert [(each.name, each.amount.low, each.amount.high) for each in price.assumptions] == [
        ("efficiency", 0.8, 1.0)
    ]


@pytest.mark.parametrize(
    ("efficiency", "expected"),
    [(0.5, Interval(20e9, 20e9, 40e9)), ((0.5, 0.25, 0.75), Interval(20e9, 10e9, 30e9))],
)
def test_a_stated_efficiency_goes_before_the_documents(efficiency: Any, expected: Interval) -> None:
    price = price_of(inputs(ceilings=(PUBLISHED,), stated=said(efficiency=efficiency)), "memory-read")
    assert price is not None and price.interval == expected


def test_an_efficiency_is_no_part_of_what_was_measured() -> None:
    price = price_of(inputs(ceilings=(HERE,), stated=said(efficiency=0.5)), "memory-read")
    assert price is not None and price.interval.value == 10e9 and price.cost.efficiency is None


def test_a_published_latency_is_divided_by_its_efficiency() -> None:
    sheet = ceilings(
        "sheet", {"launch": rate("launch", 4.0, "us", efficiency=0.5)}, how="published", host=None, source="s"
    )
    price = price_of(inputs(ceilings=(sheet,)), "launch")
    assert price is not None
    assert (price.interval.low, price.interval.value) == pytest.approx((4e-6, 8e-6))


THREADS = ceilings(
    "box", {f"t{count}": rate("memory-read", 10.0 * count, "GB/s", threads=count) for count in (2, 4, 8)}
)


@pytest.mark.parametrize(
    ("threads", "taken", "ends", "confidence"),
    [
        (4, "t4", (40e9, 40e9, 40e9), "medium"),
        (6, "t4", (40e9, 40e9, 60e9), "low"),
        (16, "t8", (80e9, 80e9, 160e9), "low"),
        (1, "t2", (10e9, 20e9, 20e9), "low"),
        (None, "t8", (80e9, 80e9, 80e9), "medium"),
    ],
)
def test_the_nearest_thread_count_not_above_is_taken_as_wide_as_that_leaves_open(
    threads: int | None, taken: str, ends: tuple[float, float, float], confidence: str
) -> None:
    price = price_of(inputs(ceilings=(THREADS,), threads=threads), "memory-read")
    assert price is not None
    assert (price.cost.rate, price.confidence) == (taken, confidence)
    assert (price.interval.low, price.interval.value, price.interval.high) == ends
    assert [each.name for each in price.assumptions] == (["memory-read"] if confidence == "low" else [])


def test_what_fewer_threads_reached_is_no_less_with_more() -> None:
    noisy = ceilings(
        "box",
        {
            "one": rate("memory-read", 9.0, "GB/s", low=7.0, high=14.0, threads=1),
            "two": rate("memory-read", 7.0, "GB/s", low=6.0, high=9.0, threads=2),
            "four": rate("memory-read", 99.0, "GB/s", threads=4),
        },
    )
    price = price_of(inputs(ceilings=(noisy,), threads=2), "memory-read")
    assert price is not None and price.cost.rate == "two" and price.confidence == "low"
    assert price.interval == Interval(7e9, 6e9, 14e9)
    assert price.cost.assumed == "another measurement with no more threads reached more"
    three = price_of(inputs(ceilings=(noisy,), threads=3), "memory-read")
    assert three is not None and three.interval == Interval(7e9, 6e9, 14e9)


def test_the_samples_ends_are_the_rates_ends() -> None:
    spread = ceilings("box", {"memory": rate("memory-read", 10.0, "GB/s", low=8.0, high=11.0)})
    price = price_of(inputs(ceilings=(spread,)), "memory-read")
    assert price is not None and price.interval == Interval(10e9, 8e9, 11e9)


def test_zeros_that_are_skipped_are_no_rate_of_dense_products() -> None:
    sheet = ceilings(
        "sheet",
        {
            "sparse": rate("matmul", 200.0, "TFLOP/s", dtype="bf16", sparsity="structured"),
            "dense": rate("matmul", 100.0, "TFLOP/s", dtype="bf16", sparsity="dense"),
        },
    )
    price = product_price(inputs(ceilings=(sheet,)), Operand("BF16", None))
    assert price is not None and price.cost.rate == "dense"


def test_a_rate_of_a_whole_host_is_none_of_one_of_its_devices() -> None:
    assert price_of(inputs(ceilings=(HERE,), devices=2), "memory-read") is None
    per_device = ceilings("box", {"memory": rate("memory-read", 10.0, "GB/s")}, per="device")
    assert price_of(inputs(ceilings=(per_device,), devices=2), "memory-read") is not None


ENGINE = ceilings(
    "kernels",
    {
        "q4-k": rate("matvec", 6.0, "kB/s", threads=1, dtype="q4_K"),
        "q8-0": rate("matvec", 9.0, "kB/s", threads=1, dtype="q8_0"),
    },
)
BOX = ceilings(
    "box",
    {
        "memory": rate("memory-read", 12.0, "kB/s", threads=1),
        "f32": rate("matmul", 1.0, "MFLOP/s", threads=1, dtype="f32"),
    },
)
MIXED = shape(
    ("attention", "Q4_K", 10_000, 6_000), ("feed-forward", "Q8_0", 8_000, 9_000), ("norm", "f32", 600, 2_400)
)


def term(ledger: Ledger, name: str) -> Term | None:
    return next((each for each in ledger.terms if each.name == name), None)


def test_the_engines_own_kernels_go_before_the_hosts_memory_added_up_by_format() -> None:
    ledger = terms_of(inputs(shape=MIXED, ceilings=(BOX, ENGINE), threads=1))
    weights = term(ledger, "weights")
    assert weights is not None and weights.cost.assumed is not None
    assert weights.time.value == pytest.approx(1 + 1 + 0.2) and weights.time.unit == "s"
    for part in ("Q4_K 6 kB/s (q4-k of kernels)", "Q8_0 9 kB/s", "f32 12 kB/s (memory of box)"):
        assert part in weights.cost.assumed
    assert (weights.cost.ceiling, weights.cost.rate) == (None, None)


def test_reading_and_multiplying_by_one_kernel_is_one_measured_thing() -> None:
    ledger = terms_of(inputs(shape=MIXED, ceilings=(BOX, ENGINE), threads=1))
    weights = term(ledger, "weights")
    assert weights is not None and "arithmetic with one vector included" in weights.about
    assert term(ledger, "compute") is None
    without = term(terms_of(inputs(shape=MIXED, ceilings=(BOX,), threads=1)), "compute")
    assert without is not None
    assert (without.work.value, without.work.unit) == (2 * (10_000 + 8_000), "FLOP")


def test_what_no_kernel_measured_keeps_its_arithmetic() -> None:
    only = ceilings("kernels", {"q4-k": rate("matvec", 6.0, "kB/s", threads=1, dtype="q4_K")})
    compute = term(terms_of(inputs(shape=MIXED, ceilings=(BOX, only), threads=1)), "compute")
    assert compute is not None and compute.work.value == 2 * 8_000
    assert "products with Q4_K are in the rate of reading them" in compute.about


def test_a_pass_of_several_tokens_is_read_at_the_rate_of_memory() -> None:
    ledger = terms_of(inputs(shape=MIXED, ceilings=(BOX, ENGINE), threads=1, concurrency=2))
    weights, compute = term(ledger, "weights"), term(ledger, "compute")
    assert weights is not None and (weights.cost.ceiling, weights.cost.rate) == ("box", "memory")
    assert compute is not None


def test_how_much_faster_products_of_narrower_numbers_are_is_not_known() -> None:
    price = product_price(inputs(ceilings=(BOX,), threads=1), Operand("Q4_K", None))
    assert price is not None and price.confidence == "low"
    assert price.interval == Interval(1e6, 1e6, 64e6)
    assert price.cost.assumed == (
        "a rate of f32 for numbers of 8 bits: how much faster those are is not known, up to 64 times"
    )
    own = product_price(inputs(ceilings=(BOX,), threads=1), Operand("float32", None))
    assert own is not None and own.interval == Interval.exact(1e6) and own.cost.assumed is None


def test_of_other_formats_the_one_that_says_most_is_taken() -> None:
    chip = ceilings(
        "chip",
        {
            "plain": rate("matmul", 67.0, "TFLOP/s", dtype="f32"),
            "tensor": rate("matmul", 989.0, "TFLOP/s", dtype="bf16"),
        },
    )
    price = product_price(inputs(ceilings=(chip,)), Operand("int8", None))
    assert price is not None and (price.cost.rate, price.interval.high) == ("tensor", 4 * 989e12)


def test_formats_with_one_rate_name_it_though_some_are_wider() -> None:
    half = shape(("attention", "Q4_K", 10_000, 6_000), ("feed-forward", "f16", 8_000, 16_000))
    compute = term(terms_of(inputs(shape=half, ceilings=(BOX,), threads=1)), "compute")
    assert compute is not None and (compute.cost.ceiling, compute.cost.rate) == ("box", "f32")
    assert compute.cost.amount.value == pytest.approx(1) and 32 < compute.cost.amount.high < 64
    assert compute.cost.assumed == (
        "a rate of f32 for numbers of 8 bits: how much faster those are is not known, up to 64 times; "
        "a rate of f32 for numbers of 16 bits: how much faster those are is not known, up to 32 times"
    )


RATES = st.floats(1, 1e6).map(Interval.exact)
ENDS = st.lists(st.just(0.0) | st.floats(1e-3, 1e6), min_size=3, max_size=3).map(sorted)
"""Nothing, or some of a byte: quotients of numbers near 1e-308 lose their digits."""
PARTS = ENDS.map(lambda ends: Interval(ends[1], ends[0], ends[2]))


@given(st.dictionaries(st.sampled_from("abcd"), st.tuples(PARTS, RATES), min_size=1))
def test_a_rate_of_several_formats_takes_no_longer_than_its_parts(
    each: dict[str, tuple[Interval, Interval]],
) -> None:
    parts = {Operand(type, ONE): part for type, (part, _) in each.items()}
    prices = {Operand(type, ONE): _price(found) for type, (_, found) in each.items()}
    one = together(parts, prices)
    for end, fastest in (("low", "high"), ("high", "low")):
        apart = sum(getattr(parts[type], end) / getattr(prices[type].interval, fastest) for type in parts)
        whole = sum(getattr(part, end) for part in parts.values()) / getattr(one.interval, fastest)
        assert whole <= apart * (1 + 1e-9) if end == "low" else whole >= apart * (1 - 1e-9)


def _price(interval: Interval) -> Price:
    found = price_of(inputs(stated=said(memory_read=interval.value)), "memory-read")
    assert found is not None
    return found
