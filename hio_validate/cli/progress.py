"""Progress of long work: a moving line on a terminal; elsewhere silence, or a line now and then where it takes minutes."""

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


class Reading:
    """How far reading a file is: a moving line on a terminal, elsewhere a line every few seconds of a long one."""

    _EVERY = (5.0, 0.2)

    def __init__(self, file: str, total: int) -> None:
        self._file, self._total = file, total
        self._watched = sys.stderr.isatty()
        self._next = time.monotonic() + self._EVERY[self._watched]
        self._shown = False

    def __call__(self, done: int) -> None:
        """`done`: bytes that were read."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._EVERY[self._watched]
        said = f"hio: read {done / 2**20:.0f} of {self._total / 2**20:.0f} MiB of {self._file}"
        if self._watched:
            import shutil  # where somebody looks: a line wider than the terminal would not be moved but repeated

            said = f"\r\x1b[K{said[: shutil.get_terminal_size().columns - 1]}"
            self._shown = True
        sys.stderr.write(said if self._watched else f"{said}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Take the moving line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Measuring:
    """What is measured now: a moving line on a terminal, elsewhere a line for what begins, every few seconds."""

    _EVERY_S = 5.0

    def __init__(self, about_s: float) -> None:
        self._about = about_s
        self._watched = sys.stderr.isatty()
        self._next = 0.0
        self._shown = False

    def __call__(self, what: str, passed_s: float) -> None:
        """`what` begins, or ended, after `passed_s` seconds."""
        said = f"hio: {what}, {passed_s:.0f} of at most {self._about:.0f} s"
        if self._watched:
            import shutil  # where somebody looks

            sys.stderr.write(f"\r\x1b[K{said[: shutil.get_terminal_size().columns - 1]}")
            self._shown = True
        elif passed_s >= self._next:
            self._next = passed_s + self._EVERY_S
            sys.stderr.write(f"{said}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Take the moving line away."""
        if self._shown:
            self._shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
