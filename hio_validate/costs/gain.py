"""The most that a mechanism can gain end to end, by the share of the time that it works on (contract 9.4).

Invariant: no gain is larger than that of the share vanishing: in time the share itself, in rate share / (1 - share).
"""

from __future__ import annotations

from hio_validate.costs.interval import Interval, end_by_end

ALL = Interval.exact(1.0)
"""What goes of a share that vanishes."""


def time_saved(share: float, gone: float = 1.0) -> float:
    """Part of the whole time that is saved where `gone` of `share` goes: 1 - 1/n of it where it becomes n times as fast.

    Both without unit, between 0 and 1; 1 of a share gone is all of it, so that no speed is infinite here.
    Amdahl, "Validity of the single processor approach", AFIPS 1967. Raises ValueError.
    """
    for what, value in (("a share lies", share), ("what goes of a share lies", gone)):
        if not 0 <= value <= 1:
            raise ValueError(f"{what} between 0 and 1, not at {value}")
    return share * gone


def rate_gained(share: float, gone: float = 1.0) -> float:
    """The same as a gain in rate: work per time becomes 1 + this. Raises ValueError, also where all time would vanish."""
    saved = time_saved(share, gone)
    if saved >= 1:
        raise ValueError("where all of the time vanishes, no rate is left to state")
    return saved / (1 - saved)


def part_gone(before: float, after: float) -> float:
    """What goes of a time that becomes another one: all where nothing is left, also of nothing; none where it grows."""
    return 1.0 if after <= 0 else max(0.0, 1 - after / before) if before > 0 else 0.0


def at_most(share: Interval, better: str, gone: Interval = ALL) -> Interval:
    """The gain of a metric in percent where `gone` of the share goes, over the intervals of both.

    `better` is `higher` for a rate and `lower` for a time. Raises ValueError.
    """
    return end_by_end(rate_gained if better == "higher" else time_saved, share, gone) * 100.0


def of_times(before: Interval, after: Interval, better: str) -> Interval:
    """The gain in percent where a whole time becomes another one, e.g. a bound that is computed again; a loss is 0.

    Both times follow from the same inputs, so that their ends belong together: best with best, worst with worst.
    Raises ZeroDivisionError where a time is zero.
    """

    def gained(one: float, other: float) -> float:
        return max(0.0, one / other - 1 if better == "higher" else 1 - other / one)

    return end_by_end(gained, before, after) * 100.0
