"""Readings of the host and of a trial's processes at one moment, by metadata only (contract 5.2, 5.8).

Invariants: memory stands by source, and a sum of resident sets is never a total; swap is no capacity; what cannot
be read is None, never 0. Bytes, seconds, processors, degrees Celsius.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hio_validate.observe import proc
from hio_validate.observe.control_groups import own_groups
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import holders_of, listening

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_ESTABLISHED = "01"
_DEVICE_TOOL_S = 2.0
_NO_LIMIT = 1 << 60
"""What cgroup v1 writes as `no limit` is above this."""
_OF_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_OF_V2 = ("memory.max", "memory.current", "inactive_file")
"""File of a memory group's limit, file of its usage, key of the file pages that nobody uses in its memory.stat."""


@dataclass(frozen=True)
class Activity:
    """What a respected service does, from the outside; None = unknown."""

    service: str
    pid: int | None = None
    cpu_s: float | None = None
    """Processor seconds since it started."""
    queued_bytes: int | None = None
    """Bytes in the send and receive queues of its connections."""
    connections: int | None = None
    swap: int | None = None


@dataclass(frozen=True)
class Reading:
    """One sample."""

    available: int | None
    """What the kernel can hand out without swapping, within the memory groups that we are in."""
    anonymous: int
    shared: int
    file: int
    """The trial's resident memory by source; file pages can be dropped and stand apart."""
    swap: int
    """Most that one process of the trial has swapped out."""
    processes: int
    others_cpu: float | None
    """Processors that neither the trial nor a respected service nor the reader used since the last reading; None at the first."""
    device_memory: int | None = None
    temperature_c: float | None = None
    services: tuple[Activity, ...] = ()
    unseen: tuple[int, ...] = ()
    """Processes of the trial whose memory could not be read."""


class Readings(Protocol):
    """Where samples come from; tests inject their own where a host has no swap, sensor or device."""

    def read(self, trial: Collection[int]) -> Reading:
        """The host now, and the processes of the trial given by id."""
        ...


@dataclass
class HostReadings:
    """Reads this host. `respected` is (name, port) of services that are watched and stay."""

    respected: Sequence[tuple[str, int]] = ()
    device: bool = False
    """Whether device memory is asked for; some ways to see it start a program."""
    _before: Busy | None = None
    """Who had used the processors at the last reading."""

    def read(self, trial: Collection[int]) -> Reading:
        services = tuple(activity(name, port) for name, port in self.respected)
        known = [each.pid for each in services if each.pid is not None]
        memories, unseen = _memories(trial)
        return Reading(
            available=available(),
            anonymous=sum(each.anonymous or 0 for each in memories),
            shared=sum(each.shared or 0 for each in memories),
            file=sum(each.file or 0 for each in memories),
            swap=max((each.swap or 0 for each in memories), default=0),
            processes=len(memories),
            others_cpu=self._others({*trial, *known}),
            device_memory=device_memory() if self.device else None,
            temperature_c=temperature(),
            services=services,
            unseen=tuple(unseen),
        )

    def _others(self, ours: set[int]) -> float | None:
        """Processors used by everybody else since the last reading; None at the first."""
        before, self._before = self._before, busy_now(ours)
        return None if before is None else others_cpu(before, self._before)


@dataclass(frozen=True)
class Busy:
    """Processor seconds up to a moment: of the host, of each process that is ours, of who reads and of its ended children."""

    at: float
    host: float
    ours: Mapping[int, float]
    reader: float
    reaped: float
    """Of every child of the reader that was waited for, over its whole life."""


def busy_now(ours: Collection[int]) -> Busy:
    """Who has used the processors up to now."""
    me = os.times()
    used = {pid: seconds for pid in ours if (seconds := cpu_s(pid)) is not None}
    return Busy(me.elapsed, host_busy_s(), used, me.user + me.system, me.children_user + me.children_system)


def others_cpu(before: Busy, now: Busy) -> float | None:
    """Processors used between two moments by nobody of ours: not the trial, not a respected service, not who reads."""
    if now.at <= before.at:
        return None
    running = sum(seconds - before.ours.get(pid, 0.0) for pid, seconds in now.ours.items())
    counted = sum(seconds for pid, seconds in before.ours.items() if pid not in now.ours)
    ended = max(0.0, now.reaped - before.reaped - counted)
    own = running + ended + now.reader - before.reader
    return max(0.0, (now.host - before.host - own) / (now.at - before.at))


