"""Numbers that are not known exactly, with as many digits as their interval allows.

Invariant: what is not zero is never shown as zero, and no number shows more than four digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from hio_validate.costs.units import DECIMAL, UNITS
from hio_validate.models.estimate import Amount

_MOST_DIGITS, _LEAST_DIGITS = 4, 2


def readable(amount: Amount) -> Amount:
    """The same amount in the unit in which its best guess is read best."""
    return in_unit(amount, common_unit([amount]))


def common_unit(amounts: Iterable[Amount]) -> str:
    """The unit in which the largest of them is at least one; all are of one dimension, and there is one at least."""
    known = list(amounts)
    dimension = UNITS[known[0].unit][0]
    largest = max(each.value * UNITS[each.unit][1] for each in known) or max(
        each.high * UNITS[each.unit][1] for each in known
    )
    fitting = [unit for unit in DECIMAL[dimension] if UNITS[unit][1] <= largest * (1 + 1e-12)]
    return fitting[-1] if fitting else DECIMAL[dimension][0]


def in_unit(amount: Amount, unit: str) -> Amount:
    """The same amount in another unit of its dimension; nothing is rounded."""
    factor = UNITS[amount.unit][1] / UNITS[unit][1]
    changed = {"value": amount.value * factor, "low": amount.low * factor, "high": amount.high * factor}
    return amount.model_copy(update={**changed, "unit": unit})


def best_guess(amount: Amount, unit: str | None = None) -> str:
    """`82 ms`: the best guess alone, in the unit that is read best, or in `unit` of its dimension."""
    told = readable(amount) if unit is None else in_unit(amount, unit)
    return _with_unit(digits(told.value, told.low, told.high), told.unit)


def with_interval(amount: Amount, unit: str | None = None, word: str | None = None) -> str:
    """`82 ms (75 to 90)`; `word` stands in for the unit: `12 token/s (11 to 13)`."""
    told = readable(amount) if unit is None else in_unit(amount, unit)
    value, low, high = (digits(each, told.low, told.high) for each in (told.value, told.low, told.high))
    said = f"{value} {word}".rstrip() if word is not None else _with_unit(value, told.unit)
    return said if low == value == high else f"{said} ({low} to {high})"


def percent(amount: Amount) -> str:
    """`83 % (78 to 91)` of an amount that is counted in percent."""
    return with_interval(amount, word="%")


def digits(value: float, low: float, high: float) -> str:
    """One number of an interval: the last digit it shows is the second one of the interval's width.

    What is exact shows what it has of four digits: `512`, `0.5`, `4.981`.
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    leading = math.floor(math.log10(abs(value)))
    width = high - low
    last = math.floor(math.log10(width)) - 1 if width > 0 else leading - _MOST_DIGITS
    last = max(leading - _MOST_DIGITS + 1, min(leading - _LEAST_DIGITS + 1, last))
    shown = f"{round(value, -last):.{max(0, -last)}f}"
    return shown if width > 0 or "." not in shown else shown.rstrip("0").removesuffix(".")


def _with_unit(number: str, unit: str) -> str:
    return number if unit == "1" else f"{number} {unit}"
