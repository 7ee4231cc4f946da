"""Drafting as the rows of a stack's own runs count it: whether it drafts, how many tokens a pass, how many are accepted.

Invariant: a stack whose rows count drafted tokens drafts, whatever its engine calls the setting; taking one token a pass
for granted there would make the bound several times too low and name the wrong resource.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.costs.units import amount
from hio_validate.estimating.context.recorded import Ran, Recorded, asked_fixture, rows_asked
from hio_validate.evidence.raw import Row, UnreadableRows, number
from hio_validate.models.estimate import Amount
from hio_validate.repo import Item

_COLUMNS = ("drafted", "accepted", "generated")


class Counted(NamedTuple):
    """What rows counted, by the names under which a person states it."""

    by: str
    """The run whose rows these are."""
    amounts: dict[str, Amount]

    @property
    def words(self) -> str:
        return f"{self.amounts['draft-tokens'].value:.3g} tokens a pass, as rows of {self.by} count"


def drafting_counted(recorded: Recorded, fixture: Item | None) -> Counted | None:
    """Of the newest run of this very stack (and fixture, where one is named) whose rows count drafted tokens."""
    for ran in recorded.ran:
        if fixture is None or asked_fixture(ran.case, fixture):
            passes = [each for row in rows_asked(ran.case, ran.arm) if (each := _counts(ran, row))]
            if passes:
                return Counted(ran.case.run.name, dict(_amounts(passes)))
    return None


class _Counts(NamedTuple):
    drafted: float
    accepted: float
    passes: float
    """Of the model: each yields a token of its own beside the accepted ones."""


def _counts(ran: Ran, row: Row) -> _Counts | None:
    """None where a row does not tell, or nothing was drafted in it."""
    if any(name not in ran.case.model.columns for name in _COLUMNS):
        return None
    try:
        drafted, accepted, generated = (number(row, name) for name in _COLUMNS)
    except UnreadableRows:
        return None
    passes = generated - accepted
    return _Counts(drafted, accepted, passes) if 0 <= accepted <= drafted and drafted > 0 < passes else None


def _amounts(rows: list[_Counts]) -> Iterator[tuple[str, Amount]]:
    """All rows together, between the lowest and the highest row."""
    drafted, accepted, passes = (sum(column) for column in zip(*rows, strict=True))
    a_pass = [each.drafted / each.passes for each in rows]
    shares = [each.accepted / each.drafted for each in rows]
    yield "draft-tokens", _between(drafted / passes, a_pass)
    yield "acceptance", _between(accepted / drafted, shares)


def _between(value: float, ends: list[float]) -> Amount:
    return amount(Interval(value, min(value, *ends), max(value, *ends)), "1")
