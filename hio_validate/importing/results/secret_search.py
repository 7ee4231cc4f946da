"""Looks through the bytes of a file for credentials before anything of it is written (contract 1.8).

Invariant: what is found is told by its place and never shown; only the credentials themselves are held, never the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.evidence.observed import Finding
from hio_validate.importing.results.credentials_seen import Secret, secrets_in, waits_for_value
from hio_validate.importing.results.reading import Reading

SECRET = "secret-withheld"
"""Id of the finding."""
_PIECE = 1 << 20
_OVERLAP = 4096
_MOST = 1000
"""Different credentials of one file; one with more is a list of them, and no result."""
_DEEPEST = 3
"""Times that a text of JSON may have been put into JSON."""


class Search:
    """Line by line; what it finds becomes findings and secrets of the reading."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._number, self._rest, self._before = 1, b"", ""

    def piece(self, piece: bytes) -> None:
        """The next bytes of UTF-8. Raises CannotImport."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._look(line)
            self._number += 1
        if len(self._rest) > 4 * _PIECE:  # a line without end is looked at in pieces that overlap
            self._look(self._rest)
            self._rest = self._rest[-_OVERLAP:]

    def end(self) -> None:
        """What is left. Raises CannotImport."""
        self._look(self._rest)

    def _look(self, raw: bytes) -> None:
        line = raw.decode("utf-8", "replace")
        for each in secrets_in(line):
            self._found(each, line)
        if self._before:
            for each in secrets_in(f"{self._before} {line[:_OVERLAP].strip()}"):
                self._found(each, line)
        self._before = line[-_OVERLAP:].strip() if waits_for_value(line) else ""

    def _found(self, each: Secret, line: str) -> None:
        known = self._reading.secrets
        if each.value in known:
            return
        spellings = list(_spellings(each.value))
        known.update(spellings)
        if len(known) > _MOST:
            raise self._reading.source.refuse(
                f"more than {_MOST} credentials stand in it", "import the results alone", self._number
            )
        where = next((at for spelt in spellings for at in _addresses(line, spelt)), "")
        self._reading.find(
            Finding(
                SECRET,
                f"{each.what}{f' ({where})' if where else ''} stands in the file: its bytes are not kept, and no record "
                "repeats it; change that secret where it is used",
                self._number,
            )
        )


def _spellings(secret: str) -> Iterator[str]:
    """A credential as it stands in the file, and as a record has it: JSON escapes quotes and backslashes, in JSON twice."""
    import json  # only where a credential was found

    yield secret
    for _ in range(_DEEPEST if "\\" in secret else 0):
        try:
            secret = json.loads(f'"{secret}"')
        except ValueError:
            return
        yield secret


def _addresses(line: str, secret: str) -> Iterator[str]:
    """Where a credential stands in a line that is one JSON value, in its order, as server_info.api_key or argv[4]."""
    if line.lstrip()[:1] not in ("{", "["):
        return
    try:
        import json  # only where a credential was found

        waiting: list[tuple[str, Any]] = [("", json.loads(line))]
    except (ValueError, RecursionError):
        return
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [
                (f"{place}.{key}".lstrip("."), each)
                for key, each in reversed(value.items())
                if secret not in key
            ]
        elif isinstance(value, list):
            waiting += [(f"{place}[{number}]", each) for number, each in enumerate(value)][::-1]
        elif isinstance(value, str) and secret in value:
            yield place
