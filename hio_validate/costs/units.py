"""Units of documents and what they are worth in base units: bytes, floating-point operations, seconds, counts.

The vocabulary is closed: GB/s, GiB/s and Gbit/s differ by up to eight, so that none is guessed
(docs/adr/0016-estimates.md; tests/costs/test_units.py holds every factor against pint).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from hio_validate.costs.interval import Interval
from hio_validate.models.estimate import Amount


class Dimension(StrEnum):
    """What kind of thing a unit counts."""

    DATA = "data"
    WORK = "arithmetic"
    TIME = "time"
    COUNT = "count"
    DATA_RATE = "data per time"
    WORK_RATE = "arithmetic per time"


_POWERS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

UNITS: dict[str, tuple[Dimension, float]] = {
    "1": (Dimension.COUNT, 1.0),
    **{f"{prefix}B": (Dimension.DATA, size) for prefix, size in {**_POWERS, **_BINARY}.items() if prefix != "P"},
    **{f"{prefix}FLOP": (Dimension.WORK, size) for prefix, size in _POWERS.items() if prefix != "k"},
    "s": (Dimension.TIME, 1.0), "ms": (Dimension.TIME, 1e-3), "us": (Dimension.TIME, 1e-6), "ns": (Dimension.TIME, 1e-9),
    **{f"{prefix}B/s": (Dimension.DATA_RATE, size) for prefix, size in {**_POWERS, **_BINARY}.items() if prefix != "P"},
    **{f"{prefix}bit/s": (Dimension.DATA_RATE, _POWERS[prefix] / 8) for prefix in "kMGT"},
    **{f"{prefix}FLOP/s": (Dimension.WORK_RATE, size) for prefix, size in _POWERS.items() if prefix != "k"},
}  # fmt: skip
"""Unit -> (dimension, its size in the base unit of that dimension)."""

BASE = {
    Dimension.DATA: "B", Dimension.WORK: "FLOP", Dimension.TIME: "s", Dimension.COUNT: "1",
    Dimension.DATA_RATE: "B/s", Dimension.WORK_RATE: "FLOP/s",
}  # fmt: skip

DIMENSION_OF = {
    "memory-read": Dimension.DATA_RATE,
    "memory-copy": Dimension.DATA_RATE,
    "matmul": Dimension.WORK_RATE,
    "matvec": Dimension.DATA_RATE,
    "disk-read": Dimension.DATA_RATE,
    "http-round-trip": Dimension.TIME,
    "process-start": Dimension.TIME,
    "link": Dimension.DATA_RATE,
    "link-latency": Dimension.TIME,
    "launch": Dimension.TIME,
    "host-gap": Dimension.TIME,
}
"""Quantity of a ceilings document -> the dimension its unit has to have (rule unit-mismatch)."""

DIVIDES = {
    Dimension.DATA_RATE: Dimension.DATA,
    Dimension.WORK_RATE: Dimension.WORK,
    Dimension.TIME: Dimension.COUNT,
}
"""Dimension of a unit cost -> the dimension of the work it goes with."""


def base(amount: Amount) -> Interval:
    """An amount of a document in the base unit of its dimension."""
    size = UNITS[amount.unit][1]
    return Interval(amount.value * size, amount.low * size, amount.high * size)


def amount(interval: Interval, unit: Any) -> Amount:
    """An interval in base units as a document states it, in `unit`; nothing is rounded."""
    size = UNITS[unit][1]
    return Amount(value=interval.value / size, low=interval.low / size, high=interval.high / size, unit=unit)


DECIMAL = {
    Dimension.DATA: ("B", "kB", "MB", "GB", "TB"),
    Dimension.WORK: ("FLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"),
    Dimension.TIME: ("ns", "us", "ms", "s"),
    Dimension.COUNT: ("1",),
    Dimension.DATA_RATE: ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"),
    Dimension.WORK_RATE: ("FLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"),
}
"""The units in which numbers are written and shown, smallest first: one family for each dimension, so that two of them can
be held side by side."""


def fitting(interval: Interval, dimension: Dimension) -> Amount:
    """An interval in base units in the largest decimal unit that its best guess fills; nothing is rounded."""
    units = DECIMAL[dimension]
    found = next((unit for unit in reversed(units) if interval.value >= UNITS[unit][1]), units[0])
    return amount(interval, found if interval.value else BASE[dimension])
