"""The quality gate: a floor for both sides, and a candidate that is not worse by more than a margin (contract 10.4).

Invariants: a side that was not asked, or not wholly answered, is not measurable and never a pass; not shown to be as good
is not met. The margin is kept where the lower end of the one-sided interval (proportions.py) is at least -margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hio_validate.evidence.proportions import (
    Interval,
    least_margin,
    of_errors,
    paired,
    unpaired,
    wilson,
    z_of,
)

TWO_SIDED = 0.05
"""Level of the intervals that are shown beside one share."""


class Side(NamedTuple):
    """How one side answered."""

    name: str
    right: int
    n: int
    items: Mapping[str, bool] | None = None
    """Item -> whether it was answered rightly, where that is known item by item."""

    @property
    def share(self) -> float:
        return self.right / self.n

    @property
    def interval(self) -> Interval:
        return wilson(self.right, self.n, z_of(TWO_SIDED / 2))


class Terms(NamedTuple):
    """What was asked for beforehand: shares from 0 to 1, `alpha` one-sided."""

    floor: float
    margin: float
    alpha: float


class Gated(NamedTuple):
    """What the gate says of one candidate."""

    reason: str
    """Kebab-case name of what is missed; "" where the gate is met."""
    sentence: str
    difference: Interval | None
    """candidate - baseline; None where it is not measurable."""
    by_item: bool = False
    """Whether the same items of both sides were compared one by one."""


def side_of(name: str, items: Mapping[str, bool]) -> Side:
    """A side that is known item by item."""
    return Side(name, sum(items.values()), len(items), items)


def gate(baseline: Side, candidate: Side, terms: Terms) -> Gated:
    """Whether the candidate answers well enough, and no worse than the baseline by more than the margin."""
    for side in (baseline, candidate):
        if not side.n:
            return Gated("not-measurable", f"{side.name} answered no item", None)
    difference = difference_of(baseline, candidate, terms.alpha)
    below = [side for side in (baseline, candidate) if side.share < terms.floor]
    if below:
        told = " and ".join(f"{told_share(side)} of {side.name}" for side in below)
        return Gated("quality-gate-failed", f"{told}: the floor is {terms.floor:g}", difference)
    return _judged(difference, terms, candidate.name, _best_possible(baseline, candidate, terms.alpha))


def gate_of_means(
    baseline: tuple[float, float], candidate: tuple[float, float], terms: Terms, higher: bool, name: str
) -> Gated:
    """The same for a metric that is no share: (value, standard error) of each, in the metric's own unit.

    Where lower is better, the floor is a ceiling and the difference is turned.
    """
    sign = 1 if higher else -1
    difference = of_errors(
        (sign * baseline[0], baseline[1]), (sign * candidate[0], candidate[1]), z_of(terms.alpha)
    )
    if any(sign * each[0] < sign * terms.floor for each in (baseline, candidate)):
        word = "floor" if higher else "ceiling"
        said = f"{baseline[0]:g} and {candidate[0]:g}: the {word} is {terms.floor:g}"
        return Gated("quality-gate-failed", said, difference)
    return _judged(difference, terms, name, 0.0)


def _judged(difference: Interval, terms: Terms, name: str, least: float) -> Gated:
    confidence = f"{100 * (1 - terms.alpha):g} %"
    told = f"{name} {difference.value:+.3f}, at least {difference.low:+.3f} with {confidence} confidence"
    if difference.low >= -terms.margin:
        return Gated("", f"{told}; {-terms.margin:g} is allowed", difference)
    if difference.high < -terms.margin:
        return Gated("quality-gate-failed", f"{told}: worse than the margin {terms.margin:g}", difference)
    why = f"; so few items can show {least:.3f} at best" if least > terms.margin else ""
    return Gated("quality-not-shown", f"{told}: the margin {terms.margin:g} is not shown{why}", difference)


def difference_of(baseline: Side, candidate: Side, alpha: float) -> Interval:
    """candidate - baseline; over the same items where both sides know the same ones. Raises ValueError for no items."""
    z = z_of(alpha)
    one, two = baseline.items, candidate.items
    if one is not None and two is not None and is_by_item(baseline, candidate):
        lost = sum(one[item] and not two[item] for item in one)
        gained = sum(two[item] and not one[item] for item in one)
        return paired(len(one), lost, gained, z)
    return unpaired((baseline.right, baseline.n), (candidate.right, candidate.n), z)


def is_by_item(baseline: Side, candidate: Side) -> bool:
    """Whether both sides know the same items one by one."""
    one, two = baseline.items, candidate.items
    return one is not None and two is not None and one.keys() == two.keys()


def _best_possible(baseline: Side, candidate: Side, alpha: float) -> float:
    return least_margin(min(baseline.n, candidate.n), z_of(alpha))


def told_share(side: Side) -> str:
    """A share with what it rests on: 30 of 40 (0.750)."""
    return f"{side.right} of {side.n} ({side.share:.3f})"
