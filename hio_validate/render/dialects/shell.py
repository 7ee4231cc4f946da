"""POSIX sh: every word in single quotes, in which only the quote itself needs care (XCU 2.2.2)."""

from __future__ import annotations

from hio_validate.render.carrying import refuse_impossible

NAME = "sh"


def quote(value: str) -> str:
    """The value as one word. Raises CannotCarry for a NUL."""
    refuse_impossible(value)
    return "'" + value.replace("'", "'\\''") + "'"
