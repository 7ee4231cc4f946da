"""What is known before a trial starts, shown and kept with its run (contract 4.9).

Invariant: read-only, and by metadata only: nobody's requests are looked at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hio_validate.models.run import Run
from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import owner_of
from hio_validate.repo import Repo

FILE = "preflight.json"
LAST_RUNS = 3
_MEMINFO = {
    "MemTotal": "memory",
    "MemAvailable": "memory_available",
    "SwapTotal": "swap",
    "SwapFree": "swap_free",
}


@dataclass(frozen=True)
class Preflight:
    """`at` in UTC; sentences for people; `host`: readings in bytes, `load_1m` in runnable processes."""

    at: str
    active: tuple[str, ...]
    last: tuple[str, ...]
    pending: tuple[str, ...]
    serving: str
    """Who listens where the service listens, in a sentence."""
    host: dict[str, int | float]

    def as_data(self) -> dict[str, Any]:
        """As run/v1 has it, under `preflight`."""
        return {
            "at": self.at,
            "active": [*self.active, self.serving],
            "last": list(self.last),
            "pending": list(self.pending),
            "host": dict(self.host),
        }

    def keep(self, folder: Path) -> None:
        """Put it where the record of the job looks for it. Raises OSError."""
        (folder / FILE).write_text(json.dumps(self.as_data(), indent=1) + "\n")


def preflight(
    repo: Repo,
    service: str,
    port: int | None,
    now: str,
    active: Sequence[str] = (),
    pending: Sequence[str] = (),
) -> Preflight:
    """Look at runs, port and host; `active` and `pending` are the jobs of this host, a sentence each."""
    return Preflight(
        at=now,
        active=tuple(active),
        last=tuple(last_runs(repo, service)),
        pending=tuple(pending),
        serving=serving_on(service, port),
        host=host_readings(),
    )


def last_runs(repo: Repo, service: str) -> Iterator[str]:
    """The newest runs of a service with what failed in them, a sentence each, the newest first."""
    runs: list[Run] = [item.model for item in repo.of("run/v1") if item.service == service]
    for run in sorted(runs, key=lambda each: (each.at or "", each.name), reverse=True)[:LAST_RUNS]:
        began = f" on {run.at[:10]}" if run.at else ""
        ending = run.outcome or "the record does not say how it ended"
        why = f": {run.why}" if run.why else ""
        invalid = [leg for leg in run.legs if leg.invalid]
        failures = [f"leg {leg.leg} ({leg.arm}) does not count: {leg.invalid[0]}" for leg in invalid]
        yield "; ".join([f"{run.name}{began}: {ending}{why}", *failures])


def serving_on(service: str, port: int | None) -> str:
    """Who serves at a service's port now."""
    if port is None:
        return f"where {service} listens is not said"
    try:
        owner = owner_of(port)
        path, deleted = proc.executable_path(owner.pid)
        began = proc.started_at(proc.identity(owner.pid).ticks)
    except Unobservable as error:
        return str(error)
    gone = " (its file was replaced or deleted)" if deleted else ""
    return f"process {owner.pid}, {path}{gone}, started {began}, listens on {owner.listener}"


def host_readings() -> dict[str, int | float]:
    """Memory and swap in bytes, load as the kernel averages it over a minute; what is not there is left out."""
    found: dict[str, int | float] = {}
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in _MEMINFO:
            found[_MEMINFO[name]] = int(value.split()[0]) * 1024
    return {**found, "load_1m": round(os.getloadavg()[0], 2)}
