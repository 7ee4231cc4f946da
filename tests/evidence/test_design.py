"""The design of a plan against brute force: every relabelling counted, every order walked through."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.design import (
    balanced_order,
    is_balanced,
    legs_needed,
    mean_place,
    rounds,
    smallest_p,
)

few = st.integers(1, 5)


def _p_of_permutation(one: list[int], two: list[int]) -> Fraction:
    """The exact two-sided p of the difference of sums, every relabelling counted."""
    pooled = [*one, *two]

    def apart(group: tuple[int, ...]) -> Fraction:
        mine = [pooled[at] for at in group]
        theirs = [each for at, each in enumerate(pooled) if at not in group]
        return abs(Fraction(sum(mine), len(mine)) - Fraction(sum(theirs), len(theirs)))

    every = [apart(group) for group in combinations(range(len(pooled)), len(one))]
    observed = apart(tuple(range(len(one))))
    return Fraction(sum(each >= observed for each in every), len(every))


@given(few, few)
def test_the_smallest_p_of_a_permutation_is_reached_by_the_clearest_effect(one: int, other: int) -> None:
    """Values that no relabelling can pull further apart: all of one arm below all of the other, and growing."""
    low, high = [-(2**at) for at in range(one)], [10**6 + 2**at for at in range(other)]
    assert _p_of_permutation(low, high) == smallest_p("permutation", one, other)


@given(few, few, st.data())
def test_no_measurement_gives_less_than_the_smallest_p(one: int, other: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-50, 50), min_size=one + other, max_size=one + other))
    assert _p_of_permutation(values[:one], values[one:]) >= smallest_p("permutation", one, other)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8))
def test_no_rounds_give_less_than_the_smallest_p_of_sign_flip(differences: list[int]) -> None:
    every = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    p = Fraction(sum(each >= abs(sum(differences)) for each in every), len(every))
    smallest = smallest_p("sign-flip", len(differences), len(differences))
    assert p >= smallest
    if all(each > 0 for each in differences):
        assert p == smallest


@pytest.mark.parametrize(
    ("test", "alpha", "legs"),
    [("permutation", 0.05, 4), ("permutation", 0.01, 5), ("sign-flip", 0.05, 6), ("permutation", 0.4, 2)],
)
def test_the_legs_needed_are_the_fewest(test: str, alpha: float, legs: int) -> None:
    assert legs_needed(test, alpha) == legs
    assert smallest_p(test, legs, legs) <= alpha < smallest_p(test, legs - 1, legs - 1)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_a_balanced_order_reads_the_same_to_a_steady_drift(order: list[str]) -> None:
    """Where the order is balanced, a drift that grows with every leg shifts all arms' means alike, and only there."""
    means = [
        Fraction(sum(7 * place for place, arm in enumerate(order) if arm == each), order.count(each))
        for each in dict.fromkeys(order)
    ]
    same_counts = len(set(Counter(order).values())) == 1
    assert is_balanced(order) == (same_counts and len(set(means)) == 1)
    assert is_balanced([*order, *reversed(order)]) == same_counts


@given(st.integers(1, 12))
def test_the_order_that_is_proposed_is_rounds_and_fair_for_even_legs(each: int) -> None:
    order = balanced_order("a", "b", each)
    assert Counter(order) == {"a": each, "b": each}
    assert rounds(order, ["a", "b"]) == each
    assert is_balanced(order) == (each % 2 == 0)


def test_rounds_have_every_arm_once() -> None:
    assert rounds(list("abba"), ["a", "b"]) == 2
    assert rounds(list("aabb"), ["a", "b"]) is None
    assert rounds(list("abcab"), ["a", "b", "c"]) is None
    assert mean_place(list("abba"), "b") == Fraction(5, 2)
