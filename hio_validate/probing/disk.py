"""How fast a file is read from disk, past the page cache.

Invariant: a rate is kept only where the kernel's page cache cannot have answered: the file was opened with O_DIRECT, or
its pages were dropped and RWF_NOWAIT (preadv2(2)) finds none of them. Caches below the kernel cannot be seen.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from hio_validate.models.ceilings import Rate
from hio_validate.probing.extent import MIB, Extent
from hio_validate.probing.refusal import NotMeasured
from hio_validate.probing.sampling import rate, seconds

_REQUEST = 4 * MIB
_ANSWERED_FROM_MEMORY = {
    "tmpfs": "it is memory",
    "ramfs": "it is memory",
    "zfs": "its own cache answers O_DIRECT, too, before OpenZFS 2.3",
}
"""File systems that accept O_DIRECT and answer from memory all the same."""
_ROOM = 2
"""Times the file's size that has to be free: a full disk ends more than a measurement."""


def default_folder() -> Path:
    """Where temporary files are: a disk of this host, if not that of the models."""
    return Path(tempfile.gettempdir())


def needed(extent: Extent) -> int:
    """Bytes of the file: a part for each repetition, and one to warm up."""
    return (extent.repetitions + 1) * extent.disk_part


def measured(folder: Path, extent: Extent) -> tuple[str, Rate]:
    """(name, rate) of one reader with one request under way. Raises NotMeasured where nothing or a cache can be read."""
    size = needed(extent)
    try:
        _check_place(folder, size)
        with _unlinked(folder) as handle:
            _fill(handle, size)
            with _uncached(handle, size) as (reader, how):
                buffer = mmap.mmap(-1, _REQUEST)  # begins at a page, as O_DIRECT wants it
                taken = [
                    seconds(partial(_read, reader, buffer, part * extent.disk_part, extent.disk_part))
                    for part in range(extent.repetitions + 1)
                ]
    except OSError as error:
        raise NotMeasured(f"disk-read in {folder}: {error.strerror or error}") from None
    said = (
        f"{how}, one reader, requests of {_REQUEST // MIB} MiB, {extent.disk_part // MIB} MiB a repetition, each another "
        f"part of a file of {size // MIB} MiB in {folder} ({file_system(folder)}); a cache below the kernel may answer"
    )
    return "disk-read", rate("disk-read", [extent.disk_part / each / 1e9 for each in taken[1:]], "GB/s", said)


def file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that a folder is on, as /proc/self/mounts names it."""
    path, found = os.path.realpath(folder), ("", "unknown")
    for line in mounts.read_text().splitlines():
        _, place, kind, *_ = line.split()
        place = place.replace("\\040", " ")
        if path == place or path.startswith(place.rstrip("/") + "/"):
            found = max(found, (place, kind), key=lambda each: len(each[0]))
    return found[1]


def _check_place(folder: Path, size: int) -> None:
    kind = file_system(folder)
    if kind in _ANSWERED_FROM_MEMORY:
        raise NotMeasured(
            f"disk-read in {folder}: the page cache could not be avoided on {kind}: {_ANSWERED_FROM_MEMORY[kind]}; "
            "name a folder on a disk with --disk"
        )
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < _ROOM * size:
        raise NotMeasured(
            f"disk-read in {folder}: {free // MIB} MiB are free, a file of {size // MIB} MiB needs twice its size"
        )


@contextmanager
def _unlinked(folder: Path) -> Iterator[int]:
    """A file that has no name any more: however this process ends, nothing is left."""
    handle, name = tempfile.mkstemp(prefix=".hio-probe-", dir=folder)
    try:
        os.unlink(name)
        yield handle
    finally:
        os.close(handle)


def _fill(handle: int, size: int) -> None:
    """Random bytes, each block another one: a file system that packs or shares blocks gains nothing."""
    block = bytearray(os.urandom(_REQUEST))
    for number in range(size // _REQUEST):
        block[:: mmap.PAGESIZE] = bytes(len(block) // mmap.PAGESIZE)
        block[:8] = number.to_bytes(8, "little")
        rest = memoryview(block[number % 251 :] + block[: number % 251])
        while rest:
            rest = rest[os.write(handle, rest) :]
    os.fsync(handle)


@contextmanager
def _uncached(handle: int, size: int) -> Iterator[tuple[int, str]]:
    """(a descriptor to read with, how the page cache is avoided). Raises NotMeasured where it cannot be."""
    own = f"/proc/self/fd/{handle}"
    try:
        reader = os.open(own, os.O_RDONLY | os.O_DIRECT)
        how = "O_DIRECT"
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        reader = os.open(own, os.O_RDONLY)
        how = "pages dropped before (POSIX_FADV_DONTNEED)"
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        if how != "O_DIRECT" and _is_cached(reader, size):
            raise NotMeasured(
                "disk-read: the page cache could not be avoided in that folder; give another --disk"
            )
        yield reader, how
    finally:
        os.close(reader)


def _is_cached(reader: int, size: int) -> bool:
    """Whether any of some places of the file is answered without waiting; a file system that cannot say counts as cached."""
    buffer = bytearray(mmap.PAGESIZE)
    for offset in range(0, size, max(mmap.PAGESIZE, size // 64)):
        try:
            if os.preadv(reader, [buffer], offset, os.RWF_NOWAIT):
                return True
        except BlockingIOError:
            continue
        except OSError:
            return True
    return False


def _read(reader: int, buffer: mmap.mmap, offset: int, size: int) -> None:
    done = 0
    while done < size:
        read = os.preadv(reader, [buffer], offset + done)
        if read <= 0:
            raise OSError(errno.EIO, "the file ended while it was read")
        done += read
