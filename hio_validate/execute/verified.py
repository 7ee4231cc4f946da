"""What a live process was found to be, beside what its stack declares: one line a check (contract 1.7).

Invariant: what could not be observed is neither equal nor different, and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hio_validate.models.capture import CapturedProcess

Verdict = Literal["equal", "differs", "not observable"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    declared: str
    observed: str
    """What was seen, or why nothing could be seen."""
    verdict: Verdict


def judged(name: str, declared: str, observed: str, holds: bool) -> Check:
    """A check of what was seen."""
    return Check(name, declared, observed, "equal" if holds else "differs")


def unseen(name: str, declared: str, why: str) -> Check:
    """A check of what could not be seen, or of what nothing is declared."""
    return Check(name, declared, why, "not observable")


@dataclass(frozen=True)
class Verification:
    """All checks of one process."""

    stack: str
    """Pin of the stack."""
    pid: int
    checks: tuple[Check, ...]
    process: CapturedProcess | None = None
    """As it was captured for these checks."""

    @property
    def is_proven(self) -> bool:
        """Whether every check is equal; a stack of which nothing was checked is not proven."""
        return bool(self.checks) and all(each.verdict == "equal" for each in self.checks)

    @property
    def differing(self) -> tuple[Check, ...]:
        return tuple(each for each in self.checks if each.verdict == "differs")

    @property
    def not_observable(self) -> tuple[Check, ...]:
        return tuple(each for each in self.checks if each.verdict == "not observable")
