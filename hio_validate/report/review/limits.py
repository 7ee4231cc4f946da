"""How much of everything a page tells, from all of it down to what always fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from hio_validate.report.page import Line

ALL = "hio review --format json"
_T = TypeVar("_T")


class Limits(NamedTuple):
    """At most so many."""

    rows: int
    """Of a table or list."""
    parts: int
    """Stacks and matrices of a service."""
    services: int


LIMITS = (
    Limits(1000, 1000, 1000),
    Limits(100, 100, 100),
    Limits(40, 40, 40),
    Limits(20, 12, 20),
    Limits(8, 5, 12),
    Limits(3, 2, 6),
    Limits(1, 1, 3),
)


def first(things: Sequence[_T], most: int, noun: str) -> tuple[Sequence[_T], list[Line]]:
    """The first of some things, and the sentence, if any, on how many more there are."""
    more = len(things) - most
    if more <= 0:
        return things, []
    nouns = {"matrix": "matrices"}.get(noun, f"{noun}s")
    return things[:most], [[f"… {more} more {noun if more == 1 else nouns}; {ALL} lists all"]]
