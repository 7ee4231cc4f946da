"""What is kept of each sequence: K/V as engines divide it, states of fixed size."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.models.estimate import Term
from hio_validate.repo import Item
from tests.estimating.workloads import ceilings, inputs, rate, shape

KEPT = {"layers": 10, "kv_heads": 4, "key_size": 64, "value_size": 64}
STATE = {"layers": 30, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 500}
PLAIN = shape(("attention", "bf16", 1000, 2000), embedding=64, heads=8, attention=[KEPT])
HYBRID = shape(("attention", "bf16", 1000, 2000), embedding=64, heads=8, attention=[KEPT, STATE])
TOKEN = 10 * 4 * 128 * 2
RATES = ceilings("box", {"read": rate("memory-read", 1.0, "GB/s")}, per="device")


def terms(model: Item = PLAIN, path: str = "decode-token", **workload: Any) -> dict[str, Term]:
    told = {"prompt_tokens": 100, "generated_tokens": 2, "key_type": "f16", "value_type": "f16", **workload}
    metric = {"decode-token": "tpot_ms", "prefill-token": "prefill_tps", "request": "ttft_ms"}[path]
    asked = inputs(path, metric, shape=model, ceilings=(RATES,), **told)
    return {term.name: term for term in terms_of(asked).terms}


def read(**workload: Any) -> tuple[float, float, float]:
    work = base(terms(**workload)["kv-read"].work)
    return work.value / TOKEN, work.low / TOKEN, work.high / TOKEN


def by(**over: int) -> dict[str, int]:
    return {"weights": 8, "attention": 8, "experts": 8, **over}


def test_heads_are_divided_and_the_rest_is_held_by_several() -> None:
    assert read() == (101, 101, 101)
    assert read(devices=8) == (101 / 4,) * 3 == read(devices=8, sharding=by())


def test_positions_are_divided_beside_heads() -> None:
    """vLLM: 8 devices, 4 heads, so that two of them would hold the same."""
    assert read(devices=8, sharding=by(positions=2)) == (101 / 8,) * 3


def test_the_fullest_group_reads_an_even_part_of_the_requests_at_least() -> None:
    """SGLang: 8 devices in 4 groups of 2; ten requests are three for one of them, where all decode."""
    value, low, high = read(devices=8, concurrency=10, sharding=by(attention=2, groups=4))
    assert (value, low, high) == (3 * 101 / 2, 101 / 2, 10 * 101 / 2)


def test_one_request_in_groups_is_read_by_one_of_them() -> None:
    """Fewer devices divide its heads than divide the weights: more than where all of them did."""
    assert read(devices=8, sharding=by(attention=1, groups=8)) == (101, 101, 101)


@pytest.mark.parametrize(("path", "parts"), [("decode-token", 4), ("prefill-token", 8)])
def test_stages_divide_the_k_and_v_of_a_prompt_and_not_of_a_token(path: str, parts: int) -> None:
    sharding = {"stages": 2, "weights": 4, "attention": 4, "experts": 4}
    whole, divided = (
        terms(path=path, microbatch=50, **more)["kv-write"]
        for more in ({}, {"sharding": sharding, "devices": parts})
    )
    assert base(divided.work).value == pytest.approx(base(whole.work).value / parts)


def test_a_state_is_read_and_written_once_a_pass() -> None:
    work = base(terms(HYBRID, state_type="f32", concurrency=3)["state"].work)
    assert (work.value, work.low, work.high) == (2 * 3 * 15_000 * 4, 15_000 * 4, 2 * 3 * 15_000 * 4)


def test_a_state_of_a_prompt_is_read_and_written_by_each_of_its_passes() -> None:
    request = terms(HYBRID, "request", state_type="f32", microbatch=30)["state"]
    assert base(request.work).value == 4 * 2 * 15_000 * 4
    token = terms(HYBRID, "prefill-token", state_type="f32", microbatch=30)["state"]
    assert base(token.work).value == pytest.approx(4 * 2 * 15_000 * 4 / 100)


def test_a_state_is_divided_by_the_devices_that_attend() -> None:
    whole, divided = (
        terms(HYBRID, state_type="f32", **more)["state"]
        for more in ({}, {"devices": 8, "sharding": by(attention=2)})
    )
    assert base(divided.work).value == base(whole.work).value / 2


def test_a_state_of_an_unknown_format_is_assumed_and_said() -> None:
    asked = inputs(
        shape=HYBRID,
        ceilings=(RATES,),
        prompt_tokens=100,
        generated_tokens=2,
        key_type="f16",
        value_type="f16",
    )
    ledger = terms_of(asked)
    assert [(each.name, each.amount.low, each.amount.high) for each in ledger.assumptions] == [
        ("state-type", 2.0, 4.0)
    ]
    assert not any("left out" in each for each in ledger.missing)


def test_layers_that_tell_no_state_are_left_out_and_said() -> None:
    untold = shape(("attention", "bf16", 1000, 2000), attention=[KEPT, {**STATE, "state": None}])
    asked = inputs(shape=untold, ceilings=(RATES,), prompt_tokens=100, generated_tokens=2)
    ledger = terms_of(asked)
    assert "state" not in {term.name for term in ledger.terms}
    assert any("30 layers of shape-1 keep no K/V of their own" in each for each in ledger.missing)


def test_without_a_rate_of_memory_a_state_has_no_term() -> None:
    asked = inputs(shape=HYBRID, prompt_tokens=100, generated_tokens=2, key_type="f16", value_type="f16")
    ledger = terms_of(asked)
    assert ledger.terms == () and any(
        "no rate memory-read for the term state" in each for each in ledger.missing
    )


def test_weights_that_are_quantised_while_they_are_loaded_are_read_as_such() -> None:
    wide = shape(
        ("feed-forward", "bf16", 64_000, 128_000),
        ("output", "bf16", 100, 200),
        embedding=64,
        attention=[KEPT],
    )
    term = terms(wide, loaded_as="fp8")["weights"]
    work = base(term.work)
    assert (work.value, work.low, work.high) == (64_200, 64_200, 68_200)
    assert "quantised to fp8 while they are loaded (quantization/fp8.py of vLLM and SGLang)" in term.source
    stored = terms(wide)["weights"]
    assert base(stored.work).value == pytest.approx(128_200) and "quantised" not in stored.source
    narrow = shape(("feed-forward", "fp8", 64_000, 64_000), attention=[KEPT])
    assert terms(narrow, loaded_as="fp8")["weights"] == terms(narrow)["weights"]
