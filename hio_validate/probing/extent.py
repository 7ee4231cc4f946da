"""How much is measured: repetitions, seconds, sizes."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Extent:
    """How long a probe may take, and how large what it measures is."""

    name: str
    sample_s: float
    """Seconds that one repetition takes at least, where what is repeated is shorter."""
    budget_s: float
    """Seconds after which nothing new is begun."""
    about_s: float
    """Seconds that all of it takes at most, as it is told beforehand."""
    stream_bytes: int | None
    """Bytes of one buffer that is read or copied; None = four times the last-level caches."""
    matrices: tuple[int, ...]
    """Rows of the square matrices that may be multiplied: the small ones, and the largest that is quick enough."""
    disk_part: int
    """Bytes of the file that one repetition reads."""
    all_counts: bool
    """Whether memory is measured at 2, 4, ... threads, too, and not only at one and all."""
    repetitions: int = 7


FULL = Extent("full", 0.2, 75.0, 90.0, None, (256, 2048, 4096, 8192), 64 * MIB, True)
QUICK = Extent("quick", 0.05, 15.0, 20.0, None, (256, 1024, 2048), 16 * MIB, False)
SHARE_OF_MEMORY = 0.25
"""Part of the available memory that both buffers may take together."""
