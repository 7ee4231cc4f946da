"""A rate is its repetitions: the median and both ends."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.models.ceilings import Rate
from hio_validate.probing import sampling
from hio_validate.probing.refusal import NotMeasured
from hio_validate.probing.sampling import confidence, each_takes, rate

numbers = st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=9)


@given(numbers)
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


class Work:
    """Takes so many seconds by the clock of the measurement, and more the first time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, takes_s: float, at_first_s: float) -> None:
        self.calls, self.now, self.takes_s, self.at_first_s = 0, 0.0, takes_s, at_first_s
        monkeypatch.setattr(sampling.time, "perf_counter", lambda: self.now)

    def __call__(self) -> None:
        self.calls += 1
        self.now += self.takes_s if self.calls > 1 else self.at_first_s


def test_the_warm_up_is_no_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch, 0.001, at_first_s=0.3)
    taken, count = each_takes(work, 0.02, 7)
    assert count == 20, "by the time of the first call, one would be enough"
    assert taken == pytest.approx([0.001] * 7)
    assert work.calls > 7 * count


def test_what_is_short_is_repeated_until_it_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, count = each_takes(Work(monkeypatch, 1e-6, at_first_s=1e-6), 0.01, 7)
    assert count == 10_000 and taken == pytest.approx([1e-6] * 7)
