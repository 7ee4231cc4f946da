"""What hio qualify found, and what it will do: for a person and for a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.evidence.probes import Judged
from hio_validate.report.table import table

_WORDS = {"passed": "passed", "failed": "FAILED", "not-observable": "not observable"}


def summary(name: str, probes: Mapping[str, Judged]) -> str:
    """`base-2026-11-30: 5 of 6 probes passed, 1 failed`."""
    counts = {word: sum(each.verdict == word for each in probes.values()) for word in _WORDS}
    more = [f"{counts['failed']} failed"] if counts["failed"] else []
    more += [f"{counts['not-observable']} not observable"] if counts["not-observable"] else []
    return ", ".join([f"{name}: {counts['passed']} of {len(probes)} probes passed", *more])


def render(name: str, probes: Mapping[str, Judged], width: int = 80) -> str:
    """The summary, and a row a probe: its verdict, why, and its numbers."""
    rows = [(probe, _WORDS[each.verdict], _told(each)) for probe, each in probes.items()]
    body = "".join(f"  {line}\n" for line in table(rows, width - 2).splitlines())
    return f"{summary(name, probes)}\n\n{body}"


def as_shape(
    name: str | None, service: str, stack: str, probes: Mapping[str, Judged], wrote: tuple[str, ...]
) -> dict[str, Any]:
    """The outcome as versioned data."""
    return {
        "version": 1,
        "qualification": name,
        "service": service,
        "stack": stack,
        "passed": bool(probes) and all(each.verdict == "passed" for each in probes.values()),
        "probes": {
            probe: {"verdict": each.verdict, "because": each.because, "found": each.found}
            for probe, each in probes.items()
        },
        "wrote": list(wrote),
    }


def _told(each: Judged) -> str:
    numbers = ", ".join(f"{name} {_shown(value)}" for name, value in each.found.items())
    return "; ".join(filter(None, [each.because, numbers]))


def _shown(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
