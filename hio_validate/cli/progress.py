"""Progress of long work: a moving line on a terminal, silence elsewhere until it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def hashing() -> Iterator[Callable[[int, int], None] | None]:
    """A callback (bytes done, total bytes) that shows how far hashing is; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    last = 0.0
    shown = False

    def show(done: int, total: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - last > 0.2 and total > 64 * 2**20:
            last, shown = now, True
            sys.stderr.write(f"\rhashing {done / 2**30:.1f} of {total / 2**30:.1f} GiB ")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
