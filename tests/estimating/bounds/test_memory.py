"""Whether a model fits: what has to be held, by hand, beside what documents say there is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.units import base
from hio_validate.estimating.bounds.memory import memory_of, missing_of
from tests.estimating.bounds.large import LARGE, TOKEN, by, device, host, of, parts
from tests.estimating.workloads import inputs, said, shape


def test_a_model_larger_than_its_device_cannot_fit() -> None:
    found = of(device(), held_in="device", concurrency=4)
    assert parts(found) == {"weights": 140e9, "kv": 4 * 1000 * TOKEN}
    assert base(found.needed).value == 140e9 + 4000 * TOKEN
    assert found.capacity is not None and base(found.capacity).value == 80e9
    assert (found.per, found.ceiling, found.outcome) == ("device", "a-80", "cannot-fit")


def test_divided_over_devices_each_has_its_part() -> None:
    found = of(device(), held_in="device", concurrency=4, devices=8, sharding=by())
    assert parts(found) == {"weights": 140e9 / 8, "kv": 4000 * TOKEN / 8}
    assert found.outcome == "within"


def test_devices_without_a_word_on_sharding_divide_it_evenly() -> None:
    even = of(device(20_000_000_000), held_in="device", concurrency=4, devices=8)
    assert parts(even) == {"weights": 140e9 / 8, "kv": 4000 * TOKEN / 8}
    assert even == of(device(20_000_000_000), held_in="device", concurrency=4, devices=8, sharding=by())
    assert of(device(10_000_000_000), held_in="device", devices=8).outcome == "cannot-fit"
    assert of(device(140_000_000_000), held_in="host", devices=8).parts[0].about == "its tensors"


def test_attention_in_parts_holds_its_weights_whole_and_its_own_requests() -> None:
    found = of(device(), held_in="device", concurrency=9, devices=8, sharding=by(attention=2, groups=4))
    assert parts(found)["weights"] == 20e9 / 2 + 120e9 / 8
    kv = next(each.amount for each in found.parts if each.name == "kv")
    assert (base(kv).low, base(kv).high) == (3000 * TOKEN / 2, 9000 * TOKEN / 2)


def test_no_more_requests_are_held_than_there_are_slots() -> None:
    assert parts(of(device(), held_in="device", concurrency=9, slots=2))["kv"] == 2000 * TOKEN


def test_what_lies_between_the_ends_is_open() -> None:
    """Two replicas: half of fifty requests each at least, all of them at most."""
    over = by(weights=1, attention=1, experts=1, replicas=2)
    found = of(device(150_000_000_000), held_in="device", concurrency=50, sharding=over)
    assert (base(found.needed).low, base(found.needed).high) == (
        140e9 + 25_000 * TOKEN,
        140e9 + 50_000 * TOKEN,
    )
    assert found.outcome == "open"


def test_a_capacity_that_is_not_known_is_said_where_it_may_matter() -> None:
    little = shape(("feed-forward", "f16", 1000, 2000))
    here = host()
    for model, matters in ((LARGE, True), (little, False)):
        asked = inputs(shape=model, ceilings=(here,), held_in="host", prompt_tokens=9, generated_tokens=1)
        assert bool([*missing_of(asked, memory_of(asked))]) is matters
    known = inputs(shape=LARGE, ceilings=(host(1),), held_in="host")
    assert [*missing_of(known, memory_of(known))] == []


def test_nothing_is_said_where_the_place_or_the_shape_is_not_known() -> None:
    assert memory_of(inputs(shape=LARGE, ceilings=(device(),))) is None
    assert memory_of(inputs(ceilings=(device(),), held_in="device")) is None
    assert memory_of(inputs("setup", shape=LARGE, ceilings=(device(),), held_in="device")) is None


def test_weights_alone_count_where_lengths_are_not_known_and_while_loading() -> None:
    unknown = of(device(), held_in="device", prompt_tokens=None, generated_tokens=None)
    assert [*parts(unknown)] == ["weights"] == [*parts(of(device(), path="load", held_in="device"))]
    assert unknown.outcome == "cannot-fit"


TOO_FEW: Any = {"prompt_tokens": None, "generated_tokens": None}


@pytest.mark.parametrize(
    ("lengths", "stated", "outcome"),
    [
        ({}, {}, "within"),
        (TOO_FEW, {}, "open"),
        ({"prompt_tokens": None}, {}, "open"),
        ({"generated_tokens": None}, {}, "open"),
        ({"generated_tokens": None}, {"generated_tokens": 100}, "within"),
        (TOO_FEW, {"memory_beside": 1e15}, "cannot-fit"),
    ],
    ids=["known", "none", "answer-only", "prompt-only", "stated", "too-large-anyway"],
)
def test_lengths_that_are_not_known_are_not_taken_for_nothing(
    lengths: dict[str, Any], stated: dict[str, Any], outcome: str
) -> None:
    """Neither fits nor does not fit what nobody knows; what is known counts all the same."""
    told: dict[str, Any] = {"prompt_tokens": 900, "generated_tokens": 100} | lengths
    asked = inputs(
        shape=LARGE,
        ceilings=(device(10**12),),
        held_in="device",
        kv_cache="paged",
        stated=said(**stated),
        **told,
    )
    found = memory_of(asked)
    assert found is not None and found.outcome == outcome
    missing = [*missing_of(asked, found)]
    assert bool(missing) is (outcome == "open")
    for each in missing:
        assert each.startswith("whether it fits: the K/V of a whole request")
        assert ("prompt-tokens=N" in each) is (told["prompt_tokens"] is None)
        assert ("generated-tokens=N" in each) is (told["generated_tokens"] is None)


def test_a_prompt_alone_is_the_least_that_is_held() -> None:
    found = of(device(10**12), held_in="device", generated_tokens=None)
    assert parts(found)["kv"] == 900 * TOKEN and found.parts[1].about.endswith("of at least 900 tokens")


@pytest.mark.parametrize(
    ("attention", "outcome", "says"),
    [
        ([{"layers": 3, "kv_heads": 1, "key_size": 8, "value_size": 8}], "within", None),
        ([{"layers": 3, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 10}], "within", None),
        (
            [{"layers": 3, "kv_heads": 0, "key_size": 0, "value_size": 0}],
            "open",
            "what 3 layers of shape-1 keep",
        ),
        ([], "open", "tells no layers that attend"),
    ],
    ids=["kv", "states", "neither", "no-layers"],
)
def test_layers_of_which_nothing_is_told_leave_it_open(
    attention: list[Any], outcome: str, says: str | None
) -> None:
    small = shape(("attention", "bf16", 100, 200), **({"attention": attention} if attention else {}))
    asked = inputs(
        shape=small,
        ceilings=(device(),),
        held_in="device",
        kv_cache="paged",
        prompt_tokens=9,
        generated_tokens=1,
    )
    found = memory_of(asked)
    assert found is not None and found.outcome == outcome
    missing = [*missing_of(asked, found)]
    assert [says in each for each in missing] == [True] if says else missing == []
    assert of(device(), model=small, path="load", held_in="device").outcome == "within"


@pytest.mark.parametrize(
    ("engine", "certain", "outcome"),
    [
        ({"kv_cache": "paged"}, 1, "open"),
        ({"kv_cache": None}, 1, "open"),
        ({"kv_cache": "at-start", "slots": None}, 1, "open"),
        ({"kv_cache": "at-start"}, 40, "cannot-fit"),
    ],
    ids=["paged", "unknown", "unknown-slots", "at-start"],
)
def test_only_what_is_allocated_for_slots_is_certain_of_all_requests(
    engine: dict[str, Any], certain: int, outcome: str
) -> None:
    """140 GB of weights, and 40 requests of 0.33 GB: of a paged engine all but one may wait."""
    found = of(device(150_000_000_000), held_in="device", concurrency=40, **engine)
    kv = base(next(each.amount for each in found.parts if each.name == "kv"))
    assert (kv.value, kv.low, kv.high) == (40_000 * TOKEN, certain * 1000 * TOKEN, 40_000 * TOKEN)
    assert found.outcome == outcome
    assert of(device(140_100_000_000), held_in="device", concurrency=40, **engine).outcome == "cannot-fit"


def test_what_is_stated_beside_counts() -> None:
    asked = inputs(
        shape=LARGE, ceilings=(device(140_000_000_000),), held_in="device", stated=said(memory_beside=1e9)
    )
    found = memory_of(asked)
    assert found is not None and parts(found) == {"weights": 140e9, "stated": 1e9}
    assert found.outcome == "cannot-fit"


def test_weights_that_are_quantised_while_they_are_loaded_take_their_bytes() -> None:
    found = of(device(), held_in="device", loaded_as="fp8")
    weights = next(each.amount for each in found.parts if each.name == "weights")
    assert (base(weights).value, base(weights).low) == (70e9, 70e9)
    assert 70e9 < base(weights).high <= 70e9 * (1 + 4 / 8192) + 1
    assert found.outcome == "within"


def test_states_are_held_for_each_request() -> None:
    hybrid = shape(
        ("attention", "bf16", 100, 200),
        attention=[{"layers": 3, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 1000}],
    )  # fmt: skip
    found = of(
        device(), model=hybrid, held_in="device", concurrency=4, state_type="f32", sharding=by(attention=2)
    )
    assert parts(found)["state"] == 4 * 3000 * 4 / 2


def test_a_length_that_is_stated_as_an_interval_makes_the_sum_as_wide() -> None:
    asked = inputs(
        shape=LARGE, ceilings=(device(),), held_in="device", prompt_tokens=1000, generated_tokens=1, key_type="f16",
        value_type="f16", stated=said(prompt_tokens=(1000, 10, 5000)),
    )  # fmt: skip
    found = memory_of(asked)
    assert found is not None
    kv = base(next(each.amount for each in found.parts if each.name == "kv"))
    assert (kv.value, kv.low, kv.high) == (1001 * TOKEN, 11 * TOKEN, 5001 * TOKEN)


@given(st.integers(1, 10**12), st.integers(1, 64), st.integers(1, 8))
def test_what_cannot_fit_cannot_with_less_memory_either(memory: int, requests: int, devices: int) -> None:
    over = by(weights=devices, attention=devices, experts=devices)
    more, less = (
        of(device(size), held_in="device", concurrency=requests, sharding=over).outcome
        for size in (memory, max(1, memory // 2))
    )
    assert more != "cannot-fit" or less == "cannot-fit"
    assert less != "within" or more == "within"
