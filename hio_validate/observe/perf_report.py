"""What `perf report --stdio` printed, or folded stacks of `perf script`: symbol -> how often it was running.

Read: tools/perf/ui/stdio/hist.c of Linux (columns are as wide as the dotted line below the head says; lines of call
graphs leave the first one blank), and the folded form `frame;frame;frame COUNT` of FlameGraph's stackcollapse-perf.pl.
Invariant: a sample counts where it was taken (Self, or the last frame), never in its callers too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hio_validate.observe.refusal import Unobservable

_FOLDED = re.compile(r"(?P<frames>\S.*) (?P<count>[0-9]+)$")
_EVENT = re.compile(r"# Samples: (?P<samples>\S+) +of events? '(?P<event>[^']+)'")
_COUNT = re.compile(r"# Event count \(approx\.\): (?P<count>[0-9]+)")
_HEADER = re.compile(r"# (?P<key>perf version|cmdline|captured on) *: (?P<value>.+)$")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LEAST_TOLD = 50.0
"""Percent of the samples that a report has to tell; less is a cut one."""
_MOST_DIGITS = 18
"""Digits of a count: nanoseconds of a whole year on a thousand processors have no more."""
_LARGE, _TIMES = 5.0, 5.0
"""A row of that many percent has its part of the samples, but for that factor: an event's period varies."""


@dataclass(frozen=True)
class Sampled:
    """Where the samples fell. Their counts are samples, or what the event counts, e.g. nanoseconds of cpu-clock."""

    counts: Mapping[str, int]
    rest: int
    """What the report does not tell, below its own limit."""
    event: str | None
    version: str | None
    command: str | None


def read_report(text: str) -> Sampled:
    """Either form. Raises Unobservable with one sentence, which says the line."""
    lines = text.split("\n")
    if any(line.startswith(("# Overhead", "# Children", "# Samples:")) for line in lines):
        return _report(lines)
    return _folded(lines)


def _folded(lines: Sequence[str]) -> Sampled:
    counts: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _FOLDED.match(line.rstrip())
        if found is None:
            raise Unobservable(
                f"line {number} is neither of a perf report nor a folded stack: expected `frame;frame COUNT`, "
                f"got {line.strip()[:60]!r}; perf report --stdio -n prints what can be read"
            )
        if len(found["count"]) > _MOST_DIGITS:
            raise Unobservable(
                f"line {number} counts {found['count'][:20]}…: expected at most {_MOST_DIGITS} digits"
            )
        symbol = found["frames"].split(";")[-1].strip()
        counts[symbol] = counts.get(symbol, 0) + int(found["count"])
    if not sum(counts.values()):
        raise Unobservable("it has no samples: expected what perf report --stdio -n printed")
    return Sampled(counts, 0, None, None, None)


def _report(lines: Sequence[str]) -> Sampled:
    events = [found["event"] for line in lines if (found := _EVENT.match(line))]
    if len(events) > 1 or any(", " in event for event in events):
        raise Unobservable(
            f"it is of several events ({', '.join(events)}): expected one; perf record -e names which"
        )
    head = {found["key"]: found["value"].strip() for line in lines if (found := _HEADER.match(line))}
    total = next((int(found["count"]) for line in lines if (found := _COUNT.match(line))), None)
    columns, begin = _columns(lines)
    shares, counted = _rows(lines, columns, begin)
    told = sum(shares.values())
    if told > 100.5:
        raise Unobservable(f"its rows are {told:.2f} % together: expected at most 100 of one event")
    if told < _LEAST_TOLD:
        raise Unobservable(
            f"its rows tell {told:.2f} % of the samples: expected at least {_LEAST_TOLD:.0f}; it was cut, or filtered"
        )
    if counted is not None:
        _agree(shares, counted)
    if counted is None and total is None:
        raise Unobservable(
            "it says neither samples nor an event count: expected the column Samples (perf report --stdio -n)"
        )
    if counted is None:
        counted = {symbol: round(share / 100 * (total or 0)) for symbol, share in shares.items()}
    whole = sum(counted.values())
    rest = max(0, round(whole * (100 - told) / told)) if told < 99.995 else 0
    return Sampled(
        counted, rest, events[0] if events else None, head.get("perf version"), head.get("cmdline")
    )


def _agree(shares: Mapping[str, float], counted: Mapping[str, int]) -> None:
    """Percent and samples of one row tell the same. Raises Unobservable where they do not."""
    told, whole = sum(shares.values()), sum(counted.values())
    for symbol, share in shares.items():
        expected = whole * share / told
        if share >= _LARGE and not expected / _TIMES <= counted.get(symbol, 0) <= expected * _TIMES:
            raise Unobservable(
                f"its row {symbol[:60]} has {share:.2f} % and {counted.get(symbol, 0)} of {whole} samples: expected about "
                f"{expected:.0f}; the report was edited, or is of several runs"
            )


def _columns(lines: Sequence[str]) -> tuple[dict[str, tuple[int, int | None]], int]:
    """Column -> (where it begins, where it ends), and the line of the first row."""
    for at, line in enumerate(lines[:-1]):
        dots = lines[at + 1]
        if line.startswith("# ") and re.fullmatch(r"# [. ]+", dots) and "Symbol" in line:
            spans = [match.span() for match in re.finditer(r"\.+", dots)]
            spans[0] = (0, spans[0][1])
            named = {line[begin:end].strip("# "): (begin, end) for begin, end in spans}
            begin, _ = named.get("Symbol", (0, 0))
            if begin and ("Self" in named or "Overhead" in named):
                return {**named, "Symbol": (begin, None)}, at + 2
    raise Unobservable(
        "it has no columns Overhead and Symbol: expected what perf report --stdio -n --sort symbol prints"
    )


def _rows(
    lines: Sequence[str], columns: Mapping[str, tuple[int, int | None]], begin: int
) -> tuple[dict[str, float], dict[str, int] | None]:
    """(percent of each symbol, its samples where the report has that column)."""
    shares: dict[str, float] = {}
    counts: dict[str, int] = {}
    first = "Self" if "Self" in columns else "Overhead"
    for number, line in enumerate(lines[begin:], begin + 1):
        if line.startswith("#") or not re.match(r" *[0-9]+\.[0-9]+%", line):
            continue
        cell = {name: line[slice(*span)].strip() for name, span in columns.items()}
        symbol = _symbol(cell)
        try:
            share = float(cell[first].rstrip("%"))
            count = int(cell["Samples"]) if "Samples" in cell else None
        except ValueError:
            raise Unobservable(
                f"line {number} does not stand in its columns: {line.strip()[:60]!r}"
            ) from None
        shares[symbol] = shares.get(symbol, 0.0) + share
        if count is not None:
            counts[symbol] = counts.get(symbol, 0) + count
    if "Children" in columns:
        counts = {}  # perf counts the samples of callers there, too
    return shares, counts or None


def _symbol(cell: Mapping[str, str]) -> str:
    """The name of a symbol; what a stripped library leaves as addresses is one part of that library."""
    symbol = re.sub(r"^\[[^]]\] +", "", cell["Symbol"])
    library = cell.get("Shared Object")
    return f"{library} (no symbols)" if library and _ADDRESS.fullmatch(symbol) else symbol
