"""Weights that an engine quantises while it loads them: which, and between which bytes."""

from __future__ import annotations

import pytest

from hio_validate.costs.loaded import SCHEMES, as_loaded, quantises
from hio_validate.models.shape import Shape, Weights
from tests.estimating.workloads import shape

KEPT = {"layers": 2, "kv_heads": 2, "key_size": 16, "value_size": 16}
ROWS = (
    ("embedding", "bf16", 64_000, 128_000), ("attention", "bf16", 25_600, 51_200),
    ("feed-forward", "bf16", 98_304, 196_608), ("norm", "bf16", 128, 256), ("output", "bf16", 64_000, 128_000),
)  # fmt: skip
DENSE: Shape = shape(*ROWS, embedding=64, attention=[KEPT]).model


def rows(of: Shape) -> dict[str, Weights]:
    return {each.role: each for each in of.weights}


def test_linear_layers_become_one_byte_a_number_and_scales() -> None:
    best, least, most = map(rows, as_loaded(DENSE, "fp8"))
    assert (best["feed-forward"].type, best["feed-forward"].bytes) == ("fp8", 98_304)
    assert least["feed-forward"].bytes == 98_304
    assert most["feed-forward"].bytes == 98_304 + 98_304 * 4 // 64  # a f32 for each row of 64
    for each in (best, least, most):
        assert [(each[role].type, each[role].bytes) for role in ("embedding", "norm", "output")] == [
            ("bf16", 128_000), ("bf16", 256), ("bf16", 128_000),
        ]  # fmt: skip


def test_a_role_that_holds_more_than_linear_layers_is_the_checkpoint_s_at_most() -> None:
    """A router among a feed-forward, a convolution among what stands for attention, what a latent is absorbed with."""
    mixture = shape(*ROWS, ("experts", "bf16", 8000, 16_000), embedding=64, experts={"count": 4, "active": 2},
                    attention=[{**KEPT, "value_size": 0}]).model  # fmt: skip
    _, least, most = map(rows, as_loaded(mixture, "fp8"))
    assert (least["feed-forward"].bytes, most["feed-forward"].bytes) == (98_304, 196_608)
    assert (least["attention"].bytes, most["attention"].bytes) == (25_600, 51_200)
    assert most["experts"].bytes == 8000 + 500
    hybrid = shape(*ROWS, embedding=64, attention=[KEPT, {**KEPT, "kv_heads": 0, "state": 100}]).model
    assert rows(as_loaded(hybrid, "fp8")[2])["attention"].bytes == 51_200


def test_experts_alone_and_four_bits() -> None:
    mixture = shape(
        *ROWS, ("experts", "bf16", 8192, 16_384), embedding=64, experts={"count": 4, "active": 2}
    ).model
    best = rows(as_loaded(mixture, "experts_int8")[0])
    assert (best["experts"].type, best["experts"].bytes, best["attention"].type) == ("int8", 8192, "bf16")
    found = [rows(each)["feed-forward"].bytes for each in as_loaded(DENSE, "bitsandbytes")]
    assert found[:2] == [98_304 * 9 // 16, 98_304 * 33 // 64] and found[2] >= found[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_checkpoint_that_is_narrow_already_stays_as_it_is(scheme: str) -> None:
    narrow = shape(("attention", "fp8", 100, 100), ("output", "bf16", 10, 20)).model
    assert not quantises(narrow, scheme)
    assert all(each.weights == narrow.weights for each in as_loaded(narrow, scheme))


def test_of_no_known_scheme_it_is_as_it_is_stored() -> None:
    assert as_loaded(DENSE, None) == (DENSE, DENSE, DENSE) == as_loaded(DENSE, "awq")
    assert not quantises(DENSE, "awq")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_ends_lie_around_the_best_guess(scheme: str) -> None:
    best, least, most = as_loaded(DENSE, scheme)
    for middle, low, high, stored in zip(
        best.weights, least.weights, most.weights, DENSE.weights, strict=True
    ):
        assert low.bytes <= middle.bytes <= high.bytes <= stored.bytes
