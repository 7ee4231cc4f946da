"""Which process serves: by its port, or by the systemd unit whose control group it is in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listening, owner_of


def pid_at(port: int) -> int | None:
    """Who alone listens on a port; None where nobody does. Raises Unobservable."""
    return owner_of(port).pid if listening(port) else None


def pid_of_unit(unit: str) -> int | None:
    """The first process of a unit's control group; None where it has none. Raises Unobservable."""
    members = {pid for pid in proc.everyone() if _unit(pid) == unit}
    tops = []
    for pid in sorted(members):
        with suppress(Unobservable):
            if proc.parent(pid) not in members:
                tops.append(pid)
    if len(tops) > 1:
        raise Unobservable(f"{unit} has the processes {', '.join(map(str, tops))}: give --pid")
    return tops[0] if tops else None


def _unit(pid: int) -> str | None:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            last = line.rpartition(":")[2].rpartition("/")[2]
            if last.endswith(".service"):
                return last
    return None
