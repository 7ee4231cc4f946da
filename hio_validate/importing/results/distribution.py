"""Statistics of a column of any length, computed from its rows in bounded memory.

Invariants: mean and sum are rounded once (math.fsum), whatever the order and the number of rows; a percentile is one of the
values or lies between two neighbours; memory is one run of RUN values, what is more waits sorted in a temporary file.
"""

from __future__ import annotations

import math
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

RUN = 1 << 18
"""Values that are held before they are sorted and put aside."""
PERCENTILES = {
    "p1": 1,
    "p5": 5,
    "p10": 10,
    "p25": 25,
    "median": 50,
    "p75": 75,
    "p90": 90,
    "p95": 95,
    "p99": 99,
}
"""Name of the statistic -> percent. Between two values a percentile is interpolated (method 7 of Hyndman and Fan 1996, which
is what numpy.percentile does and so what AIPerf and genai-perf print)."""


class Distribution:
    """The values of one metric, as they come. Use it as a context: the temporary file goes with it."""

    def __init__(self, run: int = RUN) -> None:
        self.count = 0
        self._held = array("d")
        self._run = run
        self._runs: list[memoryview[float]] = []
        self._spill: IO[bytes] | None = None
        self._lengths: list[int] = []

    def __enter__(self) -> Distribution:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for run in self._runs:
            run.release()
        self._runs.clear()
        if self._spill is not None:
            self._spill.close()

    def add(self, value: float) -> None:
        """One finite value. Integers are exact up to 2**53."""
        self._held.append(value)
        self.count += 1
        if len(self._held) >= self._run:
            self._put_aside()

    def extend(self, values: Sequence[float]) -> None:
        """Many finite values."""
        self._held.extend(values)
        self.count += len(values)
        if len(self._held) >= self._run:
            self._put_aside()

    def _put_aside(self) -> None:
        ordered = array("d", sorted(self._held))
        if self._spill is None:
            self._spill = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the column
        self._spill.write(ordered.tobytes())
        self._lengths.append(len(ordered))
        self._held = array("d")

    def _sorted_runs(self) -> list[memoryview[float]]:
        """Every run, sorted; those put aside are mapped, not read."""
        for run in self._runs:
            run.release()
        self._runs = []
        if self._spill is not None:
            import mmap  # only for a column of more than RUN values

            self._spill.flush()
            mapped = memoryview(mmap.mmap(self._spill.fileno(), 0, access=mmap.ACCESS_READ)).cast("d")
            start = 0
            for length in self._lengths:
                self._runs.append(mapped[start : start + length])
                start += length
        if self._held:
            self._runs.append(memoryview(array("d", sorted(self._held))))
        return self._runs

    def values(self) -> Iterator[float]:
        """All values, in no order that means anything."""
        return chain.from_iterable(self._sorted_runs())

    def statistics(self) -> dict[str, float]:
        """mean, std, min, max and the percentiles; std is that of the values themselves (divided by n, not n - 1), as the
        tools that this reads print it. No value: nothing."""
        if not self.count:
            return {}
        runs = self._sorted_runs()
        total = math.fsum(chain.from_iterable(runs))
        mean = total / self.count
        lowest, highest = min(run[0] for run in runs), max(run[-1] for run in runs)
        deviation = self._deviation(runs, mean, max(highest - mean, mean - lowest))
        found = {"mean": min(max(mean, lowest), highest), "total": total, "std": deviation, "min": lowest}
        for name, percent in PERCENTILES.items():
            found[name] = self._percentile(runs, percent)
        return {**found, "max": highest}

    def _deviation(self, runs: list[memoryview[float]], mean: float, unit: float) -> float:
        """std; squares are taken in a unit of its own, so that none is too small or too large for a float."""
        if not unit:
            return 0.0
        squares = math.fsum(((x - mean) / unit) ** 2 for x in chain.from_iterable(runs))
        rounded = math.fsum(
            (x - mean) / unit for x in chain.from_iterable(runs)
        )  # what rounding the mean lost
        return math.sqrt(max(squares - rounded**2 / self.count, 0.0) / self.count) * unit

    def _percentile(self, runs: list[memoryview[float]], percent: int) -> float:
        rank, rest = divmod((self.count - 1) * percent, 100)
        low = _ranked(runs, rank)
        if not rest:
            return low
        high = _ranked(runs, rank + 1)
        return min(max(low + (high - low) * (rest / 100), low), high)


def _ranked(runs: list[memoryview[float]], rank: int) -> float:
    """The value that `rank` values stand before in the order of all. Every step halves what lies between two neighbours in
    some run, so that the runs are looked up, never merged."""
    starts, ends = [0] * len(runs), [len(run) for run in runs]
    while True:
        widest = max(range(len(runs)), key=lambda each: ends[each] - starts[each])
        pivot = runs[widest][(starts[widest] + ends[widest]) // 2]
        below = [bisect_left(run, pivot, starts[i], ends[i]) for i, run in enumerate(runs)]
        if rank < sum(below):
            ends = below
            continue
        upto = [bisect_right(run, pivot, starts[i], ends[i]) for i, run in enumerate(runs)]
        if rank < sum(upto):
            return float(pivot)
        starts = upto
