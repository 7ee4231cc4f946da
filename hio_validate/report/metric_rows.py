"""The numbers of a record as rows: one a quantity with its statistics, however the source calls each of them.

Invariant: a row has one definition, one unit and one count; two numbers of one statistic never share a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hio_validate.evidence.definitions import DEFINITIONS, UNKNOWN
from hio_validate.evidence.observed import Measured

SINGLE = frozenset({"value", "total"})
"""Statistics of a quantity that has no distribution."""
USUAL = ("value", "total", "mean", "median", "p90", "p95", "p99", "std", "min", "max")
"""The order of columns; further ones follow as the source has them."""
LOOKED_FOR = frozenset(USUAL[:-2])
"""The others are shown where there are few of these."""
_FIRST = ("value", "total", "mean", "median", "p99", "p90", "std", "p95", "min", "max")
"""Which ones are shown where not all have room."""
_WORD = re.compile(
    r"(?:^|(?<=[_ .-]))(?:mean|avg|average|median|std|stddev|stdev|min|max|p\d+(?:[.p]\d+)?|[\d.]+ percentile)(?=$|[_ .-])",
    re.IGNORECASE,
)
"""A statistic within a name: mean_ttft_ms, p99.9_itl, ttft.avg, 99.00 percentile latency (ns)."""


class Quantity(NamedTuple):
    """One row."""

    name: str
    """What the source calls it, without the statistic."""
    definition: str
    unit: str
    n: int | None
    numbers: dict[str, Measured]
    """By their statistic."""

    @property
    def better(self) -> str:
        """A key of DIRECTION."""
        return direction(self.definition)

    @property
    def is_single(self) -> bool:
        """Whether it has no distribution."""
        return self.numbers.keys() <= SINGLE


def quantities(metrics: Iterable[Measured]) -> list[Quantity]:
    """The rows, in the order in which the source has them."""
    found: dict[tuple[str, str, str, int | None], Quantity] = {}
    again: list[Quantity] = []
    for each in metrics:
        name = _without_statistic(each.name) or each.definition
        rest = (each.definition, each.unit, each.n)
        row = found.setdefault((name.lower(), *rest), Quantity(name, *rest, {}))
        if each.statistic in row.numbers:
            again.append(Quantity(each.name, each.definition, each.unit, each.n, {each.statistic: each}))
        else:
            row.numbers[each.statistic] = each
    return _joined([*found.values(), *again])


def _joined(rows: list[Quantity]) -> list[Quantity]:
    """A statistic that is called otherwise than the rest (pp16_tps, pp16_stdev) joins the only row that it can be of."""
    kept: list[Quantity] = []
    for row in rows:
        of = [each for each in kept if _are_one(each, row)]
        if len(of) == 1:
            of[0].numbers.update(row.numbers)
        else:
            kept.append(row)
    return kept


def _are_one(one: Quantity, other: Quantity) -> bool:
    is_lone = 1 in (len(one.numbers), len(other.numbers))
    is_apart = one.numbers.keys().isdisjoint(other.numbers)
    return is_lone and is_apart and one[1:4] == other[1:4] and not (one.is_single or other.is_single)


def _without_statistic(name: str) -> str:
    """Its words of a statistic taken out, and what then separates nothing."""
    rest = _WORD.sub("", name)
    return name if rest == name else re.sub(r"([_ .-])[_ .-]+", r"\1", rest).strip("_ .-")


def by_importance(statistics: Iterable[str]) -> list[str]:
    """Different statistics, those first that are looked for first."""
    return sorted(dict.fromkeys(statistics), key=lambda each: _FIRST.index(each) if each in _FIRST else 99)


def in_order(statistics: Iterable[str]) -> list[str]:
    """Different statistics as columns stand."""
    return sorted(dict.fromkeys(statistics), key=lambda each: USUAL.index(each) if each in USUAL else 99)


def shown(number: Measured | None) -> str:
    """A number as a cell: whole ones exact, others to five digits, and a star where hio computed it."""
    if number is None:
        return "-"
    value = str(number.value) if isinstance(number.value, int) else f"{number.value:.5g}"
    return f"{value}*" if number.derived else value


def count(row: Quantity) -> str:
    """n of a row: a question mark where the source does not say it, nothing where there is nothing to count."""
    if row.n is None:
        return "" if row.is_single else "?"
    return str(row.n)


def by_kind(rows: Iterable[Quantity]) -> Iterator[list[Quantity]]:
    """Rows that stand in one table: of one direction, with a distribution or without."""
    kinds: dict[tuple[str, bool], list[Quantity]] = {}
    for row in rows:
        kinds.setdefault((row.better, row.is_single), []).append(row)
    yield from kinds.values()


DIRECTION = {
    "higher": "higher is better",
    "lower": "lower is better",
    "": "neither is better",
    "unknown": "unknown what is better",
}
"""How a table, or a part of the definitions, is headed."""


def direction(definition: str) -> str:
    """A key of DIRECTION; of a number that nobody can say how it was counted, also that is unknown."""
    return UNKNOWN if definition == UNKNOWN else DEFINITIONS[definition].better or ""
