"""The journal of a job: one JSON object a line, synced, appended to and never changed.

Invariants: it is the only truth about a job; a line that was torn by a death or a full disk hides no other line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = "journal.jsonl"


class JournalLost(Exception):
    """The journal cannot be written any more; what happens from here on is not on record."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a job."""

    at: str
    """Moment in UTC."""
    event: str
    data: dict[str, Any]


class Journal:
    """Appends to the journal of one job. After a failed write it is lost: this process may not close the job."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self.lost: str | None = None

    def write(self, event: str, **data: Any) -> None:
        """Append and sync one event. Raises JournalLost."""
        line = json.dumps({"at": now(), "event": event, **data}) + "\n"
        try:
            self._append(line.encode())
        except OSError as error:
            self.lost = f"the journal cannot be written: {error.strerror}"
            raise JournalLost(self.lost) from None

    def _append(self, line: bytes) -> None:
        handle = os.open(self.file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            torn = size and os.pread(handle, 1, size - 1) != b"\n"
            content = b"\n" + line if torn else line
            if os.write(handle, content) != len(content):
                raise OSError(28, "no space left on the device")
            os.fsync(handle)
        finally:
            os.close(handle)


def read(folder: Path) -> Sequence[Event]:
    """Every whole line, in order; none where there is no journal."""
    try:
        lines = (folder / FILE).read_bytes().split(b"\n")
    except OSError:
        return []
    return [event for line in lines if (event := _event(line)) is not None]


def now() -> str:
    """This moment in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _event(line: bytes) -> Event | None:
    try:
        data = json.loads(line)
        return Event(data.pop("at"), data.pop("event"), data)
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
