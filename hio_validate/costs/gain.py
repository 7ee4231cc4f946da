"""The most that a mechanism can gain end to end, by the share of the time that it works on (contract 9.4).

Invariant: no gain is larger than that of the share vanishing: in time the share itself, in rate share / (1 - share).
"""

from __future__ import annotations

import math

from hio_validate.costs.interval import Interval, end_by_end


def time_saved(share: float, factor: float = math.inf) -> float:
    """Part of the whole time that is saved where `share` of it becomes `factor` times as fast.

    Both without unit; the share lies in [0, 1], the factor is at least 1, infinite where the work vanishes.
    Amdahl, "Validity of the single processor approach", AFIPS 1967. Raises ValueError.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")
    if not factor >= 1:
        raise ValueError(f"what becomes faster has a factor of at least 1, not {factor}")
    return share * (1 - 1 / factor)


def rate_gained(share: float, factor: float = math.inf) -> float:
    """The same as a gain in rate: work per time becomes 1 + this. Raises ValueError, also where all time would vanish."""
    saved = time_saved(share, factor)
    if saved >= 1:
        raise ValueError("where all of the time vanishes, no rate is left to state")
    return saved / (1 - saved)


def at_most(share: Interval, better: str, factor: Interval | None = None) -> Interval:
    """The gain of a metric in percent, over the intervals of share and factor.

    `better` is `higher` for a rate and `lower` for a time. Without a factor the work vanishes. Raises ValueError.
    """
    gained = rate_gained if better == "higher" else time_saved
    return end_by_end(gained, share, *([] if factor is None else [factor])) * 100.0


def of_times(before: Interval, after: Interval, better: str) -> Interval:
    """The gain in percent where a whole time becomes another one, e.g. a bound that is computed again; a loss is 0.

    Both times follow from the same inputs, so that their ends belong together: best with best, worst with worst.
    Raises ZeroDivisionError where a time is zero.
    """

    def gained(one: float, other: float) -> float:
        return max(0.0, one / other - 1 if better == "higher" else 1 - other / one)

    return end_by_end(gained, before, after) * 100.0
