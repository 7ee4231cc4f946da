"""A qualification as documents: qualification/v1, its rows and the capture of the process, each created once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from hio_validate import __version__
from hio_validate.execute.qualify.run import Probed
from hio_validate.models.capture import CapturedProcess
from hio_validate.observe.capture import capture
from hio_validate.recording import capture_file, modeline
from hio_validate.repo import Item
from hio_validate.rules import NEWEST
from hio_validate.settings.value import UNKNOWN
from hio_validate.source import digest_of
from hio_validate.source.dump import Row, dump
from hio_validate.writing import create


def free_name(root: Path, service: str, wished: str) -> str:
    """The first name that no file of a qualification has: the wished one, or it with a number."""
    names = (wished if number == 1 else f"{wished}-{number}" for number in count(1))
    return next(name for name in names if not any((root / file).exists() for file in files_of(service, name)))


def files_of(service: str, name: str) -> tuple[str, str, str]:
    """Where a qualification, its rows and its capture stand."""
    room = f"manifests/services/{service}"
    return (
        f"{room}/qualifications/{name}.yaml",
        f"{room}/qualifications/{name}.jsonl",
        f"{room}/captures/{name}-qualified.yaml",
    )


def write(root: Path, service: str, stack: Item, role: str, name: str, found: Probed) -> tuple[str, str, str]:
    """Write all three and give their paths. Raises FileExistsError and OSError; nothing is ever replaced."""
    document, rows_file, capture_at = files_of(service, name)
    rows = "".join(json.dumps(row, sort_keys=True) + "\n" for row in found.rows).encode()
    seen = capture(
        f"{name}-qualified", {role: found.process}, service=service, stack=stack.name,
        site=service.partition("/")[0],
    )  # fmt: skip
    captured = capture_file(seen, capture_at)
    said = {
        "hio": "qualification/v1",
        "name": name,
        "service": service,
        "stack": stack.pin,
        "build": stack.model.processes[role].build,
        "at": found.at,
        "process": _identity(found.process),
        "capture": f"{seen.name}@{digest_of(captured)}",
        "claim": found.claim.model_dump(exclude_none=True),
        "probes": {probe: _probe(each) for probe, each in found.probes.items()},
        "rows": {"file": rows_file.rpartition("/")[2], "sha256": hashlib.sha256(rows).hexdigest()},
        "judged_by": Row({"hio": __version__, "rules": NEWEST}),
    }
    head = modeline("qualification", document) + "\nWritten by hio qualify; never edited."
    content = dump({key: value for key, value in said.items() if value is not None}, head=head)
    for file, raw in ((rows_file, rows), (capture_at, captured), (document, content)):
        create(root / file, raw)
    return document, rows_file, capture_at


def _identity(process: CapturedProcess) -> Mapping[str, Any]:
    return {
        "executable": process.executable.sha256 or UNKNOWN,
        "libraries": {name: each.sha256 or UNKNOWN for name, each in process.libraries.items()},
        "artifacts": {role: each.sha256 or UNKNOWN for role, each in process.artifacts.items()},
    }


def _probe(found: Any) -> dict[str, Any]:
    said = {
        "verdict": found.verdict,
        "because": found.because,
        "found": Row(found.found) if found.found else None,
    }
    return {key: value for key, value in said.items() if value is not None}
