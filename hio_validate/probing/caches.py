"""The last-level caches of the processors that this process may use, as the kernel describes them.

Source: Documentation/ABI/testing/sysfs-devices-system-cpu of the Linux kernel (cache/index*/{level,type,size,shared_cpu_list}).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level_bytes(root: Path = Path("/"), processors: Collection[int] | None = None) -> int | None:
    """Bytes of all caches of the last level together; None where the kernel describes none."""
    allowed = os.sched_getaffinity(0) if processors is None else processors
    found: dict[tuple[int, str], int] = {}
    for processor in allowed:
        for index in (root / f"sys/devices/system/cpu/cpu{processor}/cache").glob("index*"):
            with suppress(OSError, ValueError, KeyError):
                if (index / "type").read_text().strip() == "Instruction":
                    continue
                level = int((index / "level").read_text())
                shared = (index / "shared_cpu_list").read_text().strip()
                found[level, shared] = _bytes((index / "size").read_text().strip())
    last = max((level for level, _ in found), default=None)
    return None if last is None else sum(size for (level, _), size in found.items() if level == last)


def _bytes(text: str) -> int:
    return int(text[:-1]) * _SIZES[text[-1]] if text[-1:] in _SIZES else int(text)
