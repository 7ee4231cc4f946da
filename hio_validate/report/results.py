"""Result files of others as text: what a file is, each record with its numbers under their definitions, what to do next.

Invariant: no number stands without its unit, its statistic and the way it was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.observed import Fact, Measured, Observation, Requests, as_row
from hio_validate.importing.results.reading import Reading
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

SHOWN = 20
"""Records of a file that are told in full."""


def render(reading: Reading, records: Sequence[Observation], width: int = 80) -> str:
    """One file that was read to its end; `records` are its first ones."""
    said = f", {reading.generation}" if reading.generation else ""
    text = paragraph(
        f"{reading.file}: {reading.importer.about} ({reading.importer.format}{said}), {_tally(reading)}",
        width,
    )
    text += "".join(f"\n{_record(record, width)}" for record in records)
    if reading.count > len(records):
        more = reading.count - len(records)
        text += f"\nand {more} more record{'' if more == 1 else 's'}: --format jsonl gives them all\n"
    return text + _counted(records, width) + _found(reading, width) + _unknown(reading, width)


def _tally(reading: Reading) -> str:
    tiers = ", ".join(f"{count} {tier}" for tier, count in sorted(reading.tiers.items()))
    return f"{reading.count} record{'' if reading.count == 1 else 's'}: {tiers}"


def _record(record: Observation, width: int) -> str:
    place = f" (line {record.line})" if record.line else ""
    text = paragraph(f"{record.name}{place}: {record.tier.value}, {record.why}", width, 4)
    for title, facts in (("subject", record.subject), ("workload", record.workload)):
        if facts:
            text += paragraph(f"  {title}: {_facts(facts)}", width, 2)
    if requests := _requests(record.requests):
        text += paragraph(f"  requests: {requests}", width, 2)
    for definition, metrics in groupby(_by_definition(record.metrics), key=lambda each: each.definition):
        text += f"  {definition}{_direction(definition)}\n"
        text += _indented(table([_cells(each) for each in metrics], width - 4, whole=True))
    for finding in record.findings:
        text += paragraph(f"  finding: {finding.message} [{finding.id}]", width, 2)
    if record.unknown:
        text += paragraph(f"  not told: {'; '.join(record.unknown)}", width, 2)
    if record.foreign:
        text += paragraph(f"  {len(record.foreign)} more keys, which hio does not know", width, 2)
    return text


def _by_definition(metrics: Iterable[Measured]) -> list[Measured]:
    order: dict[str, list[Measured]] = {}
    for each in metrics:
        order.setdefault(each.definition, []).append(each)
    return [each for group in order.values() for each in group]


def _direction(definition: str) -> str:
    better = DEFINITIONS[definition].better
    return f", {better} is better" if better else ""


def _cells(measured: Measured) -> list[str]:
    unit = "" if measured.unit == "1" else f" {measured.unit}"
    count = "unknown" if measured.n is None else str(measured.n)
    derived = ", computed by hio" if measured.derived else ""
    return [measured.name, f"{_number(measured.value)}{unit}", f"{measured.statistic}, n {count}{derived}"]


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _facts(facts: dict[str, Fact]) -> str:
    return ", ".join(
        f"{key} {_number(value) if isinstance(value, float) else value}" for key, value in facts.items()
    )


def _requests(requests: Requests) -> str:
    told = {"asked": requests.asked, "ok": requests.completed, "failed": requests.failed,
            "cancelled": requests.cancelled}  # fmt: skip
    return ", ".join(f"{count} {word}" for word, count in told.items() if count is not None)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _counted(records: Iterable[Observation], width: int) -> str:
    used = dict.fromkeys(each.definition for record in records for each in record.metrics)
    rows = [[name, DEFINITIONS[name].about] for name in used]
    return f"\nHow it was counted:\n{_indented(table(rows, width - 4))}" if rows else ""


def _found(reading: Reading, width: int) -> str:
    text = ""
    for first, count in reading.findings.values():
        place = f" (line {first.line})" if first.line else ""
        times = f", and {count - 1} more like it" if count > 1 else ""
        text += paragraph(f"  {first.id}{place}: {first.message}{times}", width, 2)
    return f"\nFound:\n{text}" if text else ""


def _unknown(reading: Reading, width: int) -> str:
    if not reading.importer.unknown:
        return ""
    return "\n" + paragraph(f"This source cannot tell: {'; '.join(reading.importer.unknown)}.", width)


def as_shape(reading: Reading, records: Sequence[Observation]) -> dict[str, Any]:
    """The same as versioned data, part of an answer."""
    return {
        "file": reading.file,
        "format": reading.importer.format,
        "generation": reading.generation,
        "records": [_row(record) for record in records],
        "count": reading.count,
        "tiers": dict(sorted(reading.tiers.items())),
        "findings": [
            {"id": first.id, "line": first.line or None, "count": count, "message": first.message}
            for first, count in reading.findings.values()
        ],
        "unknown": list(reading.importer.unknown),
    }


def as_line(reading: Reading, record: Observation) -> dict[str, Any]:
    """A record as versioned data that stands alone, one line of a stream."""
    return {"version": 1, "file": reading.file, "format": reading.importer.format} | _row(record)


def line(shape: dict[str, Any]) -> str:
    """Data as one line of JSON that any terminal can print."""
    import json  # only where JSON was asked for

    return json.dumps(shape) + "\n"


def _row(record: Observation) -> dict[str, Any]:
    """The row of `records.jsonl`, and the tier that it deserves."""
    return as_row(record) | {"tier": record.tier.value}
