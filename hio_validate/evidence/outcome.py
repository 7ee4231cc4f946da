"""The words of a verdict, apart from what computes them: who only asks for it waits for nothing (docs/performance.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class Tier(StrEnum):
    """How much a number may be relied on."""

    VERDICT = "VERDICT"
    DRAFT = "DRAFT"
    NEEDS_CONTEXT = "NEEDS_CONTEXT"


class Result(StrEnum):
    """What a comparison says. All but the first two keep the previous configuration (contract 7.4)."""

    IMPROVEMENT = "improvement"
    HARM = "harm"
    NO_IMPROVEMENT = "no improvement"
    WITHIN_NOISE = "within noise"
    NOT_COMPARABLE = "not comparable"
    NOT_MEASURABLE = "not measurable"


class Condition(NamedTuple):
    """One condition of a verdict."""

    name: str
    reason: str
    """Kebab-case name of what is missing; "" where the condition is met."""
    sentence: str
    """What was found."""

    @property
    def met(self) -> bool:
        return not self.reason


class Outcome(Protocol):
    """What rules and statuses ask of a verdict; evidence/tiers.py computes it."""

    @property
    def tier(self) -> Tier: ...

    @property
    def result(self) -> Result: ...

    @property
    def reasons(self) -> list[Condition]:
        """What the record lacks for a VERDICT."""
        ...
