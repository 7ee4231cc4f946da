"""Mean and median of values of any size. The module statistics does the same; importing it takes longer than reading a run."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    """Raises ZeroDivisionError for no values."""
    unit = max(map(abs, values), default=0.0) or 1.0  # so that no sum overflows
    return math.fsum(value / unit for value in values) / len(values) * unit


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle. Raises IndexError for no values."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] / 2 + ordered[~half] / 2
