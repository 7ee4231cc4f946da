"""Files are written whole or not at all.

Invariant: a reader sees the old bytes or the new ones, never a part; `create` never replaces anything.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Put new bytes in the place of a file, keeping its mode. Raises OSError, and then nothing has changed.

    Behind a symbolic link, the file it leads to is replaced.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def create(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a new file, with the mode that a new file has here by default. Raises FileExistsError where there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask() if mode is None else mode)
        os.link(name, path)
    finally:
        os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
