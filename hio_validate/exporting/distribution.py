"""Mean, deviation and percentiles of requests, as load generators print them.

Invariant: a percentile is given only where an observation can lie beyond it: of twelve requests nobody saw the 99th.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hio_validate.evidence.averages import mean, median

PERCENTILES = {
    "p0p1": 0.1, "p1": 1.0, "p5": 5.0, "p10": 10.0, "p25": 25.0, "p75": 75.0, "p90": 90.0, "p95": 95.0, "p99": 99.0,
    "p99p9": 99.9,
}  # fmt: skip
"""Name -> percent, in the words of llm-d's Statistics; the 50th is always given."""


def distribution(values: Sequence[float]) -> dict[str, float]:
    """Numbers in the unit of the values. Raises IndexError for none.

    `stddev` is of the population, as numpy's default is, which the harnesses of llm-d print; one value has none.
    """
    ordered = sorted(values)
    found = {"mean": mean(ordered), "min": ordered[0], "p50": median(ordered), "max": ordered[-1]}
    if len(ordered) > 1:
        squares = [(value - found["mean"]) ** 2 for value in ordered]
        found["stddev"] = math.sqrt(math.fsum(squares) / len(ordered))
    for name, percent in PERCENTILES.items():
        if min(percent, 100 - percent) * len(ordered) >= 100 - 1e-9:
            found[name] = _at(ordered, percent)
    return found


def _at(ordered: Sequence[float], percent: float) -> float:
    """Linear interpolation between the two nearest ranks (numpy's default, type 7)."""
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    between = ordered[low] + (ordered[high] - ordered[low]) * (place - low)
    return min(max(between, ordered[low]), ordered[high])
