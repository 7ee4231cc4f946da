"""Sizes as documents write them: a number of bytes, or `512MiB`, `4GiB`, `2GB`.

Invariant: a size that cannot be read is refused, never taken for no limit.
"""

from __future__ import annotations

import re
from fractions import Fraction

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]i?B|kB|B)?")
_POWER = {"K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(size: str | bool | int | float) -> int:
    """The bytes of a size; KiB, MiB, GiB, TiB are powers of 1024, kB, MB, GB, TB of 1000. Raises ValueError."""
    match = _SIZE.fullmatch(str(size).strip())
    if match is None or isinstance(size, bool):
        raise ValueError(f"{size} is no size: expected bytes, or a number with KiB, MiB, GiB or TiB")
    unit = match[2] or "B"
    factor = (1024 if unit.endswith("iB") else 1000) ** _POWER.get(unit[0].upper(), 0)
    return int(Fraction(match[1]) * factor)


def shown(count: int) -> str:
    """Bytes as a person reads them: the largest unit that leaves a whole number."""
    for unit, power in (("TiB", 4), ("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power}{unit}"
    return str(count)
