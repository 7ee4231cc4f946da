"""What a kept estimate states, in base units: times of its terms, and whether its bound adds what overlaps (contract 9.3).

Rules compute an estimate again from its own document; what has no time in it is left out, never guessed.
"""

from __future__ import annotations

from math import isclose

from hio_validate.costs.composition import at_least, longest_of_groups
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import DIVIDES, UNITS, Dimension, base
from hio_validate.models.estimate import Amount, Estimate, Term


def seconds(amount: Amount) -> Interval | None:
    """A time in seconds; None where it is counted in something else, or is no interval."""
    return _interval(amount) if UNITS[amount.unit][0] is Dimension.TIME else None


def times_of(estimate: Estimate) -> dict[str, Interval]:
    """Term -> its time in seconds, as the document says it; of two terms of one name the first."""
    times: dict[str, Interval] = {}
    for term in estimate.terms:
        time = seconds(term.time)
        if time is not None:
            times.setdefault(term.name, time)
    return times


def makes_a_time(term: Term) -> bool:
    """Whether work, cost and fixed part of a term give a time: fitting units, intervals, a rate above 0."""
    cost = UNITS[term.cost.amount.unit][0]
    parts = [_interval(each) for each in (term.work, term.cost.amount)]
    times = [seconds(each) for each in (term.time, term.fixed) if each is not None]
    return (
        None not in (*parts, *times)
        and DIVIDES.get(cost) == UNITS[term.work.unit][0]
        and (cost is Dimension.TIME or term.cost.amount.low > 0)
    )


def is_sum_of_overlapping(estimate: Estimate, digits: float) -> bool:
    """Whether the bound is what all terms give together though some of them overlap, within a relative difference."""
    bound, times = estimate.bound, times_of(estimate)
    time = None if bound is None else seconds(bound.time)
    if bound is None or time is None:
        return False
    groups = [[times[name].value for name in group if name in times] for group in bound.groups]
    added, least = sum(map(sum, groups)), sum(max(group, default=0.0) for group in groups)
    return not isclose(added, least, rel_tol=digits) and isclose(time.value, added, rel_tol=digits)


def sum_and_least(estimate: Estimate) -> tuple[float, float] | None:
    """Seconds: (what the groups of a bound give, what its terms take at least); None where a term has no time.

    The second is max over the resources of the sums on each, and what waits (see costs.composition.at_least).
    """
    times, bound = times_of(estimate), estimate.bound
    if bound is None or not all(name in times for group in bound.groups for name in group):
        return None
    resources: dict[str, str] = {term.name: term.resource for term in estimate.terms}
    return longest_of_groups(bound.groups, times).value, at_least(times, resources).value


def _interval(amount: Amount) -> Interval | None:
    try:
        return base(amount)
    except ValueError:
        return None
