"""What no dialect can carry, because no process can be given it."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_BYTES = 128 * 1024 - 1
"""The longest word or NAME=value that Linux hands to a program (MAX_ARG_STRLEN, with its NUL)."""

MOST_BYTES = 2 * 1024 * 1024
"""What Linux hands to a program in all: a quarter of the usual stack of 8 MiB (execve(2))."""
_POINTER_BYTES = 8


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


def refuse_impossible_together(texts: Iterable[str]) -> None:
    """Raises CannotCarry for words and NAME=value that are too much in all, though each is not."""
    size = sum(len(each.encode(errors="replace")) + 1 + _POINTER_BYTES for each in texts)
    if size > MOST_BYTES:
        raise CannotCarry(
            f"arguments and variables have {size} bytes in all, and Linux gives a process at most {MOST_BYTES}: "
            "put what is large into files"
        )
