"""Results remembered by what they were computed from.

Invariant: what a result was computed from is kept alive with it, so that no identity ever means two things. For
functions of documents and tables, which nobody changes once they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


class Remembered(Generic[*Given, Result]):
    """A function that computes once for the same objects: the very same, not equal ones."""

    def __init__(self, compute: Callable[[*Given], Result]) -> None:
        self._compute = compute
        self._known: dict[tuple[int, ...], tuple[tuple[*Given], Result]] = {}

    def __call__(self, *given: *Given) -> Result:
        key = tuple(map(id, given))
        if key not in self._known:
            self._known[key] = given, self._compute(*given)
        return self._known[key][1]
