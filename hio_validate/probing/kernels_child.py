"""The child process of `hio probe engine`: measures products of one build of llama.cpp and prints a line of JSON for each.

It reads what to measure from its standard input (probing/kernels.py writes it). A crash of the foreign code ends it and
nothing else: each line that says what begins was written before the code is entered.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

from hio_validate.probing.ggml import Graph, Library, Matrices, Products, Unsupported
from hio_validate.probing.kernels import Asked, cached, streamed
from hio_validate.quantity import counted


class NoTime(Exception):
    """What was asked for would end after the time that it has."""


TILE = 256
"""Rows of random numbers that are made and quantised; a matrix repeats them."""
MATRIX = 16 << 20
"""Bytes of one matrix of those that are streamed: large against what one product costs beside its work."""
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux (prctl(2))."""
AT_LEAST = 0.05
"""Seconds that one sample takes at least."""


def main() -> None:
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    asked = Asked(**json.load(sys.stdin))
    until = time.monotonic() + asked.seconds
    try:
        library = Library(Path(asked.base), Path(asked.cpu))
    except (OSError, Unsupported) as error:
        _say(refused=f"{error}")
        return
    for dtype in asked.dtypes:
        for what, counts in (("matvec", streamed(asked.vectors)), ("matmul", cached(asked.vectors))):
            if counts:
                _say(begins=f"{what} of {dtype}")
                try:
                    _measure(library, asked, what, dtype, counts, until)
                except Unsupported as error:
                    _say(unknown=f"{what} of {dtype}: {error}")


def _measure(
    library: Library, asked: Asked, what: str, dtype: str, counts: Sequence[int], until: float
) -> None:
    block = library.block(dtype)
    width = asked.width if asked.width % block == 0 else -(-asked.width // block) * block
    size = library.row(dtype, width)
    if what == "matvec":
        rows = max(TILE, min(MATRIX, asked.stream) // size // TILE * TILE)
        count = min(2000, max(1, asked.stream // (rows * size)))
    else:
        rows, count = max(TILE, asked.block // size // TILE * TILE), 1
    chance = random.Random(0)
    numbers = (ctypes.c_float * (TILE * width))(*(chance.gauss(0, 1) for _ in range(TILE * width)))
    tile = library.quantised(dtype, numbers, TILE, width).raw
    most = width * max(counts)
    activations = (ctypes.c_float * most)(*(chance.gauss(0, 1) for _ in range(most)))
    matrices = library.matrices(dtype, width, rows, count)
    try:
        library.fill(matrices, ctypes.create_string_buffer(tile * (rows // TILE), rows * size), rows * size)
        for vectors in counts:
            products = library.products(matrices, activations, vectors)
            try:
                for threads in asked.threads:
                    _of_threads(library, asked, (what, dtype, vectors, threads), matrices, products, until)
            finally:
                library.free(products.held)
    finally:
        library.free(matrices.held)


def _of_threads(
    library: Library, asked: Asked, which: tuple[str, str, int, int], matrices: Matrices, products: Products,
    until: float,
) -> None:  # fmt: skip
    what, dtype, vectors, threads = which
    try:
        samples, taken, repeated = _samples(library, products, threads, asked.samples, until)
    except NoTime:
        _say(
            unknown=f"{what} of {dtype} with {counted(vectors, 'vector')} and {counted(threads, 'thread')}: there was no time left",
            late=True,
        )
        return
    _finite(library, products)
    each = matrices.bytes / len(matrices.tensors)  # of one product
    done = each if what == "matvec" else 2.0 * matrices.width * matrices.rows * vectors
    _say(
        what=what, dtype=dtype, vectors=vectors, threads=threads, width=matrices.width, rows=matrices.rows,
        count=len(matrices.tensors), bytes=matrices.bytes, kind=matrices.kind, taken=taken, repeated=repeated,
        samples=[done * computed / spent for computed, spent in samples],
    )  # fmt: skip


def _samples(
    library: Library, products: Products, threads: int, count: int, until: float
) -> tuple[list[tuple[int, float]], int, int]:
    """([(products computed, seconds)], products of a graph, graphs of a sample), after a computation of all that warms up.

    Where all products take longer than a sample need, each sample computes the next of them in turn: the weights that it
    reads are those that were read longest ago, so that no smaller part of them stays in a cache.
    """
    every = len(products.tensors)
    whole = library.graph(products, slice(0, every))
    graphs = [whole]
    try:
        first = _timed(library, [whole], threads)
        taken = min(every, max(1, math.ceil(AT_LEAST / first * every)))
        repeated = max(1, math.ceil(AT_LEAST / first))
        if time.monotonic() + count * max(repeated * first * taken / every, AT_LEAST) > until:
            raise NoTime
        if taken < every:
            graphs += [library.graph(products, slice(at, at + taken)) for at in range(0, every, taken)]
        turn = cycle(graphs[1:] or graphs)
        samples = []
        for _ in range(count):
            chosen = [next(turn) for _ in range(repeated)]
            samples.append((sum(each.products for each in chosen), _timed(library, chosen, threads)))
        return samples, taken, repeated
    finally:
        for graph in graphs:
            library.free(graph.held)


def _timed(library: Library, graphs: Sequence[Graph], threads: int) -> float:
    begun = time.perf_counter()
    for graph in graphs:
        library.compute(graph, threads)
    return time.perf_counter() - begun


def _finite(library: Library, products: Products) -> None:
    """The results are looked at: a kernel that computed nothing, or no numbers, was not measured."""
    found = library.result(products)
    if not all(map(math.isfinite, found)) or not any(found):
        raise Unsupported("its results are no numbers, or all zero")


def _say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
