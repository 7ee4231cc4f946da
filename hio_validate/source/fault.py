"""What is wrong with the bytes of a document, and where."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """Something in the bytes that makes a document wrong; `rule` is the id under which it is reported."""

    rule: str
    message: str
    help: str = ""
    line: int = 0
    column: int = 0
    first: tuple[int, int] | None = None
    """Where the other of two things stands, e.g. the first of two equal keys."""


class Malformed(Exception):
    """The text is no document at all; carries the one fault that says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
