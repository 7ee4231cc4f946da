"""How computing a shape says that it cannot: one sentence."""

from __future__ import annotations


class CannotShape(Exception):
    """A configuration that cannot be; `reason` is one clear sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownShape(CannotShape):
    """A configuration that is right, of a kind whose shape is not known here."""
