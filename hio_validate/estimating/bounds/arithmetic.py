"""The version of the arithmetic that makes a ledger, so that a kept estimate outlives a better one.

Invariant: while ARITHMETIC stays the same number, the same documents and statements give the same ledger, bound and memory.
"""

from __future__ import annotations

from typing import Final

from hio_validate.models.estimate import Estimate

ARITHMETIC: Final = 1
"""What `terms_of`, `bound_of` and `memory_of` compute today.

One more with each change after which some question (bounds/asked.py) is answered with another term, work, cost, fixed part,
group, bound or part of memory than before: a term that hio learns, a better formula, another choice among the same rates, a block size that
was wrong. That is anything in costs/ and estimating/bounds/. Not with other words, with another order of terms, nor with what
only a new field of a document or a new name of `--assume` brings, as no kept estimate has those.
tests/estimating/bounds/test_arithmetic.py fails where that is forgotten, and says what to do.
"""

FIRST: Final = 1
"""The arithmetic of estimates that hio wrote before they named one."""


def arithmetic_of(estimate: Estimate) -> int | None:
    """With which arithmetic hio computed an estimate; None: a person wrote it."""
    if estimate.arithmetic is not None:
        return estimate.arithmetic
    return FIRST if estimate.judged_by is not None else None


def is_todays(estimate: Estimate) -> bool:
    """Whether it can be computed again; what a person wrote is held against today's arithmetic."""
    return arithmetic_of(estimate) in (None, ARITHMETIC)
