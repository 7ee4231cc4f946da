"""Intervals of shares: published examples, and what must hold for any counts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.proportions import least_margin, of_errors, paired, unpaired, wilson, z_of

Z95 = z_of(0.025)
levels = st.sampled_from([0.2, 0.05, 0.025, 0.001])


@st.composite
def parts(draw: st.DrawFn, most: int = 60) -> tuple[int, int]:
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


@st.composite
def pairs(draw: st.DrawFn) -> tuple[int, int, int]:
    """Items, right only in the first, right only in the second."""
    n = draw(st.integers(1, 60))
    lost = draw(st.integers(0, n))
    return n, lost, draw(st.integers(0, n - lost))


def test_normal_deviates() -> None:
    assert z_of(0.025) == pytest.approx(1.959963984540054, abs=1e-12)
    assert z_of(0.05) == pytest.approx(1.6448536269514722, abs=1e-12)


def test_published_examples() -> None:
    """Newcombe, Stat. Med. 17:857 and 17:873, tables I and II, the methods without continuity correction."""
    assert [round(each, 4) for each in wilson(81, 263, Z95)[1:3]] == [0.2553, 0.3662]
    assert [round(each, 4) for each in wilson(15, 148, Z95)[1:3]] == [0.0624, 0.1605]
    assert [round(each, 4) for each in wilson(0, 20, Z95)[1:3]] == [0.0, 0.1611]
    assert [round(each, 4) for each in unpaired((48, 80), (56, 70), Z95)[1:3]] == [0.0524, 0.3339]
    assert [round(each, 4) for each in unpaired((0, 10), (10, 10), Z95)[1:3]] == [0.6075, 1.0]


def test_the_same_answers_show_no_certainty() -> None:
    found = paired(50, 0, 0, Z95)
    assert (found.low, found.high) == pytest.approx((-least_margin(50, Z95), least_margin(50, Z95)))
    assert least_margin(50, Z95) == pytest.approx(Z95**2 / (50 + Z95**2))


@given(pairs(), levels)
def test_an_end_of_the_paired_interval_is_where_the_score_reaches_z(
    counts: tuple[int, int, int], alpha: float
) -> None:
    n, lost, gained = counts
    z = z_of(alpha)
    low = paired(n, lost, gained, z).low
    if low > -1 + 1e-6:
        q = _likeliest(n, lost, gained, low)
        assert gained - lost - n * low == pytest.approx(
            z * math.sqrt(n * (2 * q + low * (1 - low))), rel=1e-3, abs=1e-3
        )


def _likeliest(n: int, lost: int, gained: int, d: float) -> float:
    """The probability of "right only in the first" that makes the counts likeliest where the difference is d, searched for."""

    def likelihood(q: float) -> float:
        shares = ((gained, q + d), (lost, q), (n - gained - lost, 1 - 2 * q - d))
        return sum(count * math.log(max(share, 1e-300)) for count, share in shares if count)

    low, high = max(0.0, -d), (1 - d) / 2
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if likelihood(one) < likelihood(two):
            low = one
        else:
            high = two
    return (low + high) / 2


@given(pairs(), levels)
def test_swapping_the_sides_turns_a_paired_difference(counts: tuple[int, int, int], alpha: float) -> None:
    n, lost, gained = counts
    one, other = paired(n, lost, gained, z_of(alpha)), paired(n, gained, lost, z_of(alpha))
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low), abs=1e-9)


@given(parts(), parts(), levels)
def test_swapping_the_sides_turns_an_unpaired_difference(
    first: tuple[int, int], second: tuple[int, int], alpha: float
) -> None:
    one, other = unpaired(first, second, z_of(alpha)), unpaired(second, first, z_of(alpha))
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low), abs=1e-9)


@given(pairs(), parts(), parts(), st.integers(2, 5), levels)
def test_the_same_shares_of_more_items_never_widen(
    counts: tuple[int, int, int], first: tuple[int, int], second: tuple[int, int], times: int, alpha: float
) -> None:
    z = z_of(alpha)
    n, lost, gained = counts
    few, many = paired(n, lost, gained, z), paired(times * n, times * lost, times * gained, z)
    assert many.high - many.low <= few.high - few.low + 1e-9
    few, many = wilson(*first, z), wilson(times * first[0], times * first[1], z)
    assert many.high - many.low <= few.high - few.low + 1e-9
    more = [(times * right, times * of) for right, of in (first, second)]
    few, many = unpaired(first, second, z), unpaired(more[0], more[1], z)
    assert many.high - many.low <= few.high - few.low + 1e-9


@given(pairs(), parts(), parts(), levels)
def test_an_interval_holds_its_value_and_stays_in_its_range(
    counts: tuple[int, int, int], first: tuple[int, int], second: tuple[int, int], alpha: float
) -> None:
    z = z_of(alpha)
    for found in (paired(*counts, z), unpaired(first, second, z)):
        assert -1 <= found.low <= found.value + 1e-12 and found.value - 1e-12 <= found.high <= 1
    one = wilson(*first, z)
    assert 0 <= one.low <= one.value + 1e-12 and one.value - 1e-12 <= one.high <= 1


def test_nothing_is_not_measurable() -> None:
    for ask in (
        lambda: wilson(0, 0, Z95),
        lambda: unpaired((0, 0), (1, 2), Z95),
        lambda: paired(0, 0, 0, Z95),
        lambda: paired(2, 2, 1, Z95),
        lambda: least_margin(0, Z95),
    ):
        with pytest.raises(ValueError, match="there is no share of it"):
            ask()


def test_means_with_standard_errors() -> None:
    found = of_errors((10.0, 0.3), (11.0, 0.4), 2.0)
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 0.0, 2.0))
