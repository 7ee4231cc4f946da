"""Writes what was read as a document of the repository: its records a line each, the source beside them.

Invariants: an observation appears whole or not at all and replaces nothing; what is kept is what was read; no credential
is written: the bytes of a file that holds one are not kept, and its records do not repeat it; texts of requests are kept
only where somebody asks for them; nothing is held but one record at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Observation, as_row
from hio_validate.importing.results.reading import Reading
from hio_validate.importing.results.secret_search import SECRET, Search
from hio_validate.recording import modeline
from hio_validate.source.dump import Row, dump
from hio_validate.writing import new_folder

RECORDS = "records.jsonl"
DOCUMENT = "observation.yaml"
_PIECE = 1 << 20


class Asked(NamedTuple):
    """What whoever imports a file says about it."""

    name: str
    service: str
    stack: str | None
    """A pin."""
    keep_content: bool
    judged_by: Mapping[str, Any]


def write(
    reading: Reading, asked: Asked, root: Path, seen: Callable[[Observation], None] = lambda _: None
) -> str:
    """Read the file to its end and write the observation; its path. `seen` gets each record.

    Raises CannotImport, FileExistsError, and OSError; then nothing was written.
    """
    folder = f"manifests/services/{asked.service}/observations/{asked.name}"
    source = reading.source
    kept = not reading.importer.content or asked.keep_content
    name = _kept_as(source.path.name) if kept else None
    with new_folder(root / folder, root) as waiting:
        before = os.stat(source.path)
        sha256 = _copied(reading, waiting / name if name else None)
        if reading.secrets and asked.keep_content:
            raise source.refuse(
                "a credential stands in it, and what is committed is read by everybody",
                "leave out --keep-content: its records are written without it, and its bytes are not kept",
                reading.findings[SECRET][0].line,
            )
        if reading.secrets and name:
            (waiting / name).unlink()
            name = None
        records = _records(reading, waiting / RECORDS, seen)
        if (
            after := os.stat(source.path)
        ).st_mtime_ns != before.st_mtime_ns or after.st_size != before.st_size:
            raise source.refuse("it changed while it was read", "wait until whatever writes it has ended")
        said = {
            "hio": "observation/v1",
            "name": asked.name,
            "service": asked.service,
            "stack": asked.stack,
            "source": _present(
                {"file": name, "sha256": sha256, "format": reading.importer.format,
                 "generation": reading.generation, "bytes": before.st_size}
            ),
            "records": Row({"file": RECORDS, "sha256": records, "count": reading.count}),
            "findings": [
                {"id": first.id, "line": first.line, "count": count, "message": first.message}
                for first, count in reading.findings.values()
            ],
            "unknown": list(reading.importer.unknown),
            "judged_by": Row(asked.judged_by),
        }  # fmt: skip
        file = f"{folder}/{DOCUMENT}"
        head = f"{modeline('observation', file)}\nWritten by hio import; never edited."
        content = dump({key: value for key, value in said.items() if value not in (None, [])}, head=head)
        (waiting / DOCUMENT).write_bytes(content)
    return file


def _present(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value is not None}


def _kept_as(name: str) -> str:
    """The file's own name, unless a document or a reader of documents would take it for its own."""
    plain = re.sub(r"[^A-Za-z0-9._+-]", "_", name)[-150:].lstrip(".") or "source"
    taken = plain in (RECORDS, DOCUMENT) or plain.lower().endswith((".yaml", ".yml"))
    return f"{plain}.source" if taken else plain


def name_of(path: Path) -> str:
    """The name that a file's observation gets where nobody gives one: the file's, as far as a document may have it."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", path.stem).lstrip("._+-")[:100]
    return plain or "results"


def _copied(reading: Reading, to: Path | None) -> str:
    """Copy the bytes as they are, looking for credentials; their SHA-256."""
    digest = hashlib.sha256()
    search = Search(reading)
    with reading.source.path.open("rb") as handle, open(to or os.devnull, "wb") as out:
        while piece := handle.read(_PIECE):
            digest.update(piece)
            out.write(piece)
            if not reading.source.is_wide:
                search.piece(piece)
    if reading.source.is_wide:
        with reading.source.open() as handle:
            while piece := handle.read(_PIECE):
                search.piece(piece)
    search.end()
    return digest.hexdigest()


def _records(reading: Reading, to: Path, seen: Callable[[Observation], None]) -> str:
    digest = hashlib.sha256()
    with to.open("wb") as out:
        for record in reading.records():
            line = json.dumps(as_row(record)).encode() + b"\n"
            digest.update(line)
            out.write(line)
            seen(record)
    return digest.hexdigest()
