"""How many threads this process may use: its affinity, and the CPU time that its control groups allow.

Invariant: never more than the scheduler gives, so that the rate of n threads is that of n.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hio_validate.observe.control_groups import own_groups


@dataclass(frozen=True)
class Usable:
    """Threads that may run at the same time."""

    count: int
    affinity: int
    quota: float | None
    """Processors' worth of time that the control groups allow; None = no limit."""

    @property
    def sentence(self) -> str:
        """How it was counted."""
        allowed = f"affinity of {self.affinity}"
        return allowed if self.quota is None else f"{allowed}, quota of {self.quota:g} processors"


def usable(root: Path = Path("/"), affinity: int | None = None) -> Usable:
    """What this process may use now. A quota of a fraction is rounded down, but never below one."""
    allowed = affinity if affinity is not None else len(os.sched_getaffinity(0))
    quota = min(_quotas(root), default=None)
    count = allowed if quota is None else max(1, min(allowed, int(quota)))
    return Usable(count, allowed, quota)


def counts(most: int, every: bool = True) -> list[int]:
    """1, 2, 4 ... and all; only one and all where not `every`."""
    found = [1]
    while every and found[-1] * 2 < most:
        found.append(found[-1] * 2)
    return found if most == 1 else [*found, most]


def _quotas(root: Path) -> Iterator[float]:
    """Processors that each control group around us allows: cpu.max of v2, cpu.cfs_quota_us of v1 (kernel documentation
    admin-guide/cgroup-v2, scheduler/sched-bwc)."""
    for folder, is_v2 in own_groups("cpu", root):
        with suppress(OSError, ValueError, ZeroDivisionError):
            if is_v2:
                most, period = (folder / "cpu.max").read_text().split()
            else:
                most = (folder / "cpu.cfs_quota_us").read_text()
                period = (folder / "cpu.cfs_period_us").read_text()
            if most.strip() not in ("max", "-1"):
                yield int(most) / int(period)
