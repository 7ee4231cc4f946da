"""What a mechanism can gain at most: by its share of the profile, else of the measured time, else of the bound (contract 9.4).

Invariants: no gain exceeds that of its share vanishing (costs/gain.py); the time that is measured beyond the bound belongs
to no term, so that no share is computed by subtracting the bound of others.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.gain import ALL, at_most, of_times, part_gone
from hio_validate.costs.gap import part_of
from hio_validate.costs.interval import Interval, end_by_end
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.candidates.mechanism import Mechanism, Seen
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
    gone = _gone(seen, mechanism, after[0]) if after else None
    if gone is None and not mechanism.vanishes:
        return None
    bound = at_most(share, better, gone or ALL)
    if of != "profile" and after:
        bound = _no_more_than(bound, _overlapping(seen, after[1], of, better))
    return Bounded(share, of, bound) if bound.high > 0 and bound.value > 0 else None


def _as_measured(times: tuple[Interval, Interval], better: str) -> Bounded | None:
    """The gain that two runs had: no bound of a model, yet of exactly that workload."""
    without, with_ = times
    saved = max(0.0, 1 - with_.value / without.value)
    least = max(0.0, 1 - with_.high / without.low)
    most = max(saved, 1 - with_.low / without.high)
    if saved <= 0:
        return None
    share = Interval(saved, min(least, saved), most)
    return Bounded(share, "measured", at_most(share.no_more_than(ALMOST_ALL), better))


def _share(seen: Seen, mechanism: Mechanism) -> tuple[Interval | None, Of]:
    """The share of the time that a mechanism works on, and what it is a share of."""
    profile = seen.profile
    if profile is not None:
        parts = mechanism.parts or (parts_of(profile, mechanism.term) if mechanism.term else ())
        share = share_of(profile, parts) if parts else None
        if share is not None:
            return share.no_more_than(ALMOST_ALL), "profile"
    time = seen.times.get(mechanism.term or "")
    if time is None:
        return None, "bound"
    measured = seen.measured_time
    if measured is not None:
        return part_of(time, measured).no_more_than(ALMOST_ALL), "measured"
    return (
        (part_of(time, seen.whole).no_more_than(ALMOST_ALL), "bound") if seen.whole.value else (None, "bound")
    )


def _times_after(mechanism: Mechanism) -> tuple[dict[str, Interval], Interval] | None:
    """Seconds of each term after the change, and their bound."""
    if mechanism.then is None:
        return None
    ledger = terms_of(mechanism.then)
    return (ledger.times, longest_of_groups(ledger.groups, ledger.times)) if ledger.terms else None


def _gone(seen: Seen, mechanism: Mechanism, after: dict[str, Interval]) -> Interval | None:
    """The part of its term that goes, end by end: all of it where the change leaves nothing; None where nothing says."""
    was = seen.times.get(mechanism.term or "")
    if was is None or mechanism.term not in after or not was.value:
        return None
    most = mechanism.most
    value, *ends = (
        min(
            part_gone(_end(was, end), _left(seen, mechanism.term, after, end)),
            1 - 1 / max(1.0, _end(most, end)) if most else 1.0,
        )
        for end in range(3)
    )
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
    measured = seen.measured_time if of == "measured" else None
    if measured is None:
        return of_times(seen.whole, after, better)

    def gained(took: float, before: float, now: float) -> float:
        rest = max(took * (1 - ALMOST_ALL), took - max(0.0, before - now))
        return took / rest - 1 if better == "higher" else 1 - rest / took

    return end_by_end(gained, measured, seen.whole, after) * 100.0


def _no_more_than(bound: Interval, overlapping: Interval) -> Interval:
    """The bound by the share, with what overlapping leaves of it; its upper end stays where a hidden term shows after all."""
    value = min(bound.value, overlapping.value)
    return Interval(
        value, min(value, bound.low, overlapping.low), max(value, min(bound.high, overlapping.high))
    )
