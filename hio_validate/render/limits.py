"""The limits of a place, for targets that keep them: a limit that a target would drop in silence is refused."""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.models.site import Place
from hio_validate.render.bundle import CannotRender
from hio_validate.size import bytes_of

SIZES = frozenset({"memory_max", "memory_high", "memory_swap_max", "locked_memory"})
COUNTS = frozenset({"tasks_max", "open_files"})
_EVERYWHERE = frozenset({"start_s"})
"""What hio itself keeps, whatever starts the service."""


def limits_of(place: Place, target: str, known: Mapping[str, str]) -> dict[str, float]:
    """Limit -> its size in bytes, its count or its number. Raises CannotRender for what the target cannot keep."""
    reasons = [
        f"the limit {name} of the site is none that {target} keeps: expected {', '.join(sorted({*known, *_EVERYWHERE}))}"
        for name in place.limits
        if name not in known and name not in _EVERYWHERE
    ]
    found: dict[str, float] = {}
    for name in known:
        if name in place.limits:
            try:
                found[name] = _number(name, place.limits[name])
            except ValueError as error:
                reasons.append(f"the limit {name} of the site: {error}")
    if reasons:
        raise CannotRender(*reasons)
    return found


def _number(name: str, value: str | bool | int | float) -> float:
    if name in SIZES:
        return bytes_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError(f"{value} is no {'count' if name in COUNTS else 'number'}: expected one above 0")
    if name in COUNTS and value != int(value):
        raise ValueError(f"{value} is no count: expected a whole number")
    return value


def plain(number: float) -> str:
    """A number without an exponent and without a needless point."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
