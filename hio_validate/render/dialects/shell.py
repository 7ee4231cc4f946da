"""POSIX sh: every word in single quotes, in which only the quote itself needs care (XCU 2.2.2)."""

from __future__ import annotations

import re

from hio_validate.render.carrying import refuse_impossible

_SAFE = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")


def quote(value: str) -> str:
    """The value as one word. Raises CannotCarry for a NUL."""
    refuse_impossible(value)
    return "'" + value.replace("'", "'\\''") + "'"


def word(value: str) -> str:
    """The value as one word of a command, without quotes where it needs none; an assignment would need them."""
    return value if _SAFE.fullmatch(value) and "=" not in value else quote(value)
