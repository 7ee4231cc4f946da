"""A rendered stack: the files of one target, where each belongs on the host, and who read each back.

Invariant: a bundle exists only if every file was read back by its consumer, or by a reader of its published grammar
that is named as ours, and gave exactly the values of the stack (contract 12.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class CannotRender(Exception):
    """A stack that a target cannot carry; every reason, one sentence each."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True)
class File:
    """One rendered file."""

    name: str
    """Its name in the folder of the bundle."""
    content: bytes
    mode: int = 0o644
    install: str | None = None
    """Absolute path where a deployment puts it; None for what only people and other tools read."""


@dataclass(frozen=True)
class Stamp:
    """From what exactly a bundle was rendered; the same stamp means the same bytes."""

    stack: str
    """Pin of the stack."""
    site: str
    """Pin of the site."""
    templates: str
    """Digest of the templates that were used."""
    hio: str
    """Version of hio."""


@dataclass(frozen=True)
class Bundle:
    """All files of one target."""

    target: str
    service: str
    stamp: Stamp
    files: tuple[File, ...]
    read_back: Mapping[str, str]
    """File name -> who read it back, with the version, or `hio's own reader of ...`."""
