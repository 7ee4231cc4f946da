"""What a mechanism can gain at most: by its share of the profile, else of the measured time, else of the bound (contract 9.4).

Invariants: no gain exceeds that of its share vanishing (costs/gain.py); the time that is measured beyond the bound belongs
to no term, so that no share is computed by subtracting the bound of others.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.gain import at_most, of_times
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import UNITS, base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.candidates.mechanism import Mechanism, Seen, times_of
from hio_validate.estimating.candidates.profiled import parts_of, share_of

ALMOST_ALL = 0.999
"""A rate has no bound where all of the time vanishes: at most this share of it does."""

Of = Literal["profile", "measured", "bound"]


class Bounded(NamedTuple):
    """A share of the time, and the most that can be gained of it; both without unit, the gain in percent."""

    share: Interval
    of: Of
    gain: Interval


def bounded(seen: Seen, mechanism: Mechanism) -> Bounded | None:
    """None where nothing says how much of the time it works on, or where it gains nothing even at its best."""
    better = seen.inputs.target.better
    if mechanism.measured is not None:
        return _as_measured(mechanism.measured, better)
    after = _times_after(mechanism)
    share, of = _share(seen, mechanism)
    if share is None:
        return None
    faster = _faster(seen, mechanism, after[0]) if after else None
    if faster is None and not mechanism.vanishes:
        return None
    bound = at_most(share, better, faster)
    if of != "profile" and after:
        bound = _no_more_than(bound, _overlapping(seen, after[1], of, better))
    return Bounded(share, of, bound) if bound.high > 0 and bound.value > 0 else None


def measured_time(seen: Seen) -> Interval | None:
    """Seconds that one unit of the path took, by the baseline: the bound's time by how far the metric is from it."""
    baseline, bound = seen.inputs.baseline, seen.bound
    if baseline is None or bound is None or bound.metric is None or not seen.whole.value:
        return None
    size = UNITS[baseline.unit][1] if baseline.unit in UNITS else 1.0
    low, high = sorted((baseline.low * size, baseline.high * size))
    value = min(max(baseline.value * size, low), high)
    whole, metric = seen.whole, base(bound.metric)
    if not (low > 0 and metric.value > 0):
        return None
    if seen.inputs.target.better == "higher":
        work = whole.value * metric.value
        return Interval(work / value, work / high, work / low)
    each = whole.value / metric.value
    return Interval(value * each, low * each, high * each)


def _as_measured(times: tuple[Interval, Interval], better: str) -> Bounded | None:
    """The gain that two runs had: no bound of a model, yet of exactly that workload."""
    without, with_ = times
    saved = max(0.0, 1 - with_.value / without.value)
    least = max(0.0, 1 - with_.high / without.low)
    most = max(saved, 1 - with_.low / without.high)
    if saved <= 0:
        return None
    share = Interval(saved, min(least, saved), most)
    return Bounded(share, "measured", at_most(_almost(share), better))


def _share(seen: Seen, mechanism: Mechanism) -> tuple[Interval | None, Of]:
    """The share of the time that a mechanism works on, and what it is a share of."""
    profile = seen.profile
    if profile is not None:
        parts = mechanism.parts or (parts_of(profile, mechanism.term) if mechanism.term else ())
        share = share_of(profile, parts) if parts else None
        if share is not None:
            return _almost(share), "profile"
    time = seen.times.get(mechanism.term or "")
    if time is None:
        return None, "bound"
    measured = measured_time(seen)
    if measured is not None:
        return _almost(_part(time, measured)), "measured"
    return (_almost(_part(time, seen.whole)), "bound") if seen.whole.value else (None, "bound")


def _part(time: Interval, whole: Interval) -> Interval:
    """A time as a share of a whole one, at most all of it, end by end: what is uncertain of one is so of the other."""
    value = min(1.0, time.value / whole.value)
    ends = [min(1.0, one / other) for one, other in ((time.low, whole.low), (time.high, whole.high)) if other]
    return Interval(value, min(value, *ends), max(value, *ends))


def _almost(share: Interval) -> Interval:
    return Interval(*(min(ALMOST_ALL, each) for each in (share.value, share.low, share.high)))


def _times_after(mechanism: Mechanism) -> tuple[dict[str, Interval], Interval] | None:
    """Seconds of each term after the change, and their bound."""
    if mechanism.then is None:
        return None
    ledger = terms_of(mechanism.then)
    times = times_of(ledger)
    return (times, longest_of_groups(ledger.groups, times)) if times else None


def _faster(seen: Seen, mechanism: Mechanism, after: dict[str, Interval]) -> Interval | None:
    """How many times as fast the term becomes, end by end; None where it vanishes."""
    before = seen.times.get(mechanism.term or "")
    if before is None or mechanism.term not in after:
        return None
    pairs = [(_end(before, end), _left(seen, mechanism.term, after, end)) for end in range(3)]
    if any(other <= 0 for _, other in pairs):
        return Interval.exact(1e9) if before.value > 0 else None
    value, *ends = (max(1.0, one / other) for one, other in pairs)
    return Interval(value, min(value, *ends), max(value, *ends))


def _left(seen: Seen, term: str, after: dict[str, Interval], end: int) -> float:
    """Seconds that are left of a term, at one end of the intervals.

    What the change moves to another resource is not gone (a reading that several tokens share becomes arithmetic): the
    term is no shorter than what any other one grows by.
    """
    nothing = Interval.exact(0.0)
    grown = (
        _end(time, end) - _end(seen.times.get(name, nothing), end)
        for name, time in after.items()
        if name != term
    )
    return max(_end(after[term], end), *grown, 0.0)


def _end(interval: Interval, end: int) -> float:
    return (interval.value, interval.low, interval.high)[end]


def _overlapping(seen: Seen, after: Interval, of: Of, better: str) -> Interval:
    """The gain where the rest overlaps as the ledger says: the term may be hidden behind another one.

    Measured: what the bound loses is taken from the measured time, whose part beyond the bound stays as it is.
    """
    measured = measured_time(seen) if of == "measured" else None
    if measured is None:
        return of_times(seen.whole, after, better)
    saved = [
        max(0.0, one - other)
        for one, other in (
            (seen.whole.value, after.value),
            (seen.whole.low, after.low),
            (seen.whole.high, after.high),
        )
    ]
    wholes = (measured.value, measured.low, measured.high)
    rest = [max(each * (1 - ALMOST_ALL), each - less) for each, less in zip(wholes, saved, strict=True)]
    gains = [
        100 * ((one / other - 1) if better == "higher" else (1 - other / one))
        for one, other in zip(wholes, rest, strict=True)
    ]
    return Interval(gains[0], min(gains), max(gains))


def _no_more_than(bound: Interval, overlapping: Interval) -> Interval:
    """The bound by the share, with what overlapping leaves of it; its upper end stays where a hidden term shows after all."""
    value = min(bound.value, overlapping.value)
    return Interval(
        value, min(value, bound.low, overlapping.low), max(value, min(bound.high, overlapping.high))
    )
