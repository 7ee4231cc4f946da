"""A Document: the bytes of one file, the data in them, and the place of everything when it is asked for.

Invariant: the digest is the SHA-256 of the file's bytes, unconverted (contract 1.4); `data` is None wherever
`faults` is not empty, so no rule ever judges a document that two readers would read differently.
"""

from __future__ import annotations

import re
from functools import cached_property
from hashlib import sha256
from types import ModuleType
from typing import Any, NamedTuple

from hio_validate.diagnostic import Location, Path
from hio_validate.source import characters
from hio_validate.source.fast import read_plainly
from hio_validate.source.fault import Fault, Malformed
from hio_validate.source.places import Places, places_in

_ALLOW = re.compile(r"#\s*hio:\s*allow\s+([a-z][a-z0-9-]*)\s*(?:[—–-]+\s*(.*\S)?)?\s*$")


class Allowance(NamedTuple):
    """A `# hio: allow RULE — reason` comment."""

    rule: str
    reason: str
    line: int
    column: int


class Document:
    """One file of the repository, read once."""

    def __init__(
        self, file: str, raw: bytes, data: Any = None, faults: tuple[Fault, ...] = (), *, plain: bool = False
    ) -> None:
        self.file, self.raw, self.data, self.faults = file, raw, data, faults
        self._plain = plain

    @cached_property
    def digest(self) -> str:
        return digest_of(self.raw)

    @cached_property
    def lines(self) -> list[str]:
        """The text line by line, for excerpts; undecodable bytes become U+FFFD."""
        return self.raw.decode("utf-8", errors="replace").removeprefix("\ufeff").split("\n")

    @cached_property
    def places(self) -> Places:
        """The place of every value, found by reading the document a second time (only on a finding)."""
        try:
            text = characters.decode(self.raw)
            return places_in(text, self.data) if self._plain else _strict().places(text)
        except (Malformed, characters.Unreadable):
            return {}

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """Line and column of the value at `path` (or of its key), or of its nearest existing ancestor."""
        for length in range(len(path), -1, -1):
            place = self.places.get(path[:length])
            if place is not None:
                missing = length < len(path)
                merged = self._merged(path[: length + 1]) if missing else None
                return Location(
                    self.file, *(merged or (place.key if place.key and (key or missing) else place.value))
                )
        return Location(self.file)

    def _merged(self, path: Path) -> tuple[int, int] | None:
        """Where `<<` brings in a key that stands in the mapping by no other way."""
        place = self.places.get((*path[:-1], "<<"))
        if place is None or self.data is None:
            return None
        held: Any = self.data
        for part in path[:-1]:
            held = held[part]
        return place.key if path[-1] in held else None

    @cached_property
    def allowances(self) -> tuple[Allowance, ...]:
        if b"hio:" not in self.raw or b"allow" not in self.raw:
            return ()
        found = ((number, _ALLOW.search(line)) for number, line in enumerate(self.lines, 1))
        return tuple(
            Allowance(match[1], match[2] or "", number, match.start() + 1) for number, match in found if match
        )


def digest_of(raw: bytes) -> str:
    """`sha256:` and the hex digest of the bytes, as `sha256sum` prints it."""
    return "sha256:" + sha256(raw).hexdigest()


def read(raw: bytes, file: str) -> Document:
    """Read one file's bytes; whatever is wrong with them becomes a fault, never an exception."""
    try:
        text = characters.decode(raw)
        plain = read_plainly(text)
        if plain is not None:
            return Document(file, raw, plain, plain=True)
        built = _strict().construct(text)
    except characters.Unreadable as error:
        return Document(
            file, raw, None, (Fault("syntax-error", error.message, error.help, error.line, error.column),)
        )
    except Malformed as error:
        return Document(file, raw, None, (error.fault,))
    if built.faults:
        return Document(file, raw, None, tuple(built.faults))
    return Document(file, raw, *_mapping(built.data))


def _strict() -> ModuleType:
    # Imported late: PyYAML is a tenth of a cold start, and a repository of plain documents needs none of it.
    from hio_validate.source import construct

    return construct


def _mapping(data: Any) -> tuple[Any, tuple[Fault, ...]]:
    if isinstance(data, dict):
        return data, ()
    what = "empty" if data is None else "a list" if isinstance(data, list) else "a single value"
    return None, (Fault("syntax-error", f"the document is {what}; expected keys and values", "", 1, 1),)
