"""Opens and hashes the files a process has mapped: the bytes that run, never what a path holds by now.

Invariant (contract 1.6): a digest comes from /proc/PID/exe, /proc/PID/map_files or /proc/PID/fd, which lead
to the file in use, or from a path that was proven to lead to the same device and inode. Else it is unknown.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hio_validate.models.capture import Mapped
from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable

Hasher = Callable[[BinaryIO], str]
REPLACED = "replaced"
DELETED = "(deleted)"
_START_TOLERANCE_S = 2
"""The kernel gives the start of a process to the second, and so the boot time it counts from."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file in use, opened; `file` None where its bytes cannot be reached, and `note` then says why."""

    file: BinaryIO | None
    note: str | None = None


def executable(pid: int, hasher: Hasher) -> Mapped:
    """The program as it runs; /proc/PID/exe opens for its own user too, also after a replacement."""
    path, deleted = proc.executable_path(pid)
    try:
        file = opened_regular(f"/proc/{pid}/exe")
    except OSError as error:
        return Mapped(path=path, how="unknown", note=f"not readable: {error.strerror}")
    with file:
        return hashed(file, path, _whereabouts(path, deleted, file), hasher)


def libraries(pid: int, files: list[proc.MappedFile], hasher: Hasher, since: float) -> dict[str, Mapped]:
    """Every file mapped as code except the program, by file name; a second one of a name gets a number."""
    program = Path(f"/proc/{pid}/exe").stat()
    found: dict[str, Mapped] = {}
    for mapping in files:
        if not mapping.executable or _is_program(mapping, program, pid):
            continue
        name = number = Path(mapping.path).name
        while number in found:
            number = f"{name} ({int(number.rpartition('(')[2][:-1]) + 1 if number != name else 2})"
        with opened(pid, mapping) as seen:
            found[number] = as_mapped(mapping.path, seen, hasher, since)
    return dict(sorted(found.items()))


def as_mapped(path: str, seen: Opened, hasher: Hasher, since: float) -> Mapped:
    """A mapped file as a capture states it. `since` is the start of the process in epoch seconds."""
    if seen.file is None:
        return Mapped(path=path, how="unknown", note=seen.note)
    note = seen.note
    if os.fstat(seen.file.fileno()).st_mtime > since + _START_TOLERANCE_S:
        note = "; ".join(filter(None, [note, "written after the process started"]))
    return hashed(seen.file, path, note, hasher)


def hashed(file: BinaryIO, path: str, note: str | None, hasher: Hasher) -> Mapped:
    """An opened file with its digest, unknown where it cannot be read to its end."""
    size = os.fstat(file.fileno()).st_size
    try:
        return Mapped(path=path, sha256=hasher(file), bytes=size, how="hash", note=note)
    except Unobservable as refused:
        return Mapped(path=path, how="unknown", note=refused.reason)


@contextmanager
def opened(pid: int, mapping: proc.MappedFile) -> Iterator[Opened]:
    """The mapped file itself: through map_files with privilege, else by device and inode."""
    seen = _through_map_files(pid, mapping) or _through_path(pid, mapping)
    try:
        yield seen
    finally:
        if seen.file:
            seen.file.close()


@contextmanager
def opened_descriptor(pid: int, paths: set[str]) -> Iterator[Opened | None]:
    """The file under one of `paths` that the process holds open; None if it holds none of them."""
    for descriptor, target in proc.open_files(pid).items():
        if target.removesuffix(proc.DELETED) in paths:
            deleted = target.endswith(proc.DELETED)
            try:
                file = opened_regular(f"/proc/{pid}/fd/{descriptor}")
            except OSError:
                continue
            with file:
                note = _whereabouts(target.removesuffix(proc.DELETED), deleted, file)
                yield Opened(file, "; ".join(filter(None, ["open, not mapped", note])))
                return
    yield None


def _through_map_files(pid: int, mapping: proc.MappedFile) -> Opened | None:
    """None without the privilege (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), whoever owns the process."""
    for span in mapping.ranges:
        try:
            file = opened_regular(f"/proc/{pid}/map_files/{span}")
        except FileNotFoundError:
            continue  # this range was unmapped or merged since maps was read
        except OSError:
            return None
        if os.fstat(file.fileno()).st_ino == mapping.inode:
            return Opened(file, _whereabouts(mapping.path, mapping.deleted, file))
        file.close()
    return None


def _through_path(pid: int, mapping: proc.MappedFile) -> Opened:
    """The path as the process sees it, else as we do, if it leads to what is mapped."""
    refusals = []
    for path in (f"/proc/{pid}/root{mapping.path}", mapping.path):
        try:
            file = opened_regular(path)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)
            refusals.append(DELETED if gone else f"not readable: {error.strerror}")
            continue
        if _maps_as(file, mapping):
            return Opened(file)
        file.close()
        refusals.append(REPLACED)
    return Opened(None, REPLACED if REPLACED in refusals else refusals[-1])


def opened_regular(path: str) -> BinaryIO:
    """Opens without waiting for the other end of a pipe that took the file's place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "not a regular file")
    return os.fdopen(descriptor, "rb")


def _maps_as(file: BinaryIO, mapping: proc.MappedFile) -> bool:
    """Whether our own mapping of `file` shows the device and inode of theirs.

    Compared as maps shows both, because some file systems (btrfs, overlayfs) give stat another device number.
    """
    if os.fstat(file.fileno()).st_ino != mapping.inode:
        return False
    try:
        window = mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):
        return False
    pin = ctypes.c_char.from_buffer(window)
    address = f"{ctypes.addressof(pin):x}-"
    try:
        ours = proc.mapped_files(os.getpid())
    finally:
        del pin
        window.close()
    same = [own for own in ours if (own.device, own.inode) == (mapping.device, mapping.inode)]
    return any(span.startswith(address) for own in same for span in own.ranges)


def _whereabouts(path: str, deleted: bool, file: BinaryIO) -> str | None:
    """What became of the path of a file in use."""
    if not deleted:
        return None
    try:
        other = Path(path).stat()
    except OSError:
        return DELETED
    same = (other.st_dev, other.st_ino) == (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino)
    return None if same else f"{DELETED}, {REPLACED}"


def _is_program(mapping: proc.MappedFile, program: os.stat_result, pid: int) -> bool:
    return mapping.inode == program.st_ino and mapping.path == proc.executable_path(pid)[0]
