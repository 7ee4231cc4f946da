"""How far two backends' next-token distributions are apart, as far as their top-k can tell (contract 7.5).

Let P and Q be the two distributions over all tokens after one and the same prefix, and C the tokens whose probability both
sides say. p and q are the probabilities of C's tokens, and the common residual bucket is what is left of each side:
r = 1 - sum p and s = 1 - sum q.

Total variation, TV = 1/2 sum |P - Q|:
- lower bound  1/2 (sum_C |p - q| + |r - s|): merging all other tokens into one bucket is a function of the token, and no
  function makes two distributions further apart (data processing inequality).
- upper bound  1/2 (sum_C |p - q| + r + s): outside of C, sum |P - Q| <= sum P + sum Q = r + s (triangle inequality).

Kullback-Leibler divergence, KL(P, Q) = sum P ln(P / Q), in nats:
- lower bound  sum_C p ln(p / q) + r ln(r / s), again of the merged distributions. A residual or a probability of Q below
  ROUNDING counts as ROUNDING, which only lowers the bound; below 0 it says nothing and is 0.
- there is no upper bound: a token that Q gives nothing and P a little is hidden in the residuals, and makes KL infinite.

Invariants: both sides are before sampling; a position is compared only where all tokens before it are the same; NaN and
infinity are failures and never enter a bound. Token equality is a diagnostic and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

ROUNDING = 1e-7
"""Probabilities below it are what rounding leaves of them."""
TOO_MUCH = 1e-4
"""How far rounding may lift a sum of probabilities above 1."""

Key = int | str
"""A token: its id, or its bytes or text where a side has no ids."""


class Position(NamedTuple):
    """What one side says of the next token."""

    chosen: Key
    shown: str
    """The chosen token as text."""
    logprobs: Mapping[Key, float]
    """Token -> natural logarithm of its probability, of the tokens that are told."""


class Flip(NamedTuple):
    """The likeliest token is another one."""

    tokens: tuple[Key, Key]
    margins: tuple[float | None, float | None]
    """By how many nats each side prefers its own to the other's; None where it does not tell the other's."""


class Apart(NamedTuple):
    """One position of both sides."""

    position: int
    """From 1."""
    common: int
    """Tokens that both sides tell."""
    residuals: tuple[float, float]
    tv: tuple[float, float]
    """Lower and upper bound."""
    kl: tuple[float, float]
    """Lower bounds of KL(A, B) and KL(B, A) in nats."""
    flip: Flip | None


class Prompt(NamedTuple):
    """The comparison of one prompt."""

    positions: tuple[Apart, ...]
    """Those with the same tokens before them."""
    lengths: tuple[int, int]
    """Positions that each side has."""
    diverged: int | None
    """Position from 1 at which the chosen tokens differ; None: nowhere."""
    shown: tuple[str, str]
    """The tokens that were chosen there."""
    equal: int
    """Positions with an equal chosen token, those after the first difference among them: a diagnostic."""


def fault_of(position: Position) -> str | None:
    """What cannot be so about a position, in a sentence; None where nothing is wrong."""
    for logprob in position.logprobs.values():
        if not math.isfinite(logprob):
            return f"a log-probability is {logprob}: not a finite number"
        if logprob > math.log1p(TOO_MUCH):
            return f"a log-probability is {logprob:.6g}: no probability is above 1"
    total = math.fsum(map(math.exp, position.logprobs.values()))
    return f"the probabilities add up to {total:.6g}, more than 1" if total > 1 + TOO_MUCH else None


def compared(one: Sequence[Position], other: Sequence[Position]) -> Prompt:
    """Two answers to one prompt, position by position while what stands before is the same."""
    apart, diverged, shown = [], None, ("", "")
    for number, (a, b) in enumerate(zip(one, other, strict=False), 1):
        apart.append(_apart(number, a.logprobs, b.logprobs))
        if a.chosen != b.chosen:
            diverged, shown = number, (a.shown, b.shown)
            break
    equal = sum(a.chosen == b.chosen for a, b in zip(one, other, strict=False))
    return Prompt(tuple(apart), (len(one), len(other)), diverged, shown, equal)


def _apart(number: int, one: Mapping[Key, float], other: Mapping[Key, float]) -> Apart:
    common = [key for key in one if key in other]
    p, q = ([math.exp(side[key]) for key in common] for side in (one, other))
    residuals = _residual(p), _residual(q)
    return Apart(
        number,
        len(common),
        residuals,
        total_variation(p, q),
        (divergence(p, q), divergence(q, p)),
        _flip(one, other),
    )


def _residual(probabilities: Sequence[float]) -> float:
    return max(0.0, 1 - math.fsum(probabilities))


def total_variation(p: Sequence[float], q: Sequence[float]) -> tuple[float, float]:
    """Bounds of the total variation of two distributions by the probabilities of their common tokens."""
    inside = math.fsum(abs(a - b) for a, b in zip(p, q, strict=True))
    r, s = _residual(p), _residual(q)
    return min(1.0, (inside + abs(r - s)) / 2), min(1.0, (inside + r + s) / 2)


def divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """A lower bound of KL(P, Q) in nats by the probabilities of the common tokens."""
    pairs = [*zip(p, q, strict=True), (_residual(p), _residual(q))]
    return max(0.0, math.fsum(a * math.log(a / max(b, ROUNDING)) for a, b in pairs if a > 0))


def _flip(one: Mapping[Key, float], other: Mapping[Key, float]) -> Flip | None:
    if not one or not other:
        return None
    first, second = (max(side, key=side.__getitem__) for side in (one, other))
    if first == second:
        return None
    margins = (
        one[first] - one[second] if second in one else None,
        other[second] - other[first] if first in other else None,
    )
    return Flip((first, second), margins)


def flips(prompts: Sequence[Prompt]) -> Iterator[tuple[int, Apart]]:
    """(number of the prompt from 1, position) of every position whose likeliest token is another one."""
    for number, prompt in enumerate(prompts, 1):
        yield from ((number, each) for each in prompt.positions if each.flip)
