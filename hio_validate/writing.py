"""Files are written whole or not at all.

Invariant: a reader sees the old bytes or the new ones, never a part; `create` and `new_folder` never replace anything.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Put new bytes in the place of a file, keeping its mode. Raises OSError, and then nothing has changed.

    Behind a symbolic link, the file it leads to is replaced.
    """
    path = Path(os.path.realpath(path))
    _make_folder(path.parent)
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
    _make_folder(path.parent)
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


@contextmanager
def new_folder(path: Path, beside: Path) -> Iterator[Path]:
    """A folder to fill, which then appears whole at `path`, or not at all. Raises FileExistsError where one is.

    It is filled in `beside`, a folder of the same file system that nobody reads documents from.
    """
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it exists", str(path))
    waiting = Path(tempfile.mkdtemp(dir=beside, prefix=".hio-"))
    try:
        yield waiting
        for each in waiting.iterdir():
            os.chmod(each, 0o666 & ~_umask())
        os.chmod(waiting, 0o777 & ~_umask())
        path.parent.mkdir(parents=True, exist_ok=True)
        _moved(waiting, path)
    finally:
        if waiting.exists():
            for each in waiting.iterdir():
                each.unlink()
            waiting.rmdir()


def _moved(folder: Path, path: Path) -> None:
    try:
        os.rename(folder, path)  # fails where a folder with something in it, or a file, has come meanwhile
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError(errno.EEXIST, "it exists", str(path)) from None
        raise


def _make_folder(folder: Path) -> None:
    """Make it where it is not there yet. A file in its place is no folder, and no file that is there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), error.filename) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
