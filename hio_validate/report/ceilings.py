"""Ceilings of a machine or of an engine's kernels, and what measuring them will take: for a person and for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.quantity import counted, measured
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

_GIB = 1 << 30


def before(verb: str, facts: Mapping[str, str], warnings: Sequence[str], width: int = 80) -> str:
    """What a verb would do, and what speaks against doing it now."""
    body = table([*facts.items()], width - 2)
    rows = "".join(f"  {line}\n" for line in body.splitlines())
    warned = "".join(paragraph(f"warning: {each}", width) for each in warnings)
    return f"{verb} measures what this machine reaches; nothing else should run meanwhile\n\n{rows}\n{warned}"


def render(ceilings: Ceilings, width: int = 80) -> str:
    """The rates in the order they were measured, the devices, and what is unknown."""
    head = paragraph(f"{ceilings.name}: {ceilings.about}", width)
    load = "" if ceilings.load is None else f", load {ceilings.load:g} before"
    when = paragraph(
        f"measured {ceilings.at}{load}; a rate is the median of its repetitions, from - to their ends", width
    )
    rows = [(name, *_told(rate)) for name, rate in ceilings.rates.items()]
    body = table(rows, width - 2, head=("rate", "median", "from - to", "trust"), whole=True)
    shown = "".join(f"  {line}\n" for line in body.splitlines())
    found = "".join(
        paragraph(
            f"device: {each.count} x {each.name}"
            + ("" if each.memory is None else f", {each.memory / _GIB:.1f} GiB")
            + ("" if each.driver is None else f", driver {each.driver}")
            + f" ({each.tool})",
            width,
        )
        for each in ceilings.devices
    )
    unknown = "".join(paragraph(f"unknown: {each}", width) for each in ceilings.unknown)
    return f"{head}{when}\n{shown}\n{found}{unknown}"


def summary(ceilings: Ceilings) -> str:
    """`2026-11-30: 12 rates, 2 unknown`."""
    return f"{ceilings.name}: {counted(len(ceilings.rates), 'rate')}, {len(ceilings.unknown)} unknown"


def as_shape(
    ceilings: Ceilings | None, facts: Mapping[str, str], warnings: Sequence[str], wrote: str | None
) -> dict[str, Any]:
    """The outcome as versioned data; `ceilings` is the document, null where nothing was measured."""
    document = (
        {"hio": "ceilings/v1"} | ceilings.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        if ceilings
        else None
    )
    return {
        "version": 1,
        "measured": ceilings is not None,
        "before": dict(facts),
        "warnings": list(warnings),
        "ceilings": document,
        "wrote": wrote,
    }


def _told(rate: Rate) -> tuple[str, str, str]:
    low, high = (each if each is not None else rate.value for each in (rate.low, rate.high))
    return f"{measured(rate.value)} {rate.unit}", f"{measured(low)} - {measured(high)}", rate.confidence
