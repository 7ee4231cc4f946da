"""A control group for the processes of a job, where the host lets us make one: what is in it is ours, whatever it did.

Where there is none, nothing is lost but a second way to find what a trial started.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hio_validate.execute.owned import Identity, identity_of

_PATIENCE_S = 2.0


@dataclass(frozen=True)
class Group:
    """A cgroup v2 directory of our own."""

    folder: Path

    def add(self, pid: int) -> None:
        """Put a process into it; what it starts from now on is in it, too."""
        with suppress(OSError):
            (self.folder / "cgroup.procs").write_text(str(pid))

    def members(self) -> set[Identity]:
        """Everything that runs in it."""
        try:
            pids = (self.folder / "cgroup.procs").read_text().split()
        except OSError:
            return set()
        return {who for pid in pids if (who := identity_of(int(pid)))}

    def remove(self) -> bool:
        """Remove it, once it is empty; whether it is gone."""
        end = time.monotonic() + _PATIENCE_S
        while self.folder.exists():
            with suppress(OSError):
                self.folder.rmdir()
                break
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True


def group_of(job: Path) -> Group | None:
    """The group of the job in a folder; None where this host has no place for it. Two folders are never one group."""
    parent, number = _own_parent(), hashlib.sha256(os.fsencode(job)).hexdigest()[:12]
    return Group(parent / f"hio-{job.name}-{number}") if parent else None


def make(job: Path) -> Group | None:
    """Make the group of a job; None where this host does not let us."""
    group = group_of(job)
    if group is None:
        return None
    try:
        group.folder.mkdir(exist_ok=True)
        return group if os.access(group.folder / "cgroup.procs", os.W_OK) else None
    except OSError:
        return None


def _own_parent() -> Path | None:
    """Where our own process stands in the cgroup v2 tree."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    root = next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)
    own = next(
        (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")),
        None,
    )
    return Path(root + own) if root and own else None
