"""Reads /proc/PID: command line, environment, mappings, memory, threads, start.

Invariant: whatever the kernel refuses or takes away while we read ends as one `Unobservable` sentence. A pid
alone is no identity, since the kernel gives it out again: (pid, start ticks, program file) is.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hio_validate.observe.refusal import Unobservable

_MAPS_LINE = re.compile(
    r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<mode>\S{4}) [0-9a-f]+ "
    r"(?P<device>[0-9a-f]+:[0-9a-f]+) (?P<inode>\d+) *(?P<path>.*)"
)
_OCTAL = re.compile(r"\\012")
DELETED = " (deleted)"
_NO_FILE = ("/memfd:", "/dev/", "/SYSV", "/anon_hugepage", "/drm", "/i915")
_BYTES_PER_KB = 1024


@dataclass(frozen=True, slots=True)
class Identity:
    """Which process this is: (pid, start in clock ticks since boot) and the program it runs at the moment."""

    pid: int
    ticks: int
    program: tuple[int, int]
    """(device, inode) of the executable, which an exec changes while pid and start stay."""


@dataclass(frozen=True, slots=True)
class MappedFile:
    """One file a process has mapped; several ranges of it count once. `device` is as maps writes it."""

    path: str
    device: str
    inode: int
    ranges: tuple[str, ...]
    executable: bool
    deleted: bool


@dataclass(frozen=True, slots=True)
class MemoryBySource:
    """Resident bytes by source, None where the kernel does not say."""

    anonymous: int | None
    file: int | None
    shared: int | None
    swap: int | None


def identity(pid: int) -> Identity:
    """Raises Unobservable for a pid that is gone, a thread, a zombie, a kernel thread or somebody else's."""
    if pid < 1:
        raise Unobservable(f"{pid} is no process id: expected a number from 1")
    fields = _stat_fields(pid)
    if fields[0] in "ZX":
        raise Unobservable(f"process {pid} is a zombie: it has ended and nothing of it can be read")
    leader = int(_status(pid)["Tgid"])
    if leader != pid:
        raise Unobservable(f"{pid} is a thread of process {leader}: give the process")
    with _explained(pid, "program"):
        try:
            program = _at(pid, "exe").stat()
        except FileNotFoundError:
            if _at(pid, "stat").exists():
                raise Unobservable(
                    f"process {pid} runs no program file: a kernel thread, or ending"
                ) from None
            raise
    return Identity(pid, int(fields[19]), (program.st_dev, program.st_ino))


@contextmanager
def watch_identity(pid: int) -> Iterator[Identity]:
    """The identity of a process; leaving the block re-checks it and refuses what was read if it changed.

    An OSError within the block becomes Unobservable too: it is how a process that ends shows.
    """
    before = identity(pid)
    try:
        yield before
    except OSError as error:
        check_identity(before)
        raise Unobservable(f"process {pid} cannot be read: {error.strerror}") from error
    check_identity(before)


def check_identity(before: Identity) -> None:
    """Raises Unobservable unless `before` is still what runs under its pid."""
    try:
        now = identity(before.pid)
    except Unobservable as gone:
        raise Unobservable(f"process {before.pid} ended during the capture: {gone.reason}") from None
    if now.ticks != before.ticks:
        raise Unobservable(f"process {before.pid} ended during the capture; another one has its id now")
    if now.program != before.program:
        raise Unobservable(f"process {before.pid} replaced its program during the capture: capture it again")


def argv(pid: int) -> list[str]:
    """All words of the command line, the program first; bytes that are not UTF-8 read as \\xNN."""
    words = _bytes(pid, "cmdline").split(b"\0")
    if words[-1] == b"":
        words.pop()
    if not words:
        raise Unobservable(f"process {pid} shows no command line")
    return [_text(word) for word in words]


def environ(pid: int) -> dict[str, str]:
    """The environment the process was started with; of a name given twice the first, as getenv has it."""
    found: dict[str, str] = {}
    for entry in _bytes(pid, "environ").split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if name and equals:
            found.setdefault(_text(name), _text(value))
    return found


