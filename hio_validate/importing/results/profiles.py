"""What the profiles of nsys and ncu have in common: names of kernels, units, and what a profile never proves."""

from __future__ import annotations

import hashlib
import re

from hio_validate.evidence.observed import Observation
from hio_validate.importing.results.source import Source
from hio_validate.importing.results.summarised import find

NO_BENCHMARK = (
    "how fast it is without the profiler: it was instrumented, so that no time of it is a benchmark",
    "which engine, model and settings ran, and which work they did",
    "what happened on the host, between kernels and on the wall clock",
)
_LONGEST = 48
_UNITS = {"s": "s", "sec": "s", "second": "s", "seconds": "s", "ms": "ms", "msecond": "ms", "us": "us", "usecond": "us",
          "µs": "us", "μs": "us", "ns": "ns", "nsecond": "ns"}  # fmt: skip

_HEADS = {
    "nsys": re.compile(r'\s*"?Time ?\(%\)"?[, ]+"?Total Time'),
    "ncu": re.compile(r'"?ID"?,"?Process ID"?,'),
}
"""How the table of each profiler begins."""


def refuse_two_tools(source: Source) -> None:
    """Raises CannotImport where one file holds the tables of both profilers: reading one would lose the other in silence."""
    begins: dict[str, int] = {}
    for number, text in source.lines():
        for tool, head in _HEADS.items():
            if tool not in begins and head.match(text):
                begins[tool] = number
    if len(begins) == len(_HEADS):
        (one, first), (two, second) = sorted(begins.items(), key=lambda each: each[1])
        raise source.refuse(
            f"two tools wrote it: the table of {one} begins in line {first}, that of {two} here",
            f"give each a file of its own: head -n {second - 1} and tail -n +{second} of it",
            second,
        )


def record_of(kernel: str, line: int, tool: str) -> Observation:
    """An empty record of a kernel, with what every profile has to say about itself.

    Its name is the function's, cut, with a hash of the whole: templates differ far behind where a name can be read.
    """
    function = re.sub(r"^void\s+|\s*[<(].*$", "", kernel.strip(), flags=re.DOTALL)
    shown = re.sub(r"[^A-Za-z0-9_.:-]+", "-", function).strip("-")[:_LONGEST] or "kernel"
    found = Observation(f"{shown}-{hashlib.sha256(kernel.encode()).hexdigest()[:8]}", line)
    found.subject = {"tool": tool, "kernel": kernel[:1000]}
    find(found, "instrumented", f"{tool} was attached: its times are no benchmark", line)
    return found


def time_unit(said: str) -> str | None:
    """s, ms, us or ns, as any version of the profilers says it; None for anything else."""
    return _UNITS.get(said.strip().lower())
