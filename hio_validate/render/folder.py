"""A bundle beside files on disk: what differs, and writing it without losing what somebody changed.

Invariant: a file is replaced only if its bytes are those that hio wrote there, or after a copy of it was kept beside it
(contract 12.5); where one may not be replaced, nothing is written at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from hio_validate import writing
from hio_validate.render.bundle import Bundle, File

RECORD = "rendered.json"
"""Beside the files: from what they were rendered, and the digest of each as hio wrote it."""


class State(StrEnum):
    """How a file on disk stands to the one that was rendered."""

    SAME = "same"
    MISSING = "missing"
    OUTDATED = "outdated"
    """Written by hio, from other documents."""
    EDITED = "edited"
    """Not as hio wrote it, or hio never wrote it."""


@dataclass(frozen=True)
class Compared:
    """One file of a bundle beside the one on disk."""

    file: File
    path: Path
    state: State
    difference: tuple[str, ...] = ()
    """Lines of a unified diff, from what stands on disk to what was rendered."""


def compared(bundle: Bundle, folder: Path) -> list[Compared]:
    """Every file of a bundle beside the one of its name in a folder. Raises OSError."""
    written = _written(folder)
    return [_compare(each, folder / each.name, written.get(each.name)) for each in bundle.files]


def compared_as_installed(bundle: Bundle, root: Path = Path("/")) -> list[Compared]:
    """Every installed file of a bundle beside the one where a deployment puts it. Raises OSError."""
    return [
        _compare(each, root / each.install.lstrip("/"), None)
        for each in bundle.files
        if each.install is not None
    ]


def _compare(file: File, path: Path, written: str | None) -> Compared:
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return Compared(file, path, State.MISSING)
    if found == file.content:
        return Compared(file, path, State.SAME)
    state = State.OUTDATED if written == _digest(found) else State.EDITED
    return Compared(file, path, state, tuple(_difference(found, file.content, path)))


def _difference(found: bytes, rendered: bytes, path: Path) -> Iterator[str]:
    before, after = (each.decode(errors="backslashreplace").splitlines() for each in (found, rendered))
    return unified_diff(before, after, str(path), "rendered", lineterm="", n=1)


def _written(folder: Path) -> Mapping[str, str]:
    """File -> the digest of what hio wrote there last; nothing where no record can be read."""
    try:
        files = json.loads((folder / RECORD).read_bytes())["files"]
        return {str(name): str(said["sha256"]) for name, said in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write(bundle: Bundle, folder: Path, overwrite: bool = False) -> tuple[list[Compared], list[Path]]:
    """Write a bundle: what stood in the folder before, and the copies that were kept. Raises OSError.

    Nothing is written where a file was edited, unless `overwrite`, which keeps a copy of it first. A symbolic link is
    never followed out of the folder: it counts as edited, and `overwrite` replaces the link itself.
    """
    found = compared(bundle, folder)
    edited = [each for each in found if each.state is State.EDITED]
    if edited and not overwrite:
        return found, []
    folder.mkdir(parents=True, exist_ok=True)
    kept = [_keep(each.path) for each in edited]
    for each in found:
        if each.path.is_symlink():
            each.path.unlink()
        if each.state is not State.SAME:
            writing.replace(each.path, each.file.content)
        os.chmod(each.path, each.file.mode)
    writing.replace(folder / RECORD, record(bundle).encode())
    return found, kept


def _keep(path: Path) -> Path:
    """A copy of a file, named by its digest, so that keeping it twice is keeping it once."""
    content = path.read_bytes()
    copy = path.with_name(f"{path.name}.edited-{_digest(content)[:12]}")
    if not copy.exists():
        writing.create(copy, content)
    return copy


def record(bundle: Bundle) -> str:
    """The record of a bundle as JSON: the same bundle, the same text."""
    return json.dumps(as_shape(bundle), indent=2) + "\n"


def as_shape(bundle: Bundle) -> dict[str, Any]:
    """A bundle without the contents of its files."""
    stamp = bundle.stamp
    return {
        "version": 1,
        "target": bundle.target,
        "service": bundle.service,
        "stamp": {"stack": stamp.stack, "site": stamp.site, "templates": stamp.templates, "hio": stamp.hio},
        "files": {
            each.name: {
                "sha256": _digest(each.content),
                "mode": f"{each.mode:04o}",
                "install": each.install,
                "read_back_by": bundle.read_back[each.name],
            }
            for each in bundle.files
        },
    }


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
