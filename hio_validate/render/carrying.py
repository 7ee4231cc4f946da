"""What no dialect can carry, because no process can be given it."""

from __future__ import annotations

LONGEST_BYTES = 128 * 1024 - 1
"""The longest word or NAME=value that Linux hands to a program (MAX_ARG_STRLEN, with its NUL)."""


class CannotCarry(Exception):
    """A value that a dialect cannot say; why, and what to do."""

    value: str | None = None
    """The value, once it is known which template asked for it."""


def refuse_impossible(value: str) -> None:
    """Raises CannotCarry for what no process can be given: a NUL, what is no UTF-8, and more than Linux takes."""
    if "\0" in value:
        raise CannotCarry("the value holds a NUL character, which no argument or variable can")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise CannotCarry("the value holds half of a surrogate pair, which is no text in UTF-8") from None
    if size > LONGEST_BYTES:
        raise CannotCarry(
            f"the value has {size} bytes, and Linux gives a process at most {LONGEST_BYTES} in one: put it into a file"
        )
