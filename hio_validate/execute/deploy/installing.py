"""Files of the host: what is there, put there whole, taken away again.

Invariant: no bytes are replaced before they are kept; a file is the old one or the new one at every moment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.work import FileChange
from hio_validate.execute.journaled import sha256


def digest_at(path: str) -> str | None:
    """SHA-256 of what is there; None where no file is. Raises OSError for what cannot be read."""
    content = content_at(path)
    return None if content is None else sha256(content)


def content_at(path: str) -> bytes | None:
    """The bytes of a file; None where there is none. Raises OSError."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def save(deployment: Deployment, files: Iterable[FileChange]) -> None:
    """Keep what is there now. Raises OSError."""
    for each in files:
        content = content_at(each.path)
        if content is not None:
            deployment.keep(content)


def install(deployment: Deployment, files: Iterable[FileChange]) -> dict[str, str | None]:
    """Put every file there, or take it away; path -> digest of what is there now. Raises OSError, ValueError."""
    done: dict[str, str | None] = {}
    for each in files:
        if each.after is None:
            _remove(each.path)
        else:
            _put(each.path, deployment.content(each.after), each.mode)
        done[each.path] = each.after
    return done


def _put(path: str, content: bytes, mode: int) -> None:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    part = place.with_name(f".{place.name}.hio-part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    os.replace(part, place)
    _sync(place.parent)


def _remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)
    if Path(path).parent.is_dir():
        _sync(Path(path).parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
