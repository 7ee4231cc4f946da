"""How fast memory is read and copied, by a stream that no cache holds.

A copy counts what is read and what is written, as STREAM does (J. D. McCalpin, Memory Bandwidth and Machine Balance,
IEEE TCCA 1995). Each thread touches its own part first, so that its pages are there, and near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from hio_validate.models.ceilings import Rate
from hio_validate.probing.blas import Blas
from hio_validate.probing.extent import MIB, SHARE_OF_MEMORY, Extent
from hio_validate.probing.refusal import NotMeasured
from hio_validate.probing.sampling import Step, rate, seconds

TIMES_THE_CACHE = 4
_LEAST_TIMES = 2
_LEAST_BYTES = 256 * MIB
_ENOUGH_BYTES = 4096 * MIB
"""Above it, twice the caches are enough: caches of gigabytes would cost more time than there is."""
_ROWS = (4096, 65536)
"""Numbers of a row where a matrix is multiplied by a vector: 16 KiB and 256 KiB, whose vector stays in a near cache.

The kernel reads several rows at once, which has more lines under way than one stream has."""
_BLOCK = max(_ROWS)
"""Numbers that one thread reads at least, so that each part is of whole rows."""

Work = Callable[[], object]


@dataclass(frozen=True)
class Stream:
    """The size of one buffer, and why."""

    size: int
    cache: int | None

    @property
    def sentence(self) -> str:
        if self.cache is None:
            return f"{self.size / MIB:.0f} MiB, the last-level cache is unknown"
        return f"{self.size / MIB:.0f} MiB, {self.size / self.cache:.1f} x the last-level caches of {self.cache / MIB:.0f} MiB"


def stream(extent: Extent, cache: int | None, available: int | None) -> Stream:
    """The buffer to use. Raises NotMeasured where memory has no room for one that is larger than the caches."""
    known = cache or 0
    enough = min(TIMES_THE_CACHE * known, max(_LEAST_TIMES * known, _ENOUGH_BYTES))
    wanted = extent.stream_bytes or max(_LEAST_BYTES, enough)
    most = wanted if available is None else int(available * SHARE_OF_MEMORY / 2)
    size = min(wanted, most) // (4 * _BLOCK) * (4 * _BLOCK)
    if size <= 0 or (cache is not None and size < _LEAST_TIMES * cache and extent.stream_bytes is None):
        raise NotMeasured(
            f"memory-read, memory-copy: a buffer may have {size / MIB:.0f} MiB here, and the last-level caches have "
            f"{known / MIB:.0f} MiB: the caches would answer"
        )
    return Stream(size, cache)


class Buffers:
    """Two buffers of one size, touched by as many threads as will read them."""

    def __init__(self, library: Blas, size: int, threads: int) -> None:
        numpy = library.numpy
        self._numpy = numpy
        self._count = size // 4
        self._from = numpy.empty(self._count, dtype=numpy.float32)
        self._to = numpy.empty(self._count, dtype=numpy.float32)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._touch, self._parts(threads)))

    def _touch(self, part: slice) -> None:
        self._from[part] = 1.0
        self._to[part] = 0.0

    def _parts(self, threads: int) -> list[slice]:
        """A piece for each thread, in whole rows; fewer where there are fewer blocks than threads."""
        blocks = self._count // _BLOCK
        ends = [index * blocks // threads * _BLOCK for index in range(threads + 1)]
        return [slice(begin, end) for begin, end in pairwise(ends) if begin < end]

    def readers(self) -> dict[str, Callable[[slice], object]]:
        """Ways to read every byte once, which differ in how many lines they have under way."""
        numpy, source = self._numpy, self._from
        vectors = {row: numpy.ones(row, dtype=numpy.float32) for row in _ROWS}

        def multiply(row: int, part: slice) -> object:
            return numpy.dot(source[part].reshape(-1, row), vectors[row])

        rows = {f"matrix of f32, rows of {row}, by a vector": partial(multiply, row) for row in _ROWS}
        return {**rows, "maximum of u64": lambda part: numpy.max(source[part].view(numpy.uint64))}

    def copier(self) -> Callable[[slice], object]:
        numpy, source, target = self._numpy, self._from, self._to
        return lambda part: numpy.copyto(target[part], source[part])

    def together(self, pool: ThreadPoolExecutor, threads: int, each: Callable[[slice], object]) -> Work:
        """One pass over the buffer by all threads; ends when the last one does."""
        parts = self._parts(threads)
        return lambda: list(pool.map(each, parts))


def measured(library: Blas, buffer: Stream, threads: list[int], extent: Extent) -> Iterator[Step]:
    """Reading and copying at each number of threads."""
    buffers = Buffers(library, buffer.size, max(threads))
    with library.threads(1):
        for count in threads:
            with ThreadPoolExecutor(count) as pool:
                crew = _Crew(library, buffers, buffer, pool, count)
                yield partial(crew.read, extent)
                yield partial(crew.copy, extent)


@dataclass(frozen=True)
class _Crew:
    """Threads that work on the buffers together."""

    library: Blas
    buffers: Buffers
    buffer: Stream
    pool: ThreadPoolExecutor
    count: int

    def read(self, extent: Extent) -> tuple[str, Rate]:
        """By the reader that is the fastest in the warm-up: what is slower shows its own limit and not memory's."""
        works = {
            name: self.buffers.together(self.pool, self.count, each)
            for name, each in self.buffers.readers().items()
        }
        warm = {name: min(seconds(work), seconds(work)) for name, work in works.items()}
        name = min(warm, key=lambda each: warm[each])
        said = f"{self.library.name}: {name}, the fastest of {len(works)} ways, over {self.buffer.sentence}; no thread pinned"
        samples = _rates(works[name], self.buffer.size, extent)
        found = rate("memory-read", samples, "GB/s", said, threads=self.count, working_set=self.buffer.size)
        return f"memory-read-{self.count}", found

    def copy(self, extent: Extent) -> tuple[str, Rate]:
        work = self.buffers.together(self.pool, self.count, self.buffers.copier())
        said = (
            f"numpy {self.library.numpy.__version__} copies {self.buffer.sentence}; bytes read and bytes written count; "
            "no thread pinned"
        )
        samples = _rates(work, 2 * self.buffer.size, extent)
        found = rate("memory-copy", samples, "GB/s", said, threads=self.count)
        return f"memory-copy-{self.count}", found


def _rates(work: Work, size: int, extent: Extent) -> list[float]:
    """GB/s of each repetition: one pass, or as many as make it long enough."""
    once = seconds(work)  # the warm-up
    passes = max(1, round(extent.sample_s / max(once, 1e-9)))

    def sample() -> Any:
        for _ in range(passes):
            work()

    return [passes * size / seconds(sample) / 1e9 for _ in range(extent.repetitions)]
