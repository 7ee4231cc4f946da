"""A rate is its repetitions: the median and both ends."""

from __future__ import annotations

import time
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.models.ceilings import Rate
from hio_validate.probing.refusal import NotMeasured
from hio_validate.probing.sampling import confidence, each_takes, rate

samples = st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=9)


@given(samples)
def test_the_value_is_the_median_of_what_is_kept_and_the_ends_are_its_ends(found: list[float]) -> None:
    kept = rate("memory-read", found, "GB/s", "a test", threads=1)
    assert len(kept.samples) == len(found)
    assert kept.value == median(kept.samples)
    assert (kept.low, kept.high) == (min(kept.samples), max(kept.samples))
    assert kept.samples == pytest.approx(found, rel=1e-4)
    assert Rate.model_validate(kept.model_dump()) == kept


@pytest.mark.parametrize("found", [[], [1.0, 0.0, 1.0], [1.0, float("inf"), 1.0]], ids=["none", "zero", "endless"])  # fmt: skip
def test_what_no_clock_saw_is_no_rate(found: list[float]) -> None:
    with pytest.raises(NotMeasured, match="memory-read"):
        rate("memory-read", found, "GB/s", "a test")


@pytest.mark.parametrize(
    ("found", "word"),
    [([100, 100, 104], "high"), ([90, 100, 110], "medium"), ([50, 100, 110], "low")],
    ids=["steady", "fair", "wild"],
)
def test_repetitions_that_differ_are_trusted_less(found: list[float], word: str) -> None:
    assert confidence(found) == word


def test_the_warm_up_is_no_repetition() -> None:
    calls = 0

    def slow_at_first() -> None:
        nonlocal calls
        calls += 1
        time.sleep(0.3 if calls == 1 else 0.001)

    taken, count = each_takes(slow_at_first, 0.02, 7)
    assert len(taken) == 7 and count >= 2, "by the time of the first call, one would be enough"
    assert max(taken) < 0.2
    assert calls > 7 * count


def test_what_is_short_is_repeated_until_it_is_long_enough() -> None:
    taken, count = each_takes(lambda: None, 0.01, 7)
    assert count > 1000 and max(taken) < 1e-4
