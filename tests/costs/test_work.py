"""Work, each number computed by hand, and what has to hold whatever the shape."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.interval import Interval, total
from hio_validate.costs.work import (
    attention_flops_over,
    distinct_experts,
    draft_bytes,
    kv_bytes_per_token,
    kv_read_over,
    products_by_type,
    stored_bytes,
    weights_by_type,
    weights_per_pass,
)
from tests.costs.shapes import DENSE, EXPERTS, TIED, WINDOWS, shape

ONE = Interval.exact(1.0)
TOKENS = st.integers(1, 4000).map(lambda count: Interval.exact(float(count)))
SHAPES = st.sampled_from((DENSE, TIED, WINDOWS, EXPERTS))


def at(populated: int) -> range:
    """One token that sees so many."""
    return range(populated, populated + 1)


def test_one_token_reads_all_layers_the_output_and_one_row_of_the_embedding() -> None:
    assert weights_per_pass(DENSE, ONE) == Interval.exact(3400 + 1440 + 2880 + 256 + 34)


def test_more_tokens_read_more_rows_and_no_layer_twice() -> None:
    ten = weights_per_pass(DENSE, Interval.exact(10.0))
    assert (ten.low, ten.value, ten.high) == (8010, 8316, 8316)  # at least the same row each time


def test_a_tied_table_is_streamed_once_as_output_and_not_looked_up_beside() -> None:
    assert weights_per_pass(TIED, ONE) == Interval.exact(3400 + 1440 + 2880 + 256)


def test_without_logits_the_output_is_not_read() -> None:
    assert weights_per_pass(DENSE, ONE, output=False) == Interval.exact(1440 + 2880 + 256 + 34)
    assert weights_per_pass(TIED, ONE, output=False) == Interval.exact(1440 + 2880 + 256 + 34)


def test_a_table_is_the_output_where_no_tensor_is() -> None:
    unknown = TIED.model_copy(update={"tied": None})
    assert weights_per_pass(unknown, ONE) == weights_per_pass(TIED, ONE)
    assert weights_per_pass(DENSE.model_copy(update={"tied": None}), ONE) == weights_per_pass(DENSE, ONE)


def test_rows_of_a_table_whose_rows_are_not_known_may_be_none_or_all() -> None:
    bare = DENSE.model_copy(update={"vocabulary": None, "embedding": None})
    found = weights_per_pass(bare, ONE)
    assert (found.low, found.value, found.high) == (7976, 7976, 11376)
    by_width = DENSE.model_copy(update={"vocabulary": None})
    assert weights_per_pass(by_width, ONE) == weights_per_pass(DENSE, ONE)


def test_other_tensors_may_be_read_or_not() -> None:
    found = weights_per_pass(shape([("other", "f16", 10, 20), ("attention", "f16", 5, 10)]), ONE)
    assert (found.low, found.value, found.high) == (10, 30, 30)


def test_bytes_by_format_add_up() -> None:
    found = weights_by_type(DENSE, ONE)
    assert set(found) == {"q8_0", "Q4_K", "f32"}
    assert sum(each.value for each in found.values()) == weights_per_pass(DENSE, ONE).value


def test_one_token_meets_the_active_experts_and_drafting_layers_stand_apart() -> None:
    assert weights_per_pass(EXPERTS, ONE) == Interval.exact(200 + 16000 * 2 / 8)
    assert draft_bytes(EXPERTS) == Interval(25.0, 25.0, 100.0)
    assert stored_bytes(EXPERTS) == Interval.exact(16300.0)


def test_a_batch_meets_the_expected_number_of_experts() -> None:
    found = distinct_experts(8, 2, Interval.exact(2.0))
    assert (found.low, found.high) == (2, 4)
    assert found.value == pytest.approx(8 * (1 - 0.75**2))


def test_the_expected_number_of_experts_is_what_chance_gives() -> None:
    chance, rounds = random.Random(7), 4000
    met = sum(len({e for _ in range(5) for e in chance.sample(range(16), 3)}) for _ in range(rounds)) / rounds
    assert distinct_experts(16, 3, Interval.exact(5.0)).value == pytest.approx(met, rel=0.01)


def test_k_and_v_of_a_token_in_all_layers() -> None:
    assert kv_bytes_per_token(DENSE, "f16", "f16") == Interval.exact(2 * 2 * (8 * 2 + 8 * 2))
    assert kv_bytes_per_token(DENSE, "q8_0", "f16").value == pytest.approx(2 * 2 * (8 * 34 / 32 + 16))
    assert kv_bytes_per_token(WINDOWS, "f16", "f16") == Interval.exact(4 * 64.0)


def test_a_window_reads_no_further_and_layers_without_k_and_v_nothing() -> None:
    assert kv_read_over(WINDOWS, at(100), "f16", "f16") == Interval.exact(64 * 100 + 3 * 64 * 10)
    assert kv_read_over(WINDOWS, at(8), "f16", "f16") == Interval.exact(4 * 64 * 8)
    assert kv_read_over(WINDOWS, range(0), "f16", "f16") == Interval.exact(0)


def test_an_unknown_format_of_k_is_an_interval() -> None:
    found = kv_bytes_per_token(DENSE, None, "f16")
    assert found.low < found.value < found.high
    assert found.contains(kv_bytes_per_token(DENSE, "q8_0", "f16").value)


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 7), st.integers(1, 5))
def test_the_mean_over_positions_is_that_of_each_position(
    start: int, count: int, step: int, tokens: int
) -> None:
    positions = range(start, start + count * step, step)
    read = [64 * each + 3 * 64 * min(each, 10 + tokens - 1) for each in positions]
    assert kv_read_over(WINDOWS, positions, "f16", "f16", tokens).value == pytest.approx(sum(read) / count)
    multiplied = [2 * 4 * 16 * (each + 3 * min(each, 10)) for each in positions]
    assert attention_flops_over(WINDOWS, positions).value == pytest.approx(sum(multiplied) / count)


@pytest.mark.parametrize(
    ("first", "last"), [(1, 1), (1, 10), (1, 11), (3, 27), (10, 10), (11, 11), (7, 1000)]
)
def test_within_chunks_a_token_looks_back_to_where_its_own_begins(first: int, last: int) -> None:
    """Places 1 to 10, 11 to 20, ...: a token at 11 sees itself alone."""
    norm = [("norm", "f32", 1, 4)]
    layers = {"layers": 1, "kv_heads": 1, "key_size": 1, "value_size": 1, "window": 10, "chunked": True}
    model, places = shape(norm, heads=1, attention=[layers]), range(first, last + 1)
    seen = [(place - 1) % 10 + 1 for place in places]
    found = kv_read_over(model, places, "i8", "i8")
    assert found.is_exact and found.value == pytest.approx(2 * sum(seen) / len(seen))
    batches = kv_read_over(model, range(last, last + 1, 4), "i8", "i8", 4)
    assert batches.contains(2.0 * min(last, 4))


def test_operations_are_two_for_each_number_passed_and_attention_by_what_is_populated() -> None:
    assert products_by_type(DENSE, ONE, ONE) == {
        "q8_0": Interval.exact(2 * 3200), "Q4_K": Interval.exact(2 * (2560 + 5120)),
    }  # fmt: skip
    assert attention_flops_over(DENSE, at(10)) == Interval.exact(2 * 2 * 4 * (8 + 8) * 10)
    assert products_by_type(DENSE, Interval.exact(5.0), ONE)["q8_0"] == Interval.exact(6400.0)
    assert products_by_type(TIED, Interval.exact(5.0), ONE)["q8_0"] == Interval.exact(6400.0)


def test_other_tensors_may_be_multiplied_or_not() -> None:
    found = products_by_type(shape([("other", "f16", 10, 20)]), Interval.exact(3.0), ONE)
    assert found == {"f16": Interval(60.0, 0.0, 60.0)}


def test_layers_without_k_and_v_leave_the_heads_of_the_others_certain() -> None:
    kept = DENSE.attention[0]
    hybrid = DENSE.model_copy(update={"attention": [kept, kept.model_copy(update={"kv_heads": 0})]})
    assert attention_flops_over(hybrid, at(1)) == attention_flops_over(DENSE, at(1))
    assert not attention_flops_over(WINDOWS, at(1)).is_exact  # two kinds of layers: heads are known at most


def test_a_latent_is_read_once_by_all_heads_or_expanded_for_each() -> None:
    """DeepSeek-V3, one layer: 128 heads; a latent of 576 numbers, or 192 of K and 128 of V a head."""
    latent = {"layers": 1, "kv_heads": 1, "key_size": 576, "value_size": 0}
    told = {**latent, "expanded_key_size": 192, "expanded_value_size": 128}
    norm = [("norm", "f32", 1, 4)]
    model, unsaid = (shape(norm, heads=128, attention=[each]) for each in (told, latent))
    most = 2.0 * 128 * (576 + 576) * 10
    assert attention_flops_over(model, at(10)) == Interval(most, 2.0 * 128 * (192 + 128) * 10, most)
    assert attention_flops_over(unsaid, at(10)) == Interval(most, 0.0, most)
    assert kv_bytes_per_token(model, "bf16", "bf16") == Interval.exact(576 * 2.0)


def test_a_drafted_token_passes_its_experts_and_the_output() -> None:
    """A draft layer of 100 bytes; the output takes 60. Of a mixture of 8, two are passed."""
    weights = [("draft", "i8", 100, 100), ("output", "i8", 60, 60), ("experts", "i8", 8, 8)]
    assert draft_bytes(shape(weights, draft_layers=1)) == Interval(160.0, 100.0, 160.0)
    mixture = shape(weights, draft_layers=1, experts={"count": 8, "active": 2})
    assert draft_bytes(mixture) == Interval(85.0, 25.0, 160.0)
    assert draft_bytes(shape([("output", "i8", 60, 60)])) == Interval.exact(0.0)


def test_a_token_is_multiplied_with_its_own_experts_however_many_the_batch_meets() -> None:
    found = products_by_type(EXPERTS, Interval.exact(4.0), Interval.exact(4.0))
    assert found["bf16"] == Interval.exact(4 * (2 * 100 + 2 * 8000 * 2 / 8))


@given(SHAPES, TOKENS, TOKENS)
def test_more_tokens_are_never_less_work(model: object, one: Interval, other: Interval) -> None:
    few, many = sorted((one, other), key=lambda each: each.value)
    for work in (
        lambda tokens: weights_per_pass(model, tokens),
        lambda tokens: total(*products_by_type(model, tokens, tokens).values()),
        lambda tokens: kv_read_over(model, at(int(tokens.value)), "f16", "q8_0"),
        lambda tokens: attention_flops_over(model, at(int(tokens.value))),
    ):
        less, more = work(few), work(many)
        assert less.low <= more.low and less.high <= more.high
        assert less.value <= more.value * (1 + 1e-12)


@given(SHAPES, st.lists(st.integers(1, 900), min_size=3, max_size=3).map(sorted))
def test_an_interval_of_tokens_contains_the_work_of_each(model: object, ends: list[int]) -> None:
    low, value, high = (float(each) for each in ends)
    whole = weights_per_pass(model, Interval(value, low, high))
    for each in (low, value, high):
        assert whole.low <= weights_per_pass(model, Interval.exact(each)).value * (1 + 1e-12)
        assert weights_per_pass(model, Interval.exact(each)).value <= whole.high * (1 + 1e-12)
