"""SHA-256 of open files in bounded memory, remembered by what stat says of them.

Invariant: a remembered digest is used only for the same (device, inode, size, mtime_ns, ctime_ns), and only
if the file was left alone for longer than a clock step before it was read (git's racy-timestamp rule).
Without a directory to remember in, everything still works.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from hio_validate.observe.refusal import Unobservable

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in total) while one file is read."""

_BUFFER_BYTES = 1 << 20
_GRANULARITY_NS = 2_000_000_000
"""Coarsest timestamps in use (FAT: 2 s)."""
_REMEMBERED_FILES = 4096
_LARGEST_CACHE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """What must be equal for two readings to be of the same bytes."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def key(self) -> str:
        return f"{self.device}:{self.inode}:{self.size}:{self.mtime_ns}:{self.ctime_ns}"

    def settled_before(self, moment_ns: int) -> bool:
        """Whether a change made after `moment_ns` would have shown in the timestamps."""
        return max(self.mtime_ns, self.ctime_ns) < moment_ns - _GRANULARITY_NS


def stamp(file: BinaryIO) -> Stamp:
    """The stamp of an open file."""
    seen = os.fstat(file.fileno())
    return Stamp(seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


@dataclass
class HashCache:
    """Digests remembered in one JSON file; `path` None = nothing is remembered."""

    path: Path | None
    _known: dict[str, tuple[str, int]] = field(default_factory=dict, init=False, repr=False)
    _changed: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._known = _load(self.path) if self.path else {}

    def get(self, of: Stamp) -> str | None:
        digest, hashed_ns = self._known.get(of.key, ("", 0))
        return digest if digest and of.settled_before(hashed_ns) else None

    def put(self, of: Stamp, digest: str, hashed_ns: int) -> None:
        if of.settled_before(hashed_ns):
            self._known[of.key] = (digest, hashed_ns)
            self._changed = True

    def save(self) -> None:
        """Writes what is new, beside what others wrote meanwhile; a directory that refuses is no error."""
        if self.path is None or not self._changed:
            return
        merged = {**_load(self.path), **self._known}
        newest = sorted(merged.items(), key=lambda item: item[1][1])[-_REMEMBERED_FILES:]
        with suppress(OSError):
            _write(self.path, json.dumps({"hashes": dict(newest)}, indent=0))
            self._changed = False


def default_cache() -> HashCache:
    """${HIO_CACHE_DIR:-${XDG_CACHE_HOME:-~/.cache}/hio}/hashes.json; HIO_CACHE_DIR set to nothing = none."""
    own = os.environ.get("HIO_CACHE_DIR")
    if own is not None:
        return HashCache(Path(own) / "hashes.json" if own else None)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not base.startswith("/"):
        home = os.path.expanduser("~")  # Path.expanduser would raise where there is no home
        base = f"{home}/.cache" if home.startswith("/") else ""
    return HashCache(Path(base) / "hio" / "hashes.json" if base else None)


def sha256_of(file: BinaryIO, cache: HashCache, progress: Progress | None = None) -> str:
    """SHA-256 of an open file from its first byte, 64 hexadecimal digits.

    Raises Unobservable for what is no regular file, and for a file that changes while it is read.
    """
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise Unobservable("not a regular file")
    before, begun_ns = stamp(file), time.time_ns()
    remembered = cache.get(before)
    if remembered is not None:
        return remembered
    digest = _read_through(file, before.size, progress)
    if stamp(file) != before:
        raise Unobservable("changed while it was read")
    cache.put(before, digest, begun_ns)
    return digest


def _read_through(file: BinaryIO, size: int, progress: Progress | None) -> str:
    digest, buffer, done = hashlib.sha256(), memoryview(bytearray(_BUFFER_BYTES)), 0
    descriptor = file.fileno()
    while True:
        try:
            read = os.preadv(descriptor, [buffer], done)
        except OSError as error:
            raise Unobservable(f"not readable: {error.strerror}") from None
        if not read:
            return digest.hexdigest()
        digest.update(buffer[:read])
        done += read
        if progress:
            progress(done, max(size, done))


def _load(path: Path) -> dict[str, tuple[str, int]]:
    """What a cache file remembers; nothing if it is damaged, too big, or others than us may write it."""
    try:
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
            if seen.st_uid != os.geteuid() or seen.st_mode & 0o022 or seen.st_size > _LARGEST_CACHE_BYTES:
                return {}
            entries = json.loads(file.read())["hashes"]
            return {key: (_digest(value[0]), int(value[1])) for key, value in entries.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError(text)
    return text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
