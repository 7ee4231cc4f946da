"""The ceilings of a machine on one page: each rate with its spread, how it was measured or who published it."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.costs.amounts import best_guess, with_interval
from hio_validate.models.ceilings import Ceilings, Device, Rate
from hio_validate.models.estimate import Amount
from hio_validate.quantity import counted
from hio_validate.report.columns_of_numbers import aligned
from hio_validate.report.paragraph import paragraph
from hio_validate.report.visible import columns as wide

_NAME_ROOM = 24
"""Columns of a rate's name above its numbers."""


def text(ceilings: Ceilings, width: int = 80) -> str:
    """The whole page."""
    parts = [
        paragraph(f"{ceilings.name}: {', '.join(_head(ceilings))}", width) + paragraph(ceilings.about, width),
        _rates(ceilings, width),
        _section("devices", map(_device, ceilings.devices), width),
        _section("unknown", ceilings.unknown, width),
    ]
    return "\n".join(part for part in parts if part)


def _head(ceilings: Ceilings) -> Iterator[str]:
    yield f"{counted(len(ceilings.rates), 'rate')} of one {ceilings.per}, {ceilings.how}"
    if ceilings.how == "measured":
        yield f"at {ceilings.at}" if ceilings.at else "nobody knows when"
        yield f"host {ceilings.host[:12]}" if ceilings.host else "host unknown"
        yield "load before unknown" if ceilings.load is None else f"load before {ceilings.load:g}"
    else:
        yield ceilings.date or "without a date"
        yield f"by {ceilings.source}" if ceilings.source else "each by its own source"
    if ceilings.memory:
        size = float(ceilings.memory)
        yield f"memory {best_guess(Amount(value=size, low=size, high=size, unit='B'))}"
    if ceilings.engine:
        yield f"by the kernels of {ceilings.engine}"


def _rates(ceilings: Ceilings, width: int) -> str:
    """A row a rate, and below it where it is from."""
    rows = [_row(name, rate) for name, rate in ceilings.rates.items()]
    told = ""
    shown = _lines([("rate", "value", "spread", "threads", "n", "confidence"), *rows], width)
    for line, rate in zip(shown[1:], ceilings.rates.values(), strict=True):
        told += line + "".join(paragraph(f"    {each}", width, 0) for each in _from(rate, ceilings))
    return shown[0] + told


def _lines(rows: list[tuple[str, ...]], width: int) -> list[str]:
    """Each row as one line, its name above it where that is long; where columns do not fit, a sentence a row."""
    blocks = []
    narrow = [("" if len(row[0]) > _NAME_ROOM else row[0], *row[1:]) for row in rows]
    lines = aligned(narrow, 1, _NAME_ROOM).splitlines()
    if max(map(wide, lines)) > width:
        head, *rest = rows
        told = [
            ", ".join(
                [row[0], *(f"{name} {cell}" for name, cell in zip(head[1:], row[1:], strict=True) if cell)]
            )
            for row in rest
        ]
        return ["", *(paragraph(f"  {each}", width) for each in told)]
    for row, short, line in zip(rows, narrow, lines, strict=True):
        blocks.append((f"  {row[0]}\n" if row[0] != short[0] else "") + f"{line}\n")
    return blocks


def amount_of(rate: Rate) -> Amount:
    """The rate with its ends; an end that is absent is the value itself."""
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    return Amount.model_validate({"value": rate.value, "low": low, "high": high, "unit": rate.unit})


def _row(name: str, rate: Rate) -> tuple[str, ...]:
    whole = amount_of(rate)
    shown = with_interval(whole)
    spread = shown.partition(" (")[2].rstrip(")") or "-"
    threads = str(rate.threads) if rate.threads else "-"
    return name, best_guess(whole), spread, threads, str(len(rate.samples) or "-"), rate.confidence


def _from(rate: Rate, ceilings: Ceilings) -> Iterator[str]:
    of = [rate.quantity, *([rate.dtype] if rate.dtype else []), *([rate.sparsity] if rate.sparsity else [])]
    how = rate.method if ceilings.how == "measured" else rate.source or ceilings.source
    yield f"{' '.join(of)}: {how or ('no method is named' if ceilings.how == 'measured' else 'no source is named')}"
    if rate.efficiency is not None:
        yield f"of it {100 * rate.efficiency:.4g} % are assumed to be reached"


def _device(device: Device) -> str:
    memory = "memory unknown" if device.memory is None else f"{_bytes(device.memory)} of memory"
    driver = f", driver {device.driver}" if device.driver else ""
    return f"{device.count} x {device.name}, {memory}{driver}, by {device.tool}"


def _bytes(count: int) -> str:
    return best_guess(Amount.model_validate({"value": count, "low": count, "high": count, "unit": "B"}))


def _section(title: str, sentences: Iterator[str] | list[str] | map[str], width: int) -> str:
    lines = "".join(paragraph(f"  {each}", width) for each in sentences)
    return f"{title}\n{lines}" if lines else ""
