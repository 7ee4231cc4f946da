"""What a person states: a number with its unit, or one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.costs.units import UNITS, base
from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.inputs import STATED
from hio_validate.estimating.context.stated import stated


@pytest.mark.parametrize(
    ("word", "name", "value", "low", "high", "unit"),
    [
        ("launches=450", "launches", 450, 450, 450, "1"),
        ("launch=4us", "launch", 4, 4, 4, "us"),
        ("link=200GB/s", "link", 200, 200, 200, "GB/s"),
        ("link=200Gbit/s", "link", 200, 200, 200, "Gbit/s"),
        ("memory-read=20..24GB/s", "memory-read", 22, 20, 24, "GB/s"),
        ("acceptance=0.5..0.8", "acceptance", 0.65, 0.5, 0.8, "1"),
        ("matmul=1e12 FLOP/s", "matmul", 1e12, 1e12, 1e12, "FLOP/s"),
        ("queue-wait=0ms", "queue-wait", 0, 0, 0, "ms"),
    ],
)
def test_a_number_is_read_with_its_unit(
    word: str, name: str, value: float, low: float, high: float, unit: str
) -> None:
    found = stated([word])[name]
    assert (found.low, found.high, found.unit) == (low, high, unit)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("launchs=450", "did you mean launches?"),
        ("=3", "nothing is called that"),
        ("launches", "expected launches=VALUE or launches=LOW..HIGH with its unit, e.g. launches=450"),
        ("launch=4", "expected one of s, ms, us, ns, got no unit"),
        ("launch=4GB/s", "launch is counted in us"),
        ("link=200Gb/s", "bits are written Gbit/s"),
        ("launches=4us", "launches is a plain number without a unit, got us"),
        ("acceptance=1.5", "a share from 0 to 1"),
        ("efficiency=0", "cannot be 0"),
        ("memory-read=0GB/s", "cannot be 0"),
        ("acceptance=0.8..0.5", "the wrong way round"),
        ("prompt-tokens=1.5", "whole numbers"),
        ("launch=1e999us", "that large or that small"),
        ("memory-read=1e-300B/s", "that large or that small"),
        ("prompt-tokens=1e30", "that large or that small"),
        ("memory-read=1e20GB/s", "that large or that small"),
        ("memory-read=1e-5B/s", "memory-read is 1000 B/s at least, got 1e-05; look at its unit"),
        ("draft-cost=1e20", "draft-cost is 100 at most, got 1e+20"),
        ("host-gap=1..5000000000us", "host-gap is 1e+09 us at most, got 5e+09"),
        ("launch=-4us", "expected launch=VALUE"),
        ("launch=nanus", "expected launch=VALUE"),
        ("launch=1_0us", "expected launch=VALUE"),
    ],
)
def test_what_is_no_number_of_that_kind_is_refused(word: str, said: str) -> None:
    with pytest.raises(CannotEstimate, match=r"^--assume") as refused:
        stated(["launches=1", word] if not word.startswith("launches") else [word])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_twice_is_refused() -> None:
    with pytest.raises(CannotEstimate, match="given twice"):
        stated(["launches=1", "launches=2"])


@pytest.mark.parametrize("name", STATED)
def test_the_example_of_a_refusal_is_accepted(name: str) -> None:
    with pytest.raises(CannotEstimate) as refused:
        stated([f"{name}=?"])
    assert name in stated([str(refused.value).rpartition("e.g. ")[2]])


@given(st.floats(1e3, 1e8), st.floats(1e3, 1e8))
def test_the_best_guess_lies_between_its_ends(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for unit in ("B/s", "GB/s", "GiB/s", "Gbit/s"):
        found = base(stated([f"link={low!r}..{high!r}{unit}"])["link"])
        assert found.low == low * UNITS[unit][1]
        assert found.low <= found.value <= found.high
