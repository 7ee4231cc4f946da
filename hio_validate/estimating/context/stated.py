"""What a person states of a workload: `NAME=VALUE[..HIGH]UNIT`, read with its unit or refused.

Invariant: nothing is guessed. A number of a dimension is refused without its unit, and a share above 1 is no share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from hio_validate.costs.units import UNITS, Dimension
from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.inputs import STATED
from hio_validate.models.estimate import Amount
from hio_validate.spelling import nearest

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_STATED = re.compile(rf"(?P<low>{_NUMBER})(?:\.\.(?P<high>{_NUMBER}))?\s*(?P<unit>[A-Za-z].*)?")

SHARES = ("efficiency", "acceptance")
"""Of these, 1 is all there is."""
_WHOLE = ("prompt-tokens", "generated-tokens", "draft-tokens", "launches", "collectives", "microbatch")
_LEAST, _MOST = 1e-12, 1e21
"""In base units: a picosecond, a zettabyte. Beyond, no product of two numbers need be finite."""
_SENSIBLE = {
    "prompt-tokens": (0, 1e9), "generated-tokens": (0, 1e9), "draft-tokens": (0, 1e4), "launches": (0, 1e9), "draft-cost": (0, 100),
    "efficiency": (1e-3, 1), "launch": (0, 10), "host-gap": (0, 1e3), "link-latency": (0, 1e3), "queue-wait": (0, 1e6),
    "link": (1e3, 1e18), "memory-read": (1e3, 1e18), "disk-read": (1e3, 1e18), "matmul": (1e3, 1e21), "collective-bytes": (0, 1e15),
}  # fmt: skip
"""Least and most in base units that any machine or request of these years has, by far: what lies beyond is a slip of the keys."""
_NOT_ZERO = frozenset({Dimension.DATA_RATE, Dimension.WORK_RATE})
"""Work is divided by these."""


def stated(words: Iterable[str]) -> dict[str, Amount]:
    """What several `--assume` say, by name. Raises CannotEstimate."""
    found: dict[str, Amount] = {}
    for word in words:
        name, amount = _one(word)
        if name in found:
            raise CannotEstimate(f"--assume {name} is given twice; give one interval, {name}=LOW..HIGH")
        found[name] = amount
    return found


def _one(word: str) -> tuple[str, Amount]:
    name, sign, said = word.partition("=")
    if name not in STATED:
        near = nearest(name, STATED)
        raise CannotEstimate(
            f"--assume {word}: nothing is called {name or 'that'}"
            + (f"; did you mean {near}?" if near else f"; known are {', '.join(STATED)}")
        )
    match = _STATED.fullmatch(said.strip()) if sign else None
    if match is None:
        raise CannotEstimate(
            f"--assume {word}: expected {name}=VALUE or {name}=LOW..HIGH with its unit, e.g. {_example(name)}"
        )
    unit: Any = match["unit"] or "1"
    _refuse_another_dimension(word, name, unit)
    low, high = float(match["low"]), float(match["high"] or match["low"])
    _refuse_what_cannot_be(word, name, low, high, UNITS[unit][1])
    # A reader who gives two ends says nothing of what is likely between them: the middle.
    return name, Amount(value=low if low == high else low / 2 + high / 2, low=low, high=high, unit=unit)


def _example(name: str) -> str:
    examples = {"launches": "450", "collective-bytes": "32MB", "link": "200GB/s", "acceptance": "0.5..0.8",
                "efficiency": "0.6..0.9", "matmul": "900GFLOP/s", "draft-cost": "0.1"}  # fmt: skip
    unit = STATED[name][0]
    return f"{name}={examples.get(name) or {'1': '128', 'B/s': '20..24GB/s'}.get(unit, f'4{unit}')}"


def _refuse_another_dimension(word: str, name: str, unit: str) -> None:
    dimension = UNITS[STATED[name][0]][0]
    if unit in UNITS and UNITS[unit][0] is dimension:
        return
    fitting = [each for each, (its, _) in UNITS.items() if its is dimension]
    if dimension is Dimension.COUNT:
        raise CannotEstimate(f"--assume {word}: {name} is a plain number without a unit, got {unit}")
    got = "no unit" if unit == "1" else unit
    bits = f"{unit[:-3]}bit/s" if unit.endswith("b/s") else ""
    hint = f" (bits are written {bits})" if bits in UNITS else ""
    raise CannotEstimate(
        f"--assume {word}: {name} is counted in {STATED[name][0]}, expected one of {', '.join(fitting)}, got {got}{hint}"
    )


def _refuse_what_cannot_be(word: str, name: str, low: float, high: float, size: float) -> None:
    if not all(each == 0 or _LEAST <= each * size <= _MOST for each in (low, high)):
        raise CannotEstimate(f"--assume {word}: no such quantity is that large or that small")
    if low > high:
        raise CannotEstimate(f"--assume {word}: the interval is the wrong way round; expected LOW..HIGH")
    if name in SHARES and high > 1:
        raise CannotEstimate(f"--assume {word}: {name} is a share from 0 to 1, got {high:g}")
    if name == "microbatch" and low == 0:
        raise CannotEstimate(f"--assume {word}: a pass has at least one token, got 0")
    _refuse_beyond(word, name, (low, high), size)
    if low == 0 and (UNITS[STATED[name][0]][0] in _NOT_ZERO or name == "efficiency"):
        raise CannotEstimate(f"--assume {word}: {name} cannot be 0, work is divided by it")
    if name in _WHOLE and not (low.is_integer() and high.is_integer()):
        raise CannotEstimate(f"--assume {word}: {name} is counted in whole numbers")


def _refuse_beyond(word: str, name: str, ends: tuple[float, float], size: float) -> None:
    """What no machine has: a slip of the keys, most often of the unit."""
    least, most = _SENSIBLE.get(name, (0.0, _MOST))
    for end in ends:
        if end and not least <= end * size <= most:
            is_more, unit = end * size > most, STATED[name][0]
            its = (most if is_more else least) / UNITS[unit][1]
            raise CannotEstimate(
                f"--assume {word}: {name} is {its:g}{'' if unit == '1' else f' {unit}'} at {'most' if is_more else 'least'}, "
                f"got {end:g}; look at its unit"
            )
