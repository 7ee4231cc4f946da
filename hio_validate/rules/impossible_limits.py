"""Limits that nobody can read, or that contradict each other.

A limit that cannot be read protects nothing, and one that no leg can keep ends every trial (contract 4.3, 5.2). Sizes
are bytes or a number with KiB, MiB, GiB or TiB; the longest gap between two samples is no shorter than their period; a
leg has time beyond the start of its server, and the whole has time for a leg. A whole that ends before every leg could
use its time is a note: it may be meant.

How to fix: correct the value; `hio plan check` shows how long the trial can last.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.plan import Limits, Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.size import bytes_of

_SIZES = ("memory", "available", "swap", "device_memory")


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    for key in _SIZES:
        message = _unreadable(getattr(plan.limits, key))
        if message:
            yield Problem(at(item, "limits", key), message, "write e.g. 4GiB")
    yield from _times(item, plan.limits, len(plan.order))


def _unreadable(size: str | bool | int | float | None) -> str:
    try:
        if size is not None:
            bytes_of(size)
    except ValueError as error:
        return str(error)
    return ""


def _times(item: Item, limits: Limits, legs: int) -> Iterator[Problem]:
    if limits.gap_s < limits.sample_s:
        yield Problem(
            at(item, "limits", "gap_s"),
            f"samples are {limits.sample_s:g} s apart, so every gap is longer than {limits.gap_s:g} s and no leg would count",
            "let gap_s be several times sample_s",
        )
    if limits.leg_s <= limits.start_s:
        yield Problem(
            at(item, "limits", "leg_s"),
            f"a leg of {limits.leg_s:g} s has no time left when its server needs {limits.start_s:g} s to start",
            "let leg_s be start_s and the time of the requests",
        )
    if limits.total_s < limits.leg_s:
        yield Problem(
            at(item, "limits", "total_s"),
            f"the whole trial has {limits.total_s:g} s, less than one leg may take ({limits.leg_s:g} s)",
            f"{legs} legs can take {legs * limits.leg_s:g} s",
        )
    elif limits.total_s < legs * limits.leg_s:
        yield Problem(
            at(item, "limits", "total_s"),
            f"{legs} legs can take {legs * limits.leg_s:g} s, and the trial ends after {limits.total_s:g} s",
            "a trial that ends early measures nothing; give it the time of all legs",
            severity=Severity.NOTE,
        )


RULE = Rule(
    "impossible-limits", Scope.DOCUMENT, Severity.ERROR, "limits of a plan that contradict each other", check,
    kinds=("plan/v1",), contract=("4.3", "5.2"), since=3,
)  # fmt: skip
