"""What could pay: the seven hint families in their order, each mechanism bounded by its share, ranked (contract 9.4).

Invariant: what is set goes before what has to be written (the seventh family); then the order is that of the gain (its best
guess), then of what the experiment costs, then of confidence, then of the families; the same inputs give the same order. Nothing is proposed while the stack is known to answer wrongly (9.6).
"""

from __future__ import annotations

from typing import NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import amount
from hio_validate.estimating.bounds.ledger import Ledger
from hio_validate.estimating.candidates import (
    bulk,
    generated_code,
    hot_path,
    overlap,
    reduce,
    representation,
    reuse,
)
from hio_validate.estimating.candidates.bounded import Bounded, bounded
from hio_validate.estimating.candidates.known_already import decided
from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.duration import minutes_of
from hio_validate.estimating.opportunity import opportunity_of as opportunity_of
from hio_validate.models.estimate import Assumption, BoundTime, Candidate

FAMILIES = (
    reduce.find,
    bulk.find,
    representation.find,
    hot_path.find,
    reuse.find,
    overlap.find,
    generated_code.find,
)
"""In the order in which they are looked through."""

TELLABLE = 0.1
"""Percent that a gain may reach at least: the noise of the quietest host hides less."""

_WRITTEN = 7
"""The family whose candidates are code that somebody has to write."""

_SURER = {"high": 0, "medium": 1, "low": 2}


class LookedAt(NamedTuple):
    """Everything that looking through the families gave."""

    candidates: tuple[Candidate, ...] = ()
    """Ranked."""
    missing: tuple[str, ...] = ()
    """What would have to be there before something is proposed."""
    said: tuple[str, ...] = ()
    """What is not proposed, and why."""
    assumptions: tuple[Assumption, ...] = ()
    """What was assumed for candidates, beside the assumptions of the ledger."""


def looked_at(inputs: Inputs, ledger: Ledger, bound: BoundTime | None) -> LookedAt:
    """The candidates, with what is missing for others and why others are not proposed."""
    if inputs.wrong:
        return LookedAt()
    seen, found = Seen(inputs, ledger, bound), Found()
    for find in FAMILIES:
        find(seen, found)
    if not seen.knows_its_build:
        found.missing.append(
            f"the settings of the build that serves {inputs.stack.name}: only those among its arguments are proposed; hio engine "
            "learn records the others"
        )
    minutes = minutes_of(inputs)
    candidates: dict[str, Candidate] = {}
    assumed: dict[str, Assumption] = {}
    for mechanism in found.mechanisms:
        limit = bounded(seen, mechanism)
        known = decided(seen, mechanism) if limit else None
        if known:
            found.said.append(known)
        elif limit and limit.gain.high < TELLABLE:
            found.said.append(
                f"{mechanism.name}: gains less than {TELLABLE:g} % at most, which no run can tell: not proposed"
            )
        elif limit and mechanism.name not in candidates:
            candidates[mechanism.name] = _candidate(seen, mechanism, limit, minutes)
            assumed |= {each.name: each for each in mechanism.assumes}
    return LookedAt(
        tuple(sorted(candidates.values(), key=_place)),
        tuple(dict.fromkeys(found.missing)),
        tuple(dict.fromkeys(found.said)),
        tuple(assumed.values()),
    )


def _place(candidate: Candidate) -> tuple[bool, float, float, int, int, str]:
    minutes = candidate.minutes if candidate.minutes is not None else float("inf")
    return (
        candidate.family == _WRITTEN,
        -round(candidate.gain_percent.value, 6),
        minutes,
        _SURER[candidate.confidence],
        candidate.family,
        candidate.name,
    )


def _candidate(seen: Seen, mechanism: Mechanism, limit: Bounded, minutes: float | None) -> Candidate:
    lever = mechanism.lever
    change = f"{lever.has} -> {mechanism.to}" if lever and mechanism.to else mechanism.change
    stack = seen.inputs.stack.name
    said = {
        "name": mechanism.name,
        "family": mechanism.family,
        "mechanism": mechanism.does,
        "term": mechanism.term if mechanism.term in seen.times or limit.of == "profile" else None,
        "factor": mechanism.factor,
        "change": change,
        "share_percent": _percent(limit.share * 100.0),
        "share_of": limit.of,
        "gain_percent": _percent(limit.gain),
        "confidence": mechanism.confidence,
        "minutes": None if mechanism.family == _WRITTEN else minutes,
        "rollback": mechanism.rollback
        or f"serve {stack} with {mechanism.factor} {lever.has if lever else 'as before'}",
        "stop_if": mechanism.stop_if or f"{seen.inputs.target.metric} gains less than the noise of this host",
        "needs": list(mechanism.needs),
        "route": mechanism.route,
        "caching": mechanism.cold is not None,
        "cold": mechanism.cold,
        "warm": mechanism.warm,
    }
    return Candidate.model_validate(said)


def _percent(interval: Interval) -> object:
    return amount(interval, "1")
