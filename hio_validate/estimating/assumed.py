"""Which assumptions matter: those whose interval changes the first candidate, and only they are asked about (contract 9.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hio_validate.estimating.bounds.ledger import Ledger, bound_of, terms_of
from hio_validate.estimating.candidates import LookedAt, looked_at
from hio_validate.estimating.context.inputs import STATED, Inputs
from hio_validate.models.estimate import Amount, Assumption, Candidate


def that_matter(inputs: Inputs, ledger: Ledger, candidates: Sequence[Candidate]) -> tuple[Assumption, ...]:
    """Every assumption of the ledger and of the candidates, with what becomes of the first candidate at its ends.

    One at a time: the others stay at their best guess. `changes` is absent where the first candidate stays the first, where
    there is none, and where the assumption is none that a person can state.
    """
    found = {each.name: each for each in ledger.assumptions}
    for each in looked_at(inputs, ledger, bound_of(ledger, inputs)).assumptions:
        found.setdefault(each.name, each)
    first = candidates[0] if candidates else None
    return tuple(_judged(inputs, each, first) for each in found.values())


_OF_DRAFTING = frozenset({"acceptance", "draft-tokens", "draft-cost"})
"""Proposals of drafting are computed from these where the stack does not draft."""


def without_effect(inputs: Inputs, ledger: Ledger) -> Iterator[str]:
    """What a person stated and nothing was computed from: a sentence each, so that nobody takes it for counted."""
    used = {each.name for each in ledger.assumptions} | {"prompt-tokens"}
    if inputs.path in ("decode-token", "request"):
        used |= _OF_DRAFTING
    if inputs.path == "decode-token" or inputs.target.metric == "wall_s":
        used.add("generated-tokens")
    if inputs.path != "decode-token":
        used.add("microbatch")
    if inputs.workload.held_in is not None and inputs.shape is not None:
        used.add("memory-beside")
    for name in inputs.stated:
        if name not in used:
            yield f"--assume {name} has no effect: no term of the path {inputs.path} was computed from it here"


def _judged(inputs: Inputs, assumption: Assumption, first: Candidate | None) -> Assumption:
    changes = "; ".join(_changes(inputs, assumption, first))
    return assumption.model_copy(update={"changes": changes or None})


def _changes(inputs: Inputs, assumption: Assumption, first: Candidate | None) -> Iterator[str]:
    """What another first candidate it would be at each end."""
    amount = assumption.amount
    if first is None or assumption.name not in STATED or amount.low == amount.high:
        return
    for end in (amount.low, amount.high):
        looked = _at(inputs, assumption.name, amount, end)
        other = looked.candidates[0] if looked.candidates else None
        if other is None or other.name != first.name:
            yield f"at {end:.4g}{'' if amount.unit == '1' else f' {amount.unit}'} {_comes_first(other, first)}"


def _comes_first(other: Candidate | None, first: Candidate) -> str:
    """`microbatch-512 comes first (at most 12 %), in place of draft-ngram`."""
    instead = f", in place of {first.name}"
    if other is None:
        return f"no candidate is left{instead}"
    return f"{other.name} comes first (at most {other.gain_percent.value:.3g} %){instead}"


def _at(inputs: Inputs, name: str, amount: Amount, end: float) -> LookedAt:
    """Everything looked at again where the assumption is exactly at one of its ends."""
    exact = Amount(value=end, low=end, high=end, unit=amount.unit)
    moved = replace(inputs, stated={**inputs.stated, name: exact})
    ledger = terms_of(moved)
    return looked_at(moved, ledger, bound_of(ledger, moved))
