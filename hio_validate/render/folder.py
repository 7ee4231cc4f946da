"""A bundle beside files on disk: what differs, and writing it without losing what somebody changed.

Invariants: a file is replaced only if its bytes are those that hio wrote there, or after a copy of it was kept beside it
(contract 12.5); where one may not be replaced, nothing is written at all. No difference shows a secret (contract 1.8).
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from hio_validate import writing
from hio_validate.render.bundle import Bundle, File
from hio_validate.settings.withholding import difference_without_secrets

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
    if path.is_symlink():
        return _compare_link(file, path)
    try:
        found = _read(path)
    except FileNotFoundError:
        return Compared(file, path, State.MISSING)
    if found == file.content:
        return Compared(file, path, State.SAME)
    state = State.OUTDATED if written == _digest(found) else State.EDITED
    return Compared(file, path, state, tuple(_difference(found, file.content, path)))


def _compare_link(file: File, path: Path) -> Compared:
    """What a link leads to may be anybody's: it is not shown."""
    try:
        is_same = _read(path) == file.content
    except OSError:
        is_same = False
    said = (f"{path} is a symbolic link to {os.readlink(path)}",)
    return Compared(file, path, State.SAME) if is_same else Compared(file, path, State.EDITED, said)


def _read(path: Path) -> bytes:
    """The bytes of a file; a pipe or a device would have to be waited for. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "this is no regular file; move it away", str(path))
    return path.read_bytes()


def _difference(found: bytes, rendered: bytes, path: Path) -> list[str]:
    before, after = (each.decode(errors="backslashreplace").splitlines() for each in (found, rendered))
    lines = list(unified_diff(before, after, str(path), "rendered", lineterm="", n=1))
    return lines[:2] + difference_without_secrets(lines[2:])


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
    never written through: one that leads to the very bytes is left alone, any other counts as edited, and `overwrite`
    replaces the link itself.
    """
    found = compared(bundle, folder)
    edited = [each for each in found if each.state is State.EDITED]
    if edited and not overwrite:
        return found, []
    folder.mkdir(parents=True, exist_ok=True)
    kept = [_keep(each.path) for each in edited if not each.path.is_symlink()]
    for each in found:
        is_link = each.path.is_symlink()
        if each.state is State.SAME and is_link:
            continue
        if is_link:
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
        writing.create(copy, content, stat.S_IMODE(path.stat().st_mode))
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
