"""When two spellings are one value: `on` is `enabled` is `1` for a switch, `0.80` is `0.8`, `1k` is `1000`.

Invariant: `normal` is idempotent, and unequal settings never become equal: only spellings that the engine
itself reads alike are folded (llama.cpp common_arg_utils::is_truthy, vLLM human_readable_int).
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from typing import Any

from hio_validate.models.family import Family
from hio_validate.settings.catalogue import NUMBER, Option

ABSENT = "absent"
"""Not given, and nothing says what the engine does then."""
UNKNOWN = "unknown"
"""Nobody observed or recorded it; never equal to anything, not even to itself (contract 1.5)."""

_ON = frozenset({"on", "enabled", "true", "1", "True"})
"""What llama.cpp reads as on, and what argparse prints as a default. `yes` and `ON` are neither."""
_OFF = frozenset({"off", "disabled", "false", "0", "False"})
_SUFFIXED = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kmgtKMGT])")
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4}
_MOST_DIGITS = 200
"""Beyond, a number stays text: Python's float overflows, and no setting is that large."""


def text_of(value: Any) -> str:
    """A value of a document as text: true is `on`, 0.80 is what the document says it is."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")
    return "absent" if value is None else str(value)


def reported_text(value: Any) -> str:
    """A value that an engine reports: a single-precision number by its shortest spelling.

    /props and GGUF headers carry 0.8 as the double 0.800000011920929, the nearest float of it.
    """
    if not isinstance(value, float) or single(value) != value:
        return text_of(value)
    shortest = (text for digits in range(1, 10) if single(float(text := f"{value:.{digits}g}")) == value)
    return format(Decimal(next(shortest, repr(value))), "f")


def single(number: float) -> float | None:
    """The nearest number of single precision; None beyond its range."""
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return None
    return nearest


def normal(text: str, factor: str, option: Option | None = None, family: Family | None = None) -> str:
    """The one spelling under which equal values of a setting are equal.

    Only what is known to be a number is folded as one: a revision or an alias `1.10` is not `1.1`.
    """
    trimmed = text.strip()
    if _is_switch(option):
        return _switch(trimmed, option) or text
    if family is not None:
        if factor in family.json_values:
            return _json(trimmed)
        if factor in family.case_insensitive:
            return trimmed.lower()
        if factor in family.classes.get("locator", ()) or factor in family.classes.get("artifact", ()):
            return text
        if _is_suffixed(factor, family) and (scaled := _scaled(trimmed)):
            return scaled
    return _number(text) if option is not None and option.numeric else text


def same(mine: str, theirs: str) -> bool:
    """Whether a value a person wrote means the computed one: folds what any setting may fold.

    Case counts in what looks like a path or a repository.
    """
    if mine == theirs:
        return True
    if _said_switch(mine) and _said_switch(mine) == _said_switch(theirs):
        return True
    one, other = _number(mine), _number(theirs)
    return one == other or ("/" not in one and one.lower() == other.lower())


def _is_switch(option: Option | None) -> bool:
    if option is None:
        return False
    return option.boolean or ({"on", "off"} <= set(option.choices))


def _switch(text: str, option: Option | None) -> str:
    if text == "-1" and option is not None and "auto" in option.choices:
        return "auto"
    return "on" if text in _ON else "off" if text in _OFF else ""


def _said_switch(text: str) -> str:
    """What a person means by a word; people write `Yes` where an engine would refuse it."""
    lowered = text.lower()
    return "on" if lowered in {*_ON, "yes"} else "off" if lowered in {*_OFF, "no"} else ""


def _is_suffixed(factor: str, family: Family) -> bool:
    return factor in family.integers if isinstance(family.integers, list) else family.integers == "suffixed"


def _scaled(text: str) -> str:
    """An integer with a suffix as vLLM reads it: 25.6k is 25600, 1K is 1024, 1.5K is an error and stays text."""
    if text.lower() == "auto":
        return "auto"
    match = _SUFFIXED.fullmatch(text)
    if match is None or len(text) >= _MOST_DIGITS:
        return ""
    number, suffix = match.groups()
    if suffix.islower():
        return str(int(float(number) * 1000 ** _POWER[suffix]))
    return str(int(number) * 1024 ** _POWER[suffix.lower()]) if number.isdigit() else ""


def _number(text: str) -> str:
    """A number without its trailing zeros; any other text as it is."""
    trimmed = text.strip()
    if not NUMBER.fullmatch(trimmed) or len(trimmed) >= _MOST_DIGITS:
        return text
    whole, point, fraction = trimmed.partition(".")
    fraction = fraction.rstrip("0")
    shown = f"{whole}.{fraction}" if point and fraction else whole
    return "0" if shown == "-0" else shown


def _json(text: str) -> str:
    import json  # only for a setting whose value is JSON

    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return text
