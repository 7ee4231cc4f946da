"""Snapshots of /metrics that stand in several files of one call: what the server did between two of them.

Invariant: only snapshots whose labels say the same are paired; where no label names a server, that is told as unknown.
"""

from __future__ import annotations

from typing import NamedTuple

from hio_validate.evidence.observed import Fact, Observation
from hio_validate.importing.results.llama_server_metrics import LLAMA_SERVER_METRICS, between
from hio_validate.importing.results.reading import Reading

_ONE_SERVER = "whether both files are of one server: no label in them names it"


class Between(NamedTuple):
    """What was done from the last snapshot of one file to the first one of the next."""

    files: tuple[str, str]
    record: Observation


class SnapshotPairs:
    """The pairs of the files that were read so far, in the order in which they were named."""

    def __init__(self) -> None:
        self.made: list[Between] = []
        self._last: dict[tuple[tuple[str, Fact], ...], tuple[str, Observation]] = {}

    def seen(self, reading: Reading, record: Observation) -> None:
        """The next record of a file."""
        if reading.importer is not LLAMA_SERVER_METRICS or not record.name.startswith("snapshot-"):
            return
        if " to " in record.name:
            return
        server = tuple(sorted(record.subject.items()))
        file, before = self._last.get(server, (reading.file, record))
        if file != reading.file:
            made = between(before, record)
            made.name = "between"
            if "model" not in record.subject:
                made.unknown = (*made.unknown, _ONE_SERVER)
            self.made.append(Between((file, reading.file), made))
        self._last[server] = (reading.file, record)
