"""How fast numpy's BLAS multiplies two square matrices: 2 n^3 operations, a multiplication and an addition each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from hio_validate.models.ceilings import Rate
from hio_validate.probing.blas import DTYPES, Blas
from hio_validate.probing.extent import Extent
from hio_validate.probing.sampling import Step, each_takes, rate, seconds

NOT_MEASURED = (
    "matmul of bf16, f16 and int8: numpy's BLAS has no product of them, and numpy's own loops bind no engine; "
    "hio probe engine measures an engine's own kernels"
)
_PATIENCE = 4
"""A large product may take as many times the seconds of a repetition."""


def measured(library: Blas, threads: list[int], extent: Extent) -> Iterator[Step]:
    """Small and of large matrices in each number format, at each number of threads."""
    for dtype in DTYPES:
        for asked in threads:
            with library.threads(asked) as count:
                small, *larger = extent.matrices
                yield partial(_one, library, dtype, small, count, extent)
                yield partial(_large, library, dtype, larger, count, extent)


def _one(library: Blas, dtype: str, rows: int, threads: int, extent: Extent) -> tuple[str, Rate]:
    taken, calls = each_takes(_product(library, dtype, rows), extent.sample_s, extent.repetitions)
    samples = [2 * rows**3 / each / 1e9 for each in taken]
    said = f"{library.name}: {rows} x {rows} by {rows} x {rows}, {calls} times a repetition"
    found = rate("matmul", samples, "GFLOP/s", said, threads=threads, dtype=dtype)
    return f"matmul-{dtype}-{rows}-{threads}", found


def _large(library: Blas, dtype: str, sizes: list[int], threads: int, extent: Extent) -> tuple[str, Rate]:
    """Of the largest size whose product is quick enough here; the next one would take eight times as long."""
    return _one(library, dtype, _quick_enough(library, dtype, sizes, extent), threads, extent)


def _quick_enough(library: Blas, dtype: str, sizes: list[int], extent: Extent) -> int:
    for rows, larger in zip(sizes, [*sizes[1:], None], strict=True):
        product = _product(library, dtype, rows)
        product()
        taken = seconds(product)
        if larger is None or taken * (larger / rows) ** 3 > extent.sample_s * _PATIENCE:
            return rows
    raise AssertionError("there is a size")


def _product(library: Blas, dtype: str, rows: int) -> Callable[[], object]:
    """Random operands: zeros and equal numbers may be quicker, and subnormal ones are slower."""
    numpy = library.numpy
    random = numpy.random.default_rng(1)
    left = random.random((rows, rows)).astype(DTYPES[dtype])
    right = random.random((rows, rows)).astype(DTYPES[dtype])
    into = numpy.zeros((rows, rows), dtype=DTYPES[dtype])
    return lambda: numpy.matmul(left, right, out=into)
