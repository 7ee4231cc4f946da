"""How observing says that it cannot: one sentence, never a traceback."""

from __future__ import annotations


class Unobservable(Exception):
    """Something that cannot be observed, or must not be guessed; `reason` is one clear sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
