"""What a matrix product takes by how many vectors the matrix is multiplied by at once, from the counts that were measured.

A product has a fixed part, reading the matrix, and a part for each vector, so that between two measured counts the best guess
lies on the line between their times; the mean over passes of different counts lies there, too. Kernels work in tiles of
vectors (ggml/src/ggml-cpu/repack.cpp, llamafile/sgemm.cpp): three vectors may take longer than four. What holds between two
counts all the same, and is the low end: it takes no less than the quicker of them, and no less for each vector than the one
of them that needs least for each.

Invariant: at a measured count it is the measured time; elsewhere the low end is no more than what the counts beside it allow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product

from hio_validate.costs.interval import Interval


def spanned(counts: Collection[int], vectors: Interval) -> list[int]:
    """The measured counts that tell of `vectors` (of a pass: the mean, the fewest, the most), ascending.

    From the last one that is not above the fewest to the first one that is not below the most; the outermost one where there
    is none on that side.
    """
    every = sorted(counts)
    first = max((each for each in every if each <= vectors.low), default=every[0])
    last = min((each for each in every if each >= vectors.high), default=every[-1])
    return [each for each in every if first <= each <= last]


def time_of_product(times: Mapping[int, Interval], vectors: Interval) -> Interval:
    """Seconds of one product: `times` of those that were measured, by their count; `vectors` as for `spanned`, above 0.

    Beyond what was measured each vector takes as long as with the outermost count. Passes of different counts take in the
    mean no less than those measured counts that have the same mean and take least. Raises ValueError without a time.
    """
    if not times:
        raise ValueError("no product was measured")
    counts = spanned(times, vectors)
    value = _on_the_line({count: time.value for count, time in times.items()}, vectors.value)
    quickest = {count: time.low for count, time in times.items()}
    low = _least(quickest, counts, vectors.low) if vectors.is_exact else _mixed(quickest, vectors.low)
    high = _most({count: time.high for count, time in times.items()}, vectors.high)
    return Interval(min(max(value, low), high), min(low, high), high)


def _most(slowest: Mapping[int, float], vectors: float) -> float:
    """Each vector as slow as of either count beside it, or the whole on their line."""
    counts = spanned(slowest, Interval.exact(vectors))
    return max(_on_the_line(slowest, vectors), *(slowest[count] * vectors / count for count in counts))


def _least(quickest: Mapping[int, float], counts: Collection[int], vectors: float) -> float:
    """By each vector, and by the whole product where a count is not above `vectors`."""
    each = min(quickest[count] / count for count in counts) * vectors
    whole = min(quickest[count] for count in counts) if min(counts) <= vectors else 0.0
    return max(each, whole)


def _mixed(quickest: Mapping[int, float], mean: float) -> float:
    """The least that passes take in the mean, each of one of the counts, where the counts have this mean."""
    if not min(quickest) < mean < max(quickest):
        return _on_the_line(quickest, mean)
    return min(
        _on_the_line({fewer: quickest[fewer], more: quickest[more]}, mean)
        for fewer, more in product(quickest, quickest)
        if fewer <= mean < more
    )


def _on_the_line(times: Mapping[int, float], vectors: float) -> float:
    """The time at one place: between its neighbours on their line, outside as each vector of the outermost count."""
    every = sorted(times)
    if not every[0] < vectors < every[-1]:
        outermost = every[0] if vectors <= every[0] else every[-1]
        return times[outermost] * vectors / outermost
    before = max(each for each in every if each <= vectors)
    after = min(each for each in every if each > vectors)
    part = (vectors - before) / (after - before)
    return times[before] * (1 - part) + times[after] * part
