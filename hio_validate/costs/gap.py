"""A measurement beside the bound of the same workload: how far it is from it, and what a term is of the measured time.

Invariant: a gap is stated, never explained; the time that was measured beyond the bound belongs to no term (contract 9.7).
"""

from __future__ import annotations

from hio_validate.costs.interval import Interval, end_by_end
from hio_validate.costs.units import UNITS, base
from hio_validate.models.estimate import Amount, BoundTime, MeasuredBaseline


def measured(baseline: MeasuredBaseline) -> Interval:
    """The metric between its lowest and highest leg: seconds of a time; of a rate what the metric counts a second."""
    size = UNITS[baseline.unit][1] if baseline.unit in UNITS else 1.0
    value, *legs = (each * size for each in (baseline.value, baseline.low, baseline.high))
    return Interval(value, min(value, *legs), max(value, *legs))


def efficiency(baseline: MeasuredBaseline, bound: Amount, better: str) -> Interval | None:
    """The bound by what was measured, in percent; of a rate (`better` is `higher`) the other way round.

    None where something was measured as nothing, or the bound is none.
    """
    best = base(bound)
    if min(baseline.low, baseline.value, best.low) <= 0:
        return None
    reached = measured(baseline)
    return (reached / best if better == "higher" else best / reached) * 100.0


def measured_time(baseline: MeasuredBaseline, bound: BoundTime, better: str) -> Interval | None:
    """Seconds that one unit of the path took: the bound's time by how far the metric is from it; None where nothing says that."""
    whole = base(bound.time).value
    metric = base(bound.metric).value if bound.metric else 0.0
    if not (min(baseline.low, baseline.value) > 0 and metric > 0 and whole > 0):
        return None
    if better == "higher":
        return Interval.exact(whole * metric) / measured(baseline)
    return measured(baseline) * (whole / metric)


def part_of(time: Interval, whole: Interval) -> Interval:
    """A time as a share of a whole one, at most all of it, end by end: what is uncertain of one is so of the other."""
    return end_by_end(lambda mine, all_: min(1.0, mine / all_) if all_ else 0.0, time, whole)
