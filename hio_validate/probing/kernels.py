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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from hio_validate.models.ceilings import Rate
from hio_validate.models.shape import Shape
from hio_validate.observe.readings import busy_now, others_cpu
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.probing.sampling import rate
from hio_validate.probing.sane import trusted

CHILD = "hio_validate.probing.kernels_child"
SAMPLES = 3
"""Of each turn."""
TURNS = 3
LEAST_LEFT = 2.0
"""Seconds that a number format has to have for one more turn."""
SECONDS = 120.0
"""Seconds after which nothing new is begun."""
AFTER = 20.0
"""Seconds that a child may take beyond its time, for what it had begun, before it is ended."""
BLOCK = 1 << 20
"""Bytes of the matrix of a matmul: it stays in the cache of a core."""
LEAST_STREAM, MOST_STREAM = 256 << 20, 2 << 30
STREAMED = (1, 2, 4, 8, 16)
"""Vectors by which weights that are read from memory are multiplied: what decoding, drafting and a few requests at once do."""
CACHED = (32, 128)
"""Vectors by which a matrix that stays in a cache is multiplied, below the most: there the arithmetic hides the reading."""


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
    vectors: tuple[int, ...]
    """By how many vectors at once, ascending."""
    stream: int
    """Bytes of weights that are streamed, before any of them is read again."""
    block: int = BLOCK
    samples: int = SAMPLES
    seconds: float = SECONDS


def vectors_up_to(most: int, more: Collection[int] = ()) -> tuple[int, ...]:
    """The counts of vectors that are measured, the largest one included, and `more` of them."""
    return tuple(sorted({each for each in (*STREAMED, *CACHED) if each < most} | {most, *more}))


def streamed(vectors: Iterable[int]) -> list[int]:
    """Those of some counts that are measured with weights from memory."""
    return [each for each in vectors if each <= STREAMED[-1]]


def cached(vectors: Iterable[int]) -> list[int]:
    """Those of some counts that are measured with a matrix that stays in a cache."""
    return [each for each in vectors if each > STREAMED[-1]]


