"""Lengths of prompt and answer that a person stated, also as an interval: then the ledger spans what its ends give.

Invariant: each term's work and cost lie between those of the shortest and of the longest lengths, the best guess being the middle's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from hio_validate.costs.composition import time_of
from hio_validate.costs.interval import Interval
from hio_validate.costs.units import Dimension, amount, base, fitting
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.models.estimate import Amount, Term

LENGTHS = ("prompt-tokens", "generated-tokens")


def with_lengths(inputs: Asked) -> Asked:
    """The workload with the lengths that a person stated, the middle of an interval."""
    return _placed(inputs, {name: inputs.stated[name].value for name in LENGTHS if name in inputs.stated})


def corners(inputs: Asked) -> Iterator[Asked]:
    """The inputs at each combination of the ends of stated intervals; nothing where every length is one number."""
    open_ = [name for name in LENGTHS if name in inputs.stated and not base(inputs.stated[name]).is_exact]
    ends = ((inputs.stated[name].low, inputs.stated[name].high) for name in open_)
    for values in product(*ends) if open_ else ():
        exact = {
            name: Amount(value=each, low=each, high=each, unit="1")
            for name, each in zip(open_, values, strict=True)
        }
        yield replace(inputs, stated={**inputs.stated, **exact})


def _placed(inputs: Asked, lengths: dict[str, float]) -> Asked:
    if not lengths:
        return inputs
    update = {name.replace("-", "_"): round(each) for name, each in lengths.items()}
    return replace(inputs, workload=inputs.workload.model_copy(update=update))


def spanning(middle: Sequence[Term], ends: Sequence[Sequence[Term]]) -> tuple[Term, ...]:
    """The terms of the middle, as wide as those of the ends; a term that an end has not may be nothing."""
    return tuple(
        _spanned(term, [next((other for other in each if other.name == term.name), None) for each in ends])
        for term in middle
    )


def _spanned(term: Term, others: Sequence[Term | None]) -> Term:
    found: dict[str, Any] = {"work": _widest(term.work, [each.work if each else None for each in others])}
    there = [each for each in others if each is not None]
    cost = _widest(term.cost.amount, [each.cost.amount for each in there])
    found["cost"] = term.cost.model_copy(update={"amount": cost})
    if term.fixed is not None:
        found["fixed"] = _widest(term.fixed, [each.fixed if each else None for each in others])
    wide = term.model_copy(update=found)
    return wide.model_copy(update={"time": fitting(time_of(wide), Dimension.TIME)})


def _widest(one: Amount, others: Sequence[Amount | None]) -> Amount:
    every = [base(one), *(base(each) if each is not None else Interval.exact(0.0) for each in others)]
    low, high = min(each.low for each in every), max(each.high for each in every)
    return amount(Interval(every[0].value, low, high), one.unit)
