"""Columns of values that come row by row, each summed up without being held: what rows of requests are read into.

Invariants: a value that cannot be so is told once a column, with its first line and how many there are, and counts nowhere;
a column whose unit changes on the way is no metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from math import isnan
from typing import Any

from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.observed import Observation
from hio_validate.importing.results.distribution import Distribution
from hio_validate.importing.results.importer import is_number
from hio_validate.importing.results.summarised import Summary, add, find

KEPT = 256
"""Most values of a column that stand in the record themselves."""
_MOST = 1 << 53
"""An integer above is not exact as a float, and no measured time has as many nanoseconds."""


class Column:
    """The values of one metric."""

    def __init__(self, name: str, definition: str, unit: str, distribution: Distribution) -> None:
        self.name, self.definition, self.unit, self.distribution = name, definition, unit, distribution
        self.kept: list[int | float] = []
        self.mixed: tuple[str, int] | None = None

    def keep(self, values: Sequence[int | float]) -> None:
        """Remembers values until there are more than a record shall hold."""
        if len(self.kept) <= KEPT:
            self.kept.extend(values)

    @cached_property
    def statistics(self) -> dict[str, float]:
        """Once every row was read."""
        return self.distribution.statistics()


class Columns:
    """All of them. A context: their temporary files go with it. `derived`: whether the values are computed from the rows."""

    def __init__(self, derived: bool = False) -> None:
        self._derived = derived
        self._columns: dict[str, Column] = {}
        self._faults: dict[tuple[str, str], tuple[int, int, str]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Columns:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, name: str, definition: str, unit: str, value: Any, line: int) -> None:
        """One value of a row, or a list of them."""
        column = self._columns.get(name)
        if column is None:
            distribution = self._stack.enter_context(Distribution())
            column = self._columns[name] = Column(name, definition, unit, distribution)
        if unit != column.unit:
            column.mixed = column.mixed or (unit, line)
        elif not isinstance(value, list):
            self._one(column, value, line)
        elif (
            value
            and {*map(type, value)} <= {int, float}
            and min(value) >= 0
            and max(value) < _MOST
            and not any(map(isnan, value))
        ):
            column.distribution.extend(value)
            column.keep(value)
        else:
            for each in value:
                self._one(column, each, line)

    def _one(self, column: Column, value: Any, line: int) -> None:
        if not is_number(value) or not abs(value) < _MOST:  # NaN is below nothing
            message = f"{column.name} is {value!r:.40}, expected a number of {column.unit}"
            self.fault("no-number", column.name, message, line)
        elif value < 0:
            message = f"{column.name} is {value:g} {column.unit}: less than nothing"
            self.fault("impossible-value", column.name, message, line)
        else:
            column.distribution.add(value)
            column.keep((value,))

    def fault(self, id: str, name: str, message: str, line: int) -> None:
        """Remembers something that cannot be so."""
        count, first, told = self._faults.get((id, name), (0, line, message))
        self._faults[id, name] = count + 1, first, told

    def of(self, name: str, statistic: str) -> float | None:
        """One statistic of a column; None where it has no value."""
        column = self._columns.get(name)
        return column.statistics.get(statistic) if column is not None else None

    def count(self, name: str) -> int:
        column = self._columns.get(name)
        return column.distribution.count if column is not None else 0

    def tell(self, record: Observation) -> None:
        """Adds every column as metrics, and what was wrong as findings."""
        for column in self._columns.values():
            if column.mixed is not None:
                unit, line = column.mixed
                find(
                    record,
                    "mixed-units",
                    f"{column.name} is in {column.unit} at first and in {unit} here",
                    line,
                )
                continue
            statistics = dict(column.statistics)
            if DEFINITIONS[column.definition].dimension != "count":
                statistics.pop("total", None)
            before = len(record.metrics)
            add(
                record,
                Summary(
                    column.name,
                    column.definition,
                    column.unit,
                    statistics,
                    column.distribution.count,
                    derived=True,
                ),
            )
            if len(column.kept) <= KEPT:
                record.metrics[before:] = [
                    each._replace(samples=tuple(column.kept), samples_derived=self._derived)
                    if each.statistic == "mean"
                    else each
                    for each in record.metrics[before:]
                ]
        for (id, _), (count, line, message) in self._faults.items():
            more = f", and {count - 1} more of this kind" if count > 1 else ""
            find(record, id, message + more, line)
