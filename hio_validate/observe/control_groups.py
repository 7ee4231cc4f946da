"""The control groups that this process is in, as far as they limit one resource.

Source: the Linux kernel's documentation, admin-guide/cgroup-v1/cgroups and admin-guide/cgroup-v2 (/proc/self/cgroup: one
line for each hierarchy, `ID:CONTROLLERS:PATH`; of v2 the line without controllers).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class ControlGroup(NamedTuple):
    """One group, as the folder of its files."""

    folder: Path
    is_v2: bool


def own_groups(controller: str, root: Path = Path("/")) -> Iterator[ControlGroup]:
    """Our group of a controller, e.g. `memory` or `cpu`, and those above it up to the top; none where nothing is mounted."""
    try:
        own = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = [line.split() for line in (root / "proc/self/mounts").read_text().splitlines()]
    except OSError:
        return
    for line in own:
        _, controllers, path = line.split(":", 2)
        for _, place, kind, options, *_ in mounts:
            is_v2 = kind == "cgroup2" and controllers == ""
            is_v1 = (
                kind == "cgroup" and controller in controllers.split(",") and controller in options.split(",")
            )
            if is_v1 or is_v2:
                top = root / place.lstrip("/")
                yield from (ControlGroup(top / part, is_v2) for part in _upwards(path))


def _upwards(path: str) -> Iterator[str]:
    """`a/b`, `a`, `` of `/a/b`."""
    parts = [part for part in path.split("/") if part]
    yield from ("/".join(parts[:length]) for length in range(len(parts), -1, -1))