def mapped_files(pid: int) -> list[MappedFile]:
    """Every regular file the process has mapped, in order of address; devices and memory files are none."""
    found: dict[tuple[str, int], MappedFile] = {}
    for line in _text(_bytes(pid, "maps")).split("\n"):
        match = _MAPS_LINE.fullmatch(line)
        if match is None or match["inode"] == "0" or not match["path"].startswith("/"):
            continue
        path = _OCTAL.sub("\n", match["path"])
        if path.startswith(_NO_FILE):
            continue
        key = (match["device"], int(match["inode"]))
        span = f"{int(match['start'], 16):x}-{int(match['end'], 16):x}"
        known = found.get(key)
        found[key] = MappedFile(
            path.removesuffix(DELETED),
            *key,
            ranges=(*(known.ranges if known else ()), span),
            executable="x" in match["mode"] or bool(known and known.executable),
            deleted=path.endswith(DELETED),
        )
    return list(found.values())


def executable_path(pid: int) -> tuple[str, bool]:
    """The program's path and whether it is deleted there, as the kernel names it."""
    with _explained(pid, "program"):
        target = _text(os.fsencode(_at(pid, "exe").readlink()))
    return target.removesuffix(DELETED), target.endswith(DELETED)


def memory(pid: int) -> MemoryBySource:
    """Resident memory by source and swap, in bytes (contract 5.8: never one sum)."""
    status = _status(pid)

    def read(name: str) -> int | None:
        return int(status[name].split()[0]) * _BYTES_PER_KB if name in status else None

    return MemoryBySource(read("RssAnon"), read("RssFile"), read("RssShmem"), read("VmSwap"))


def affinities(pid: int) -> dict[str, int]:
    """CPU list -> number of threads allowed exactly there. A thread that ends meanwhile is not counted."""
    count: Counter[str] = Counter()
    with _explained(pid, "threads"):
        tasks = sorted(_at(pid, "task").iterdir(), key=lambda task: int(task.name))
    for task in tasks:
        try:
            lines = (task / "status").read_text(errors="replace").splitlines()
        except OSError:
            continue
        count.update(line.split(":", 1)[1].strip() for line in lines if line.startswith("Cpus_allowed_list:"))
    return dict(count)


def start_seconds(ticks: int) -> int:
    """A start in clock ticks since boot as seconds since the epoch, by the kernel's own boot time."""
    boot = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime "))
    return int(boot.split()[1]) + ticks // os.sysconf("SC_CLK_TCK")


def started_at(ticks: int) -> str:
    """The moment of a start given in clock ticks since boot, to the second."""
    return datetime.fromtimestamp(start_seconds(ticks), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def open_files(pid: int) -> dict[int, str]:
    """File descriptor -> what it points to, e.g. a path or `socket:[123]`."""
    found: dict[int, str] = {}
    with _explained(pid, "open files"):
        links = list(_at(pid, "fd").iterdir())
    for link in links:
        try:
            found[int(link.name)] = _text(os.fsencode(link.readlink()))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unobservable(_why(pid, "open files", error)) from None
    return found


def everyone() -> list[int]:
    """Every process id there is."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def parent(pid: int) -> int:
    """Process id of the parent."""
    return int(_stat_fields(pid)[1])


def working_directory(pid: int) -> str | None:
    """Where relative paths of its command line start, None if that cannot be seen."""
    try:
        return str(_at(pid, "cwd").readlink())
    except OSError:
        return None


def shares_network(pid: int) -> bool:
    """Whether its ports are our ports: another network namespace has its own 127.0.0.1."""
    with _explained(pid, "network namespace"):
        return _at(pid, "ns/net").readlink() == Path("/proc/self/ns/net").readlink()


def _at(pid: int, name: str) -> Path:
    return Path(f"/proc/{pid}/{name}")


def _bytes(pid: int, name: str) -> bytes:
    with _explained(pid, name):
        return _at(pid, name).read_bytes()


def _stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; the name before it may itself hold blanks and brackets."""
    return _text(_bytes(pid, "stat")).rpartition(")")[2].split()


def _status(pid: int) -> dict[str, str]:
    lines = _text(_bytes(pid, "status")).split("\n")
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


@contextmanager
def _explained(pid: int, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unobservable(_why(pid, what, error)) from None


def _why(pid: int, what: str, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"process {pid} is not ours to read: its {what} needs {_owner(pid)} or root"
    if isinstance(error, FileNotFoundError | ProcessLookupError | NotADirectoryError):
        return f"there is no process {pid} (any more)"
    return f"the {what} of process {pid} cannot be read: {error.strerror}"


def _owner(pid: int) -> str:
    try:
        return f"user {_at(pid, 'stat').stat().st_uid}"
    except OSError:
        return "its own user"
