"""The bytes that a process runs against those on record: program, each library, model and companions (contract 1.6).

Invariant: bytes of which nothing is on record are not observable, whatever their path says.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.execute.verified import Check, judged, unseen
from hio_validate.execute.verifying.recorded import Record, Recorded
from hio_validate.models.capture import Artifact, CapturedProcess, Mapped
from hio_validate.observe.hashing import HashCache, sha256_of
from hio_validate.observe.mapped import opened_regular
from hio_validate.observe.refusal import Unobservable

_REPLACED = ("(deleted)", "replaced", "written after")
"""What observe/mapped.py notes of a file whose path no longer leads to the bytes in use."""


def of(process: CapturedProcess, records: Recorded, names_model: bool, cache: HashCache) -> Iterator[Check]:
    """A check of every file; `names_model`: the stack names one, so that one must be there."""
    program = process.executable
    yield _of_file("executable", program, records.executable(program.path))
    for name, library in process.libraries.items():
        yield _of_file(f"library {name}", library, records.library(name, library.path))
    if names_model and not process.artifacts:
        yield unseen("model", "the file that the stack names", "the process maps no model file")
    for role, artifact in process.artifacts.items():
        yield _of_artifact(role, artifact, records.artifact(role, artifact.path), cache)
    yield _on_disk(process)


def _of_file(name: str, seen: Mapped, record: Record | None) -> Check:
    declared = f"{record.sha256} ({record.by})" if record else "nothing is on record"
    if seen.sha256 is None:
        return unseen(name, declared, seen.note or "it could not be hashed")
    if record is None:
        return unseen(
            name, declared, f"{seen.sha256}, and no build, capture or qualification says what it should be"
        )
    return judged(name, declared, seen.sha256, seen.sha256 == record.sha256)


def _of_artifact(role: str, seen: Artifact, record: Record | None, cache: HashCache) -> Check:
    """Against the record, else against the file at its path."""
    if record is None and seen.sha256 is not None and seen.path is not None:
        try:
            with opened_regular(seen.path) as file:
                record = Record(sha256_of(file, cache), "the file at its path")
        except (OSError, Unobservable) as error:
            why = error.strerror if isinstance(error, OSError) else error.reason
            return unseen(role, "the file at its path", f"{seen.path}: {why}")
    return _of_file(role, seen, record)


def _on_disk(process: CapturedProcess) -> Check:
    """Whether the files that run are still those at their paths."""
    files = {"executable": process.executable, **process.libraries, **process.artifacts}
    changed = [
        f"{name}: {each.note}"
        for name, each in files.items()
        if each.note and any(word in each.note for word in _REPLACED)
    ]
    declared = "every file still at its path"
    return judged("files on disk", declared, "; ".join(changed) or f"{len(files)} files", not changed)
