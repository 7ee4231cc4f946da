"""Sizes as documents write them: bytes, or a number with its unit.

Invariant: `4GiB` is 2^32 and `4GB` is 4 * 10^9; a text without a known unit is no size.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(|B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(size: str | bool | int | float) -> int:
    """The bytes that a size names, e.g. 4GiB or 1024. Raises ValueError, which says what was expected."""
    match = _SIZE.fullmatch(str(size)) if not isinstance(size, bool) else None
    if match is None:
        raise ValueError(f"{size} is no size: expected bytes or a number with a unit such as 4GiB or 512MiB")
    number, unit = match.groups()
    base = 1024 if "i" in unit else 1000
    return int(Decimal(number) * base ** _POWERS[unit.removesuffix("B").removesuffix("i").upper()])


def shown(size: int) -> str:
    """A number of bytes in the largest binary unit that it fills, with at most one digit behind the point."""
    number, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{number:.1f}".removesuffix(".0") + f" {unit}"