def stream_bytes(caches: int | None, available: int | None, one_pass: float | None = None) -> int:
    """Bytes to stream: twice the last-level caches, but no more than an eighth of the memory that is available.

    one_pass: bytes of weights that one pass of the model reads, where it is known. Decoding reads exactly those again and
    again, so that no more of them are streamed: caches help the measurement as much as they help the service.
    """
    wanted = max(LEAST_STREAM, min(MOST_STREAM, 2 * (caches or 0)))
    if one_pass is not None:
        wanted = min(wanted, max(BLOCK, int(one_pass)))
    return wanted if available is None else min(wanted, available // 8)


def read_again(shape: Shape) -> float:
    """Bytes of weights that decoding reads again and again: of a mixture all experts, as each token chooses others."""
    # Imported here: only a measurement that knows a model asks, and intervals are dataclasses.
    from hio_validate.costs.interval import Interval
    from hio_validate.costs.work import weights_per_pass

    return weights_per_pass(shape.model_copy(update={"experts": None}), Interval.exact(1.0)).value


def measured(asked: Asked, tell: Callable[[str], None] = lambda _: None) -> tuple[dict[str, Rate], list[str]]:
    """(rates by name, what could not be measured). Raises CannotProbe where nothing was.

    Each format has an equal part of the time that is left, so that a busy machine starves none of them; all are measured in
    several turns, so that a slow moment of the machine is not the whole of one rate.
    """
    seen, dtypes = _Seen(), asked.dtypes
    until = time.monotonic() + asked.seconds
    for turn in range(TURNS):
        answered = []
        for at, dtype in enumerate(dtypes):
            left = max(0.0, until - time.monotonic()) / (len(dtypes) - at)
            if turn and left < LEAST_LEFT:
                continue
            tell(dtype if turn == 0 else f"{dtype}, again")
            if seen.measure(replace(asked, dtypes=(dtype,), seconds=left), turn == 0):
                answered.append(dtype)
        dtypes = tuple(answered)
    rates = seen.rates()
    if not rates:
        raise CannotProbe(seen.unknown[0] if seen.unknown else "no number format was named")
    kept = trusted(rates, seen.others, len(os.sched_getaffinity(0)))
    return kept.rates, [*dict.fromkeys(seen.unknown), *kept.why]


class _Seen:
    """What the children said, turn by turn: all samples of a rate stand together."""

    def __init__(self) -> None:
        self.lines: dict[str, dict[str, Any]] = {}
        self.others: dict[str, float] = {}
        """Rate -> the most processors that everybody else used while it was measured."""
        self.unknown: list[str] = []

    def measure(self, asked: Asked, is_first: bool) -> bool:
        """Whether one child measured anything. That a later turn had no time left is no news."""
        before = busy_now(())
        measured = []
        for line in _child(asked):
            if "unknown" in line and (is_first or not line.get("late")):
                self.unknown.append(line["unknown"])
            elif "samples" in line:
                name = _name(line)
                measured.append(name)
                earlier = self.lines.get(name, {"samples": []})
                self.lines[name] = line | {"samples": [*earlier["samples"], *line["samples"]]}
        used = others_cpu(before, busy_now(()))
        if used is not None:
            self.others |= {name: max(used, self.others.get(name, 0.0)) for name in measured}
        return bool(measured)

    def rates(self) -> dict[str, Rate]:
        """The rates of what was measured; what has no rate becomes unknown."""
        found = {}
        for name, line in self.lines.items():
            try:
                found[name] = _rate(line)
            except NotMeasured as error:
                self.unknown.append(str(error))
        return found


def _name(line: Mapping[str, Any]) -> str:
    """`matvec-Q8_0-2` with 2 threads, `matvec-Q8_0-2x16` with 2 threads and 16 vectors."""
    by = f"x{line['vectors']}" if line["vectors"] > 1 else ""
    return f"{line['what']}-{line['dtype']}-{line['threads']}{by}"


def _rate(line: Mapping[str, Any]) -> Rate:
    """The rate of one line: bytes of weights a second where they are streamed, operations where they stay in a cache."""
    size = f"{line['rows']} x {line['width']}"
    many = "one vector" if line["vectors"] == 1 else f"{line['vectors']} vectors"
    several = line["count"] > 1
    stored = f"{line['bytes'] / 1e6:.{0 if several else 2}f} MB"
    what = (
        f"{line['count']} matrices of {size}, {stored} in turn"
        if several
        else f"one matrix of {size}, {stored}"
    )
    computed = line["taken"] * line["repeated"]
    method = (
        f"ggml_mul_mat with {many}: {what}, in buffers of type {line['kind']}, "
        f"{computed} {'product' if computed == 1 else 'products'} a sample"
    )
    quantity, unit = ("matvec", "GB/s") if line["what"] == "matvec" else ("matmul", "GFLOP/s")
    return rate(
        quantity, [each / 1e9 for each in line["samples"]], unit, method,
        dtype=line["dtype"], threads=line["threads"], vectors=line["vectors"], working_set=line["bytes"],
    )  # fmt: skip


def _child(asked: Asked) -> Iterator[dict[str, Any]]:
    """What the child said; its end by a signal, or in silence, is one more thing that is unknown."""
    command = [sys.executable, "-P", "-m", CHILD]
    try:
        done = subprocess.run(
            command, input=json.dumps(asdict(asked)), capture_output=True, encoding="utf-8", errors="replace", timeout=asked.seconds + AFTER,
            env={**os.environ, "GGML_NO_BACKTRACE": "1"}, check=False,
        )  # fmt: skip
        out, ended = done.stdout, _end(done.returncode, done.stderr)
    except subprocess.TimeoutExpired as error:
        out = (error.stdout or b"").decode(errors="replace")
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
