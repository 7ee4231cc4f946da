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
from contextlib import suppress
from pathlib import Path
from typing import Any

from hio_validate.probing.ggml import Library, Products, Unsupported
from hio_validate.probing.kernels import Asked

TILE = 256
"""Rows of random numbers that are made and quantised; a matrix repeats them."""
MATRIX = 16 << 20
"""Bytes of one matrix of those that are streamed: large against what one product costs beside its work."""
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux (prctl(2))."""
AT_LEAST = 0.04
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
        for what in ("matvec", "matmul"):
            _say(begins=f"{what} of {dtype}")
            try:
                _measure(library, asked, what, dtype, until)
            except Unsupported as error:
                _say(unknown=f"{what} of {dtype}: {error}")


def _measure(library: Library, asked: Asked, what: str, dtype: str, until: float) -> None:
    block = library.block(dtype)
    width = asked.width if asked.width % block == 0 else -(-asked.width // block) * block
    size = library.row(dtype, width)
    tokens = 1 if what == "matvec" else asked.tokens
    if what == "matvec":
        rows = max(TILE, MATRIX // size // TILE * TILE)
        count = min(2000, -(-asked.stream // (rows * size)))
    else:
        rows, count = max(TILE, asked.block // size // TILE * TILE), 1
    chance = random.Random(0)
    numbers = (ctypes.c_float * (TILE * width))(*(chance.gauss(0, 1) for _ in range(TILE * width)))
    tile = library.quantised(dtype, numbers, TILE, width).raw
    activations = (ctypes.c_float * (width * tokens))(*(chance.gauss(0, 1) for _ in range(width * tokens)))
    products = library.products(dtype, width, rows, count, activations)
    try:
        library.fill(ctypes.create_string_buffer(tile * (rows // TILE), rows * size), rows * size)
        for threads in asked.threads:
            samples, repeated = _samples(library, products, threads, asked.samples, until)
            _finite(library, products)
            done = products.bytes if what == "matvec" else products.flops
            _say(
                what=what, dtype=dtype, threads=threads, width=width, rows=rows, count=count, tokens=tokens,
                bytes=products.bytes, kind=products.kind, repeated=repeated,
                samples=[done * repeated / each for each in samples],
            )  # fmt: skip
    finally:
        library.free(products)


def _samples(
    library: Library, products: Products, threads: int, count: int, until: float
) -> tuple[list[float], int]:
    """(seconds of each sample, computations in each), after computations that warm it up."""
    library.compute(products, threads)
    first = _timed(library, products, threads, 1)
    repeated = max(1, math.ceil(AT_LEAST / first))
    if time.monotonic() + count * repeated * first > until:
        raise Unsupported(f"with {threads} threads there was no time left")
    return [_timed(library, products, threads, repeated) for _ in range(count)], repeated


def _timed(library: Library, products: Products, threads: int, repeated: int) -> float:
    begun = time.perf_counter()
    for _ in range(repeated):
        library.compute(products, threads)
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
