"""JSON read strictly: a key that stands twice in one object is refused, as the readers of YAML refuse it.

Invariants: integers are exact; NaN and Infinity stay what they are, so that each caller decides where they are allowed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

_DIGITS = 300
"""Of an integer; a float holds 308."""


class Twice(ValueError):
    """A JSON object says a key twice."""


def strict_json(text: str) -> Any:
    """A JSON value. Raises Twice for a key that stands twice in one object, ValueError for what is no JSON.

    Infinity and NaN are read as floats; a number that no float can hold is refused rather than made infinite.
    """
    return _DECODER.decode(text)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `object_pairs_hook`. Raises Twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise Twice(key if len(key) < 80 else f"{key[:80]}...")
    return values


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"{text[:40]}... is more than a number can hold")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is more than a number can hold")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=once, parse_float=_finite, parse_int=_whole)
"""Asking each number costs less than searching the text for those that are too large."""
