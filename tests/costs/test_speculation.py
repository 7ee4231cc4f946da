"""Drafting: tokens a pass as Leviathan et al. count them, and the acceptance at which it is even."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.speculation import (
    accepted_share,
    break_even,
    break_even_share,
    cost,
    expected_tokens,
    speedup,
)

ACCEPTANCES = st.floats(0, 1)
LENGTHS = st.integers(0, 16)


@pytest.mark.parametrize(
    ("acceptance", "drafted", "tokens"),
    [(0.0, 5, 1.0), (1.0, 5, 6.0), (0.5, 1, 1.5), (0.8, 4, (1 - 0.8**5) / 0.2), (0.9, 0, 1.0)],
)
def test_the_expected_tokens(acceptance: float, drafted: int, tokens: float) -> None:
    assert expected_tokens(acceptance, drafted) == pytest.approx(tokens)


def test_the_speedup_of_the_paper() -> None:
    """Table 2: T5-small drafts for T5-XXL at temperature 0, a = 0.75, k = 7, c well below 0.05; measured 3.4."""
    assert speedup(0.75, 7, 0.02) == pytest.approx((1 - 0.75**8) / (0.25 * (7 * 0.02 + 1)))
    assert speedup(0.75, 7, 0.05) < 3.4 < speedup(0.75, 7, 0.0)


@given(ACCEPTANCES, st.integers(1, 16), st.floats(0, 1), st.floats(1, 4))
def test_that_the_break_even_is_where_gain_turns_into_loss(
    acceptance: float, drafted: int, each: float, verify: float
) -> None:
    even = break_even(drafted, each, verify)
    if even is None:
        assert speedup(1.0, drafted, each, verify) < 1
    elif acceptance > even:
        assert speedup(acceptance, drafted, each, verify) >= 1 - 1e-9
    elif acceptance < even:
        assert speedup(acceptance, drafted, each, verify) <= 1 + 1e-9


@given(ACCEPTANCES, LENGTHS)
def test_that_a_pass_yields_one_token_at_least_and_all_at_most(acceptance: float, drafted: int) -> None:
    assert 1 <= expected_tokens(acceptance, drafted) <= drafted + 1


def test_that_free_drafts_that_cost_nothing_to_verify_are_even_at_nothing() -> None:
    assert break_even(4, 0.0) == 0.0


def test_that_a_verification_as_dear_as_its_tokens_never_pays() -> None:
    assert break_even(4, 0.1, 5.0) is None
    assert speedup(1.0, 4, 0.1, 5.0) < 1


@pytest.mark.parametrize(("acceptance", "drafted"), [(-0.1, 1), (1.1, 1), (0.5, -1)])
def test_that_what_cannot_be_is_refused(acceptance: float, drafted: int) -> None:
    with pytest.raises(ValueError, match="not"):
        expected_tokens(acceptance, drafted)


def test_that_a_cost_without_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="no cost"):
        cost(1, -0.1)


@given(ACCEPTANCES, st.integers(1, 16))
def test_that_the_accepted_share_gives_the_same_tokens(acceptance: float, drafted: int) -> None:
    share = accepted_share(acceptance, drafted)
    assert 0 <= share <= acceptance + 1e-12
    assert 1 + share * drafted == pytest.approx(expected_tokens(acceptance, drafted))


@given(st.integers(1, 16), st.floats(0, 1), st.floats(1, 4))
def test_that_both_ways_to_the_break_even_agree(drafted: int, each: float, verify: float) -> None:
    even, share = break_even(drafted, each, verify), break_even_share(drafted, each, verify)
    if even is None or share is None:
        assert drafted * each + verify >= drafted + 1 - 1e-9
    else:
        assert accepted_share(even, drafted) == pytest.approx(share, abs=1e-6)


def test_that_a_mean_of_no_drafts_is_none() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        break_even_share(0, 0.1)
