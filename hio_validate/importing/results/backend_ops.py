"""Importer of test-backend-ops of llama.cpp: a record for each operator of each backend, with what became of its cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation, Requests
from hio_validate.importing.results.backend_ops_cases import (
    FAILED,
    IS_CSV,
    IS_SQL,
    IS_TEXT,
    NOT_SUPPORTED,
    OK,
    SKIPPED,
    SUPPORTED,
    TIMED,
    UNFINISHED,
    Case,
    Total,
    cases,
)
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.source import Source

REFERENCE = "CPU"
"""What test-backend-ops compares with (`main`: the backend of type CPU, with generic kernels where it has them)."""


@dataclass
class _Tally:
    """What became of the cases of one operator on one backend."""

    line: int
    device: str | None
    counts: Counter[str] = field(default_factory=Counter)
    worst: float | None = None
    tolerances: set[float] = field(default_factory=set)
    times: list[float] = field(default_factory=list)
    first_failed: Case | None = None
    broken: int = 0

    def add(self, case: Case) -> None:
        self.counts[case.status] += 1
        self.device = self.device or case.device
        self.broken += case.broken
        if case.error is not None:
            self.worst = max(case.error, self.worst or 0.0)
        if case.tolerance is not None:
            self.tolerances.add(case.tolerance)
        if case.us is not None:
            self.times.append(case.us)
        if case.status == FAILED and self.first_failed is None:
            self.first_failed = case


def _recognises(source: Source) -> bool:
    if IS_SQL.search(source.head) or IS_CSV.search(source.head):
        return True
    return bool(IS_TEXT.search(source.head)) and ("tests passed" in source.head or "): " in source.head)


def _generation(source: Source) -> str | None:
    if IS_SQL.search(source.head):
        found = re.search(r"VALUES \('[^']*', '([0-9a-f]{6,40})'", source.head)
        return f"SQL of {found[1]}" if found else "SQL"
    return "CSV" if IS_CSV.search(source.head) else "text"


def _read(source: Source) -> Iterator[Observation]:
    tallies: dict[tuple[str, str], _Tally] = {}
    totals: list[Total] = []
    for each in cases(source):
        if isinstance(each, Total):
            totals.append(each)
        else:
            key = each.backend, each.operator
            tallies.setdefault(key, _Tally(each.line, each.device)).add(each)
    if not tallies:
        raise source.refuse("it has no case: nothing was tested", "run test-backend-ops again", code=3)
    contradicted = {each.backend: said for each in totals if (said := _contradiction(each, tallies))}
    for (backend, operator), tally in tallies.items():
        record = _record(backend, operator, tally)
        if backend in contradicted:
            line, message = contradicted.pop(backend)
            record.findings.append(Finding("counts-contradict", message, line))
        yield record


def counted(cases: int) -> str:
    """A number of cases in words."""
    return "1 case" if cases == 1 else f"{cases} cases"


def _contradiction(total: Total, tallies: dict[tuple[str, str], _Tally]) -> tuple[int, str] | None:
    """Where the tool's own total is not that of its lines: some were lost, or belong to another run."""
    mine = [tally.counts for (backend, _), tally in tallies.items() if backend == total.backend]
    passed, failed = (sum(each[status] for each in mine) for status in (OK, FAILED))
    if (passed, passed + failed) == (total.passed, total.total):
        return None
    said = f"{total.passed} of {total.total} tests passed, says the tool; its lines say {passed} of {passed + failed}"
    return total.line, said


def _record(backend: str, operator: str, tally: _Tally) -> Observation:
    counts = tally.counts
    workload: dict[str, Fact] = {"operator": operator, "cases": sum(counts.values())}
    if len(tally.tolerances) == 1:
        workload["tolerance"] = next(iter(tally.tolerances))
    record = Observation(
        name=f"{backend} {operator}",
        line=tally.line,
        subject={key: value for key, value in (("backend", backend), ("device", tally.device), ("reference", REFERENCE)) if value},
        workload=workload,
        requests=Requests(),
        metrics=list(_metrics(tally)),
        unknown=() if tally.tolerances else ("the tolerance: it is told only with an error beyond it",),
    )  # fmt: skip
    record.findings += _findings(operator, tally)
    return record


def _metrics(tally: _Tally) -> Iterator[Measured]:
    counts = tally.counts
    if counts[OK] or counts[FAILED]:
        yield Measured("ok", "operator-cases-ok", "total", counts[OK], "1", derived=True)
        yield Measured("failed", "operator-cases-failed", "total", counts[FAILED], "1", derived=True)
    if counts[NOT_SUPPORTED]:
        said = counts[NOT_SUPPORTED]
        yield Measured("not_supported", "operator-cases-not-supported", "total", said, "1", derived=True)
    if tally.worst is not None:
        yield Measured("error", "operator-nmse", "max", tally.worst, "1")
    if tally.times:
        yield Measured("us_per_run", "operator-time", "min", min(tally.times), "us", len(tally.times))
        yield Measured("us_per_run", "operator-time", "max", max(tally.times), "us", len(tally.times))


def _findings(operator: str, tally: _Tally) -> Iterator[Finding]:
    if tally.first_failed is not None:
        case = tally.first_failed
        why = (
            f": error {case.error:g}, tolerance {case.tolerance:g}"
            if case.error is not None and case.tolerance
            else ""
        )
        said = f"{counted(tally.counts[FAILED])} of {operator} failed, the first is {operator}({case.params}){why}"
        yield Finding("operator-failed", said, case.line)
    if tally.counts[UNFINISHED]:
        said = f"the program ended within a case of {operator}: what would have come is unknown"
        yield Finding("unfinished-case", said, tally.line)
    if tally.broken:
        yield Finding("not-finite", f"{counted(tally.broken)} of {operator} gave NaN or infinity", tally.line)
    if len(tally.tolerances) > 1:
        told = ", ".join(f"{each:g}" for each in sorted(tally.tolerances))
        yield Finding(
            "several-tolerances", f"cases of {operator} have several tolerances: {told}", tally.line
        )
    if not (tally.counts[OK] or tally.counts[FAILED] or tally.counts[TIMED]):
        what = "only asked whether they are supported" if tally.counts[SUPPORTED] else "none was computed"
        if tally.counts[SKIPPED] or tally.counts[SUPPORTED] or tally.counts[NOT_SUPPORTED]:
            yield Finding("nothing-computed", f"cases of {operator}: {what}", tally.line)


TEST_BACKEND_OPS = Importer(
    format="test-backend-ops",
    about="test-backend-ops of llama.cpp: text, CSV or SQL",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "the error of a case that passed: it is never told",
        "the tolerance of an operator without a failed case",
        "the precision of accumulation, unless a case names it (prec=)",
        "the seed of the random tensors",
        "whether a served model uses these shapes",
        "which bytes the program has; only SQL names its commit",
    ),
)
"""The importer."""
