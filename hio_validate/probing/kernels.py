"""The achieved rates of an engine's own kernels: one child process per number format, each rate from its repetitions.

Invariant: foreign code runs in the child alone, so that a crash of it is a sentence about one number format.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from hio_validate.models.ceilings import Rate
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.probing.sampling import rate

CHILD = "hio_validate.probing.kernels_child"
SAMPLES = 7
SECONDS = 55.0
"""Seconds after which nothing new is begun."""
AFTER = 20.0
"""Seconds that a child may take beyond its time, for what it had begun, before it is ended."""
BLOCK = 1 << 20
"""Bytes of the matrix of a matmul: it stays in the cache of a core."""
LEAST_STREAM, MOST_STREAM = 256 << 20, 2 << 30


@dataclass(frozen=True)
class Asked:
    """What the child measures; it goes to it as JSON."""

    base: str
    """libggml-base of the build, and below libggml-cpu."""
    cpu: str
    dtypes: tuple[str, ...]
    threads: tuple[int, ...]
    width: int
    """Numbers of one row; a format whose blocks do not divide it takes the next width that they do."""
    tokens: int
    """Columns of a matmul."""
    stream: int
    """Bytes of weights that one matvec reads."""
    block: int = BLOCK
    samples: int = SAMPLES
    seconds: float = SECONDS


def stream_bytes(caches: int | None, available: int | None) -> int:
    """Bytes to stream: twice the last-level caches, but no more than an eighth of the memory that is available."""
    wanted = max(LEAST_STREAM, min(MOST_STREAM, 2 * (caches or 0)))
    return wanted if available is None else min(wanted, available // 8)


def measured(asked: Asked, tell: Callable[[str], None] = lambda _: None) -> tuple[dict[str, Rate], list[str]]:
    """(rates by name, what could not be measured). Raises CannotProbe where nothing was.

    Each format has an equal part of the time that is left, so that a busy machine starves none of them.
    """
    rates: dict[str, Rate] = {}
    unknown: list[str] = []
    until = time.monotonic() + asked.seconds
    for at, dtype in enumerate(asked.dtypes):
        tell(dtype)
        left = max(0.0, until - time.monotonic()) / (len(asked.dtypes) - at)
        for line in _child(replace(asked, dtypes=(dtype,), seconds=left)):
            if "unknown" in line:
                unknown.append(line["unknown"])
            elif "samples" in line:
                try:
                    rates[f"{line['what']}-{line['dtype']}-{line['threads']}"] = _rate(line, asked)
                except NotMeasured as error:
                    unknown.append(str(error))
    if not rates:
        raise CannotProbe(unknown[0] if unknown else "no number format was named")
    return rates, unknown


def _rate(line: Mapping[str, Any], asked: Asked) -> Rate:
    size = f"{line['rows']} x {line['width']}"
    where = f"in buffers of type {line['kind']}, {line['repeated']} computations a sample"
    if line["what"] == "matvec":
        method = f"ggml_mul_mat with one vector: {line['count']} matrices of {size}, {line['bytes'] / 1e6:.0f} MB, {where}"
        return rate("matvec", [each / 1e9 for each in line["samples"]], "GB/s", method, **_operands(line))
    method = f"ggml_mul_mat with {line['tokens']} vectors: one matrix of {size}, {line['bytes'] / 1e6:.2f} MB, {where}"
    return rate("matmul", [each / 1e9 for each in line["samples"]], "GFLOP/s", method, **_operands(line))


def _operands(line: Mapping[str, Any]) -> dict[str, Any]:
    return {"dtype": line["dtype"], "threads": line["threads"]}


def _child(asked: Asked) -> Iterator[dict[str, Any]]:
    """What the child said; its end by a signal, or in silence, is one more thing that is unknown."""
    command = [sys.executable, "-P", "-m", CHILD]
    try:
        done = subprocess.run(
            command, input=json.dumps(asdict(asked)), capture_output=True, text=True, timeout=asked.seconds + AFTER,
            env={**os.environ, "GGML_NO_BACKTRACE": "1"}, check=False,
        )  # fmt: skip
        out, ended = done.stdout, _end(done.returncode, done.stderr)
    except subprocess.TimeoutExpired as error:
        out = (error.stdout or b"").decode()
        ended = f"it did not end within {asked.seconds + AFTER:.0f} s and was ended"
    except OSError as error:
        raise CannotProbe(f"no process can be started to measure in: {error.strerror}") from None
    begun = f"products of {asked.dtypes[0]}"
    for text in out.splitlines():
        line = _line(text)
        begun = line.get("begins", begun)
        if "refused" in line:
            raise CannotProbe(f"the build's libraries cannot be used: {line['refused']}")
        yield line
    if ended:
        yield {"unknown": f"{begun}: {ended}"}


def _line(text: str) -> dict[str, Any]:
    """One line of the child; what the foreign code prints between them is none of ours."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _end(code: int, errors: str) -> str | None:
    if code == 0:
        return None
    last = errors.strip().splitlines()[-1:] or ["it said nothing"]
    if code < 0:
        known = {each.value: each.name for each in signal.Signals}
        return f"the build's own code ended with {known.get(-code, f'signal {-code}')}: {last[0][:200]}"
    return f"the process that measures ended with exit code {code}: {last[0][:200]}"
