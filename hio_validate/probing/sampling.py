"""Repetitions become a rate: the median, with the smallest and the largest beside it.

Invariant: value, low and high follow from the samples as they are kept, rounded (tests/probing/test_sampling.py); the
warm-up is no sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any, Literal

from hio_validate.models.ceilings import Rate
from hio_validate.probing.refusal import NotMeasured

Step = Callable[[], tuple[str, Rate]]
"""Measures one rate when it is called: (its name, the rate). Raises NotMeasured."""

Confidence = Literal["high", "medium", "low"]
_DIGITS = 5
_STEADY, _FAIR = 0.05, 0.25
"""Spread ((high - low) / value) up to which a rate is told with high and with medium confidence."""


def rate(quantity: Any, samples: Sequence[float], unit: Any, method: str, **more: Any) -> Rate:
    """The rate that repetitions in `unit` give. Raises NotMeasured where a clock saw no time pass."""
    kept = [float(f"{sample:.{_DIGITS}g}") for sample in samples]
    if not kept or not all(0 < each < float("inf") for each in kept):
        raise NotMeasured(f"{quantity}: the clock saw no time pass in {len(kept)} repetitions")
    return Rate(
        quantity=quantity,
        value=median(kept),
        unit=unit,
        low=min(kept),
        high=max(kept),
        samples=kept,
        method=method,
        confidence=confidence(kept),
        **more,
    )


def confidence(samples: Sequence[float]) -> Confidence:
    """How far repetitions that differ as these do are to be trusted."""
    spread = (max(samples) - min(samples)) / median(samples)
    if spread <= _STEADY:
        return "high"
    return "medium" if spread <= _FAIR else "low"


def seconds(work: Callable[[], object]) -> float:
    """What one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def often_enough(work: Callable[[], object], least_s: float) -> int:
    """How many calls take `least_s` together, at least one. Calls it, which warms it up."""
    work()
    count = 1
    while True:
        taken = seconds(partial(repeat, work, count))
        if taken >= least_s / 2 or count >= 1 << 24:
            return max(1, round(count * least_s / max(taken, 1e-9)))
        count *= 2


def repeat(work: Callable[[], object], count: int) -> None:
    """Call it `count` times."""
    for _ in range(count):
        work()


def each_takes(work: Callable[[], object], least_s: float, repetitions: int) -> tuple[list[float], int]:
    """(seconds of one call in each repetition, calls of a repetition)."""
    count = often_enough(work, least_s)
    return [seconds(lambda: repeat(work, count)) / count for _ in range(repetitions)], count