def available(root: Path = Path("/")) -> int | None:
    """Bytes the kernel can hand out without swapping: of the host, and of every memory group around us."""
    amounts = [_meminfo(root).get("MemAvailable"), *_group_rooms(root)]
    known = [each for each in amounts if each is not None]
    return min(known) if known else None


def capacity(root: Path = Path("/")) -> tuple[int | None, int | None]:
    """Bytes of memory of the host, and the least limit of the memory groups around us below that; None: unknown, none."""
    whole = _meminfo(root).get("MemTotal")
    limits = [most for most, _, _ in _group_limits(root) if whole is None or most < whole]
    return whole, min(limits, default=None)


def host_busy_s() -> float:
    """Processor seconds that were not idle since boot, of all processors; time stolen by a hypervisor is not ours."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, softirq = map(int, line[:7])
    return (user + nice + system + irq + softirq) * _TICK_S


def cpu_s(pid: int) -> float | None:
    """Processor seconds of a process since it started."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * _TICK_S
    return None


def activity(service: str, port: int) -> Activity:
    """What the owner of a port does: its processor time, the queues and number of its connections, its swap."""
    inodes = {each.inode for each in listening(port)}
    pids = sorted({pid for held in holders_of(inodes).values() for pid in held}) if inodes else []
    queued, connections = _connections(port)
    if not pids:
        return Activity(service, None, None, queued, connections)
    swap = None
    with suppress(Unobservable):
        swap = proc.memory(pids[0]).swap
    return Activity(service, pids[0], cpu_s(pids[0]), queued, connections, swap)


def temperature(root: Path = Path("/")) -> float | None:
    """The hottest thermal zone in degrees Celsius; None on a host without any."""
    found = []
    for zone in (root / "sys/class/thermal").glob("thermal_zone*/temp"):
        with suppress(OSError, ValueError):
            found.append(int(zone.read_text()) / 1000)
    return max(found) if found else None


def device_memory(root: Path = Path("/")) -> int | None:
    """Bytes of device memory in use by all, over all devices; None where none can be seen."""
    found = []
    for card in (root / "sys/class/drm").glob("card*/device/mem_info_vram_used"):
        with suppress(OSError, ValueError):
            found.append(int(card.read_text()))
    return sum(found) if found else _asked_of_nvidia()


def _asked_of_nvidia() -> int | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        said = subprocess.run(
            [tool, "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, check=True, timeout=_DEVICE_TOOL_S,
        ).stdout  # fmt: skip
        return sum(int(line) << 20 for line in said.split()) if said.split() else None
    return None


def _memories(pids: Collection[int]) -> tuple[list[proc.MemoryBySource], list[int]]:
    """Memory of each process that still runs, and those that could not be read."""
    seen, unseen = [], []
    for pid in pids:
        try:
            seen.append(proc.memory(pid))
        except Unobservable:
            if Path(f"/proc/{pid}").exists():
                unseen.append(pid)
    return seen, unseen


def _meminfo(root: Path) -> dict[str, int]:
    """Name -> bytes."""
    found = {}
    with suppress(OSError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            found[name] = int(rest.split()[0]) * (1024 if rest.endswith("kB") else 1)
    return found


def _group_rooms(root: Path) -> Iterator[int]:
    """Bytes left in each memory group around us; what it holds of files that nobody uses counts as left."""
    for most, folder, (_, usage, idle) in _group_limits(root):
        with suppress(OSError, ValueError, KeyError):
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            yield max(0, most - int((folder / usage).read_text()) + int(stat[idle]))


def _group_limits(root: Path) -> Iterator[tuple[int, Path, tuple[str, str, str]]]:
    """The limit of each memory group around us that has one, with its folder and the names of its files."""
    for folder, is_v2 in own_groups("memory", root):
        names = _OF_V2 if is_v2 else _OF_V1
        with suppress(OSError, ValueError):
            most = int((folder / names[0]).read_text())
            if most < _NO_LIMIT:
                yield most, folder, names


def _connections(port: int) -> tuple[int | None, int | None]:
    """(bytes queued, established connections) of a local port, from the kernel's tables."""
    queued = connections = None
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
                queued, connections = queued or 0, connections or 0
                fields = line.split()
                if int(fields[1].rpartition(":")[2], 16) == port and fields[3] == _ESTABLISHED:
                    sent, _, received = fields[4].partition(":")
                    queued += int(sent, 16) + int(received, 16)
                    connections += 1
    return queued, connections
