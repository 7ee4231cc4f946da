"""Drafting: the share of the drafted tokens at which it is even."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.speculation import break_even_share


@pytest.mark.parametrize(
    ("drafted", "each", "verify", "share"),
    [
        (4, 0.0, 1.0, 0.0),  # free drafts, verified for nothing
        (4, 0.0, 0.5, 0.0),
        (7, 0.05, 1.0, 0.05),  # verified in the time of one token: each draft has to pay for itself
        (4, 0.0, 3.0, 0.5),
        (4, 0.25, 4.0, 1.0),
        (4, 0.1, 5.0, None),  # a verification as dear as its tokens
    ],
)
def test_the_share_at_which_it_is_even(
    drafted: float, each: float, verify: float, share: float | None
) -> None:
    assert break_even_share(drafted, each, verify) == (None if share is None else pytest.approx(share))


@given(st.floats(0, 1), st.floats(0.1, 16), st.floats(0, 1), st.floats(0.5, 4))
def test_that_gain_turns_into_loss_there(accepted: float, drafted: float, each: float, verify: float) -> None:
    even = break_even_share(drafted, each, verify)
    tokens_a_pass = (1 + accepted * drafted) / (drafted * each + verify)
    if even is None or accepted < even:
        assert tokens_a_pass <= 1 + 1e-9
    else:
        assert tokens_a_pass >= 1 - 1e-9


@pytest.mark.parametrize(
    ("drafted", "each", "verify"), [(0, 0.1, 1), (-1, 0.1, 1), (1, -0.1, 1), (1, 0.1, 0)]
)
def test_that_what_cannot_be_is_refused(drafted: float, each: float, verify: float) -> None:
    with pytest.raises(ValueError, match="no drafting"):
        break_even_share(drafted, each, verify)
