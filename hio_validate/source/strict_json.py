"""JSON read strictly: a key that stands twice in one object is refused, as the readers of YAML refuse it.

Invariants: integers are exact; NaN and Infinity stay what they are, so that each caller decides where they are allowed.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_DIGITS = 300
"""Of an integer; a float holds 308."""

_MAY_BE_TOO_LARGE = re.compile(r"\d[eE]|\d{300}")
"""Only such a text can hold a number that no float holds; looking at each number of the others takes as long as reading it."""


class Twice(ValueError):
    """A JSON object says a key twice."""


def strict_json(text: str) -> Any:
    """A JSON value. Raises Twice for a key that stands twice in one object, ValueError for what is no JSON.

    Infinity and NaN are read as floats; a number that no float can hold is refused rather than made infinite.
    """
    if _MAY_BE_TOO_LARGE.search(text):
        return json.loads(text, object_pairs_hook=once, parse_float=_finite, parse_int=_whole)
    return json.loads(text, object_pairs_hook=once)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `object_pairs_hook`. Raises Twice."""
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise Twice(key if len(key) < 80 else f"{key[:80]}...")
        seen[key] = value
    return seen


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"{text[:40]}... is more than a number can hold")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is more than a number can hold")
    return value
