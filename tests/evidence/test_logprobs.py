"""Bounds of the distance of two distributions of which only the top k are told: they hold whatever is hidden."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.logprobs import Position, compared, fault_of

WEIGHTS = st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=12)


def distribution(weights: Sequence[float]) -> list[float]:
    return [weight / math.fsum(weights) for weight in weights]


def position(probabilities: Sequence[float], k: int, chosen: int = 0) -> Position:
    """The k likeliest tokens of a distribution."""
    top = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])[:k]
    return Position(chosen, str(chosen), {token: math.log(probabilities[token]) for token in top})


@st.composite
def two(draw: st.DrawFn) -> tuple[list[float], list[float], int, int]:
    """Two distributions over the same tokens, and how many of each are told."""
    size = draw(st.integers(2, 12))
    weights = st.lists(st.floats(1e-3, 1.0), min_size=size, max_size=size)
    k = st.integers(1, size)
    return distribution(draw(weights)), distribution(draw(weights)), draw(k), draw(k)


@given(two())
def test_the_bounds_hold_the_truth(given_: tuple[list[float], list[float], int, int]) -> None:
    p, q, k, m = given_
    (apart,) = compared([position(p, k)], [position(q, m)]).positions
    tv = math.fsum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert apart.tv[0] - 1e-9 <= tv <= apart.tv[1] + 1e-9
    for bound, one, other in ((apart.kl[0], p, q), (apart.kl[1], q, p)):
        assert 0 <= bound <= math.fsum(a * math.log(a / b) for a, b in zip(one, other, strict=True)) + 1e-9


@given(two())
def test_both_ways_are_the_same(given_: tuple[list[float], list[float], int, int]) -> None:
    p, q, k, m = given_
    (there,) = compared([position(p, k)], [position(q, m)]).positions
    (back,) = compared([position(q, m)], [position(p, k)]).positions
    assert there.tv == pytest.approx(back.tv)
    assert there.kl == pytest.approx(back.kl[::-1])
    assert (there.flip is None) == (back.flip is None)


@given(WEIGHTS, st.data())
def test_equal_is_zero_and_what_is_hidden_is_not(weights: list[float], data: st.DataObject) -> None:
    p = distribution(weights)
    k = data.draw(st.integers(1, len(p)))
    (apart,) = compared([position(p, k)], [position(p, k)]).positions
    assert apart.tv[0] == 0 and apart.kl == (0.0, 0.0) and apart.flip is None
    assert apart.tv[1] == pytest.approx(1 - math.fsum(sorted(p, reverse=True)[:k]), abs=1e-9)


@given(two())
def test_all_told_is_exact(given_: tuple[list[float], list[float], int, int]) -> None:
    p, q, *_ = given_
    (apart,) = compared([position(p, len(p))], [position(q, len(q))]).positions
    assert apart.tv[0] == pytest.approx(apart.tv[1], abs=1e-9)


def test_nothing_in_common_is_nothing_known_but_the_rest() -> None:
    (apart,) = compared(
        [Position(1, "a", {1: math.log(0.9)})], [Position(1, "a", {2: math.log(0.8)})]
    ).positions
    assert (apart.common, apart.tv) == (0, (0.0, 1.0))


def test_a_flip_has_the_margins_of_both_sides() -> None:
    one = {1: math.log(0.6), 2: math.log(0.3)}
    other = {2: math.log(0.5), 1: math.log(0.4)}
    (apart,) = compared([Position(1, "a", one)], [Position(1, "a", other)]).positions
    assert apart.flip is not None
    assert apart.flip.margins == pytest.approx((math.log(2), math.log(1.25)))
    (apart,) = compared([Position(1, "a", one)], [Position(1, "a", {3: math.log(0.5)})]).positions
    assert apart.flip is not None and apart.flip.margins == (None, None)


def test_after_another_token_the_prefix_is_another_one() -> None:
    same = Position(1, "a", {1: -0.1})
    found = compared([same, same, same], [same, Position(2, "b", {1: -0.2, 2: -1.8}), same])
    assert (len(found.positions), found.diverged, found.shown) == (2, 2, ("a", "b"))
    assert (found.equal, found.lengths) == (2, (3, 3))


@pytest.mark.parametrize(
    ("logprobs", "said"),
    [
        ([-0.1, math.nan], "is nan: not a finite number"),
        ([math.inf], "is inf: not a finite number"),
        ([-math.inf], "is -inf: not a finite number"),
        ([0.5], "no probability is above 1"),
        ([math.log(0.7), math.log(0.4)], "the probabilities add up to 1.1, more than 1"),
        ([math.log(0.7), math.log(0.3)], None),
        ([math.log(0.70001), math.log(0.30001)], None),
        ([-3.4028234663852886e38], None),
    ],
)
def test_what_cannot_be_so(logprobs: list[float], said: str | None) -> None:
    fault = fault_of(Position(0, "", dict(enumerate(logprobs))))
    assert fault is None if said is None else said in (fault or "")
