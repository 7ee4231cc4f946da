"""Whether the arms did the same work, request by request (contract 6.3).

Invariant: what a server does not report is unknown, never equal; a difference beyond the plan's tolerance forbids the
comparison of speeds, whatever the speeds are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.evidence.trials import Trial
from hio_validate.models.plan import SameWork
from hio_validate.models.run import Run
from hio_validate.quantity import declared, share

STRICT = SameWork()
"""What holds where no plan says otherwise: nothing may differ."""

TEXTS = {"prompt_sha256": "the prompt", "content_sha256": "the answer"}
COUNTS = {"evaluated": "evaluated", "generated": "generated", "drafted": "drafted", "accepted": "accepted",
          "target_batches": "target batches"}  # fmt: skip
"""Columns that tell the work of a request, and what they count in words."""
_SPECULATION = ("drafted", "accepted", "target_batches")
NEEDED = ("prompt_sha256", "evaluated", "generated", "content_sha256")
"""Columns without which the same work is not shown."""


class Unequal(NamedTuple):
    """One quantity of one request in which two arms differ beyond the tolerance."""

    column: str
    request: int
    """Number of the measured request within its leg, 1 first."""
    arms: tuple[str, str]
    found: tuple[tuple[str, ...], tuple[str, ...]]
    """What each arm's legs did, in the order of the legs, each value once."""
    percent: float | None = None
    """The largest difference between two legs; None for texts."""
    tolerance: float = 0.0

    @property
    def sentence(self) -> str:
        """What differs, with both values."""
        one, two = self.arms
        counted = COUNTS.get(self.column, "")
        what = TEXTS.get(self.column) or (counted if self.column == "target_batches" else f"tokens {counted}")
        if self.percent is None:
            return f"{what} of request {self.request} is not the same in {one} and {two}"
        sides = " and ".join(
            f"{'/'.join(cell or 'none' for cell in each)} in {arm}"
            for arm, each in zip(self.arms, self.found, strict=True)
        )
        return f"{what} in request {self.request}: {sides} ({share(self.percent)}, tolerated {declared(self.tolerance)})"


def unequal_work(
    run: Run, trials: Sequence[Trial], arms: tuple[str, str], allowed: SameWork
) -> list[Unequal]:
    """Where two arms did different work, over the trials that count; empty where no difference is known."""
    sides = tuple([trial for trial in trials if trial.counted and trial.arm == arm] for arm in arms)
    columns = [name for name in (*TEXTS, *COUNTS) if name in run.columns]
    longest = max((len(trial.rows) for side in sides for trial in side), default=0)
    return [
        found
        for request in range(longest)
        for column in columns
        for found in _compared(column, request, arms, sides, allowed)
    ]


def _compared(
    column: str, request: int, arms: tuple[str, str], sides: Sequence[Sequence[Trial]], allowed: SameWork
) -> Iterator[Unequal]:
    if column == "content_sha256" and allowed.content == "any":
        return
    cells = [
        [trial.rows[request].cells[column] for trial in side if request < len(trial.rows)] for side in sides
    ]
    found = (tuple(dict.fromkeys(cells[0])), tuple(dict.fromkeys(cells[1])))
    if column in TEXTS:
        if found[0] and found[1] and len({*found[0], *found[1]} - _NOTHING) > 1:
            yield Unequal(column, request + 1, arms, found)
        return
    tolerance = _tolerance(column, allowed)
    difference = _largest_difference(*([_count(cell) for cell in side] for side in cells))
    if difference is not None and difference > tolerance + 1e-9:
        yield Unequal(column, request + 1, arms, found, difference, tolerance)


_NOTHING = {"", "-", "none"}


def _tolerance(column: str, allowed: SameWork) -> float:
    """The prompt is the same or not; what is generated and drafted may differ as far as the plan says."""
    if column in _SPECULATION:
        return allowed.accepted_percent
    return allowed.generated_percent if column == "generated" else 0.0


def _count(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _largest_difference(one: Sequence[float | None], two: Sequence[float | None]) -> float | None:
    """The largest difference between a leg of one arm and one of the other, in percent of the larger count.

    A count that only one arm reports is 0 in the other: who drafts nothing says nothing of drafting.
    """
    if not any(each is not None for each in (*one, *two)) or not one or not two:
        return None
    return max(_difference(a or 0.0, b or 0.0) for a in one for b in two)


def _difference(a: float, b: float) -> float:
    return 0.0 if a == b else 100 * abs(a - b) / max(abs(a), abs(b))


def unshown(run: Run) -> list[str]:
    """The columns that would show the same work and that the run does not have."""
    return [name for name in NEEDED if name not in run.columns]
