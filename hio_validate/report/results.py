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


def render(reading: Reading, records: Sequence[Observation], width: int = 80, kept: bool = False) -> str:
    """One file that was read to its end; `records` are its first ones, `kept` whether it was written."""
    said = f", {reading.generation}" if reading.generation else ""
    text = paragraph(
        f"{reading.file}: {reading.importer.about} ({reading.importer.format}{said})",
        width,
    )
    shared = _Shared(records)
    text += paragraph(f"  {_tally(reading, shared.reason)}", width, 2)
    text += shared.told(width)
    text += "".join(f"\n{_record(record, shared, width)}" for record in records)
    if reading.count > len(records):
        more = reading.count - len(records)
        text += f"\nand {more} more record{'' if more == 1 else 's'}: --format jsonl gives them all\n"
    return (
        text
        + _counted(records, width)
        + _found(reading, width)
        + _unknown(reading, width)
        + _next(reading, width, kept)
    )


def _tally(reading: Reading, reason: str) -> str:
    count = f"{reading.count} record{'' if reading.count == 1 else 's'}"
    if reason and len(reading.tiers) == 1:
        return f"{count}, {reason}"
    return f"{count}: " + ", ".join(f"{many} {tier}" for tier, many in sorted(reading.tiers.items()))


class _Shared:
    """What all shown records say alike, told once."""

    def __init__(self, records: Sequence[Observation]) -> None:
        self._many = len(records) > 1
        self.subject = _alike([record.subject for record in records])
        self.workload = _alike([record.workload for record in records])
        self.unknown = [each for each in records[0].unknown if all(each in one.unknown for one in records)]
        reasons = dict.fromkeys(_deserves(record) for record in records)
        self.reason = next(iter(reasons)) if len(reasons) == 1 else ""

    def told(self, width: int) -> str:
        text = ""
        whose = " of each" if self._many else ""
        for title, facts in (("subject", self.subject), ("workload", self.workload)):
            text += paragraph(f"  {title}{whose}: {_facts(facts)}", width, 2) if facts else ""
        if self.unknown:
            text += paragraph(f"  not told: {'; '.join(self.unknown)}", width, 2)
        return text


def _alike(facts: Sequence[dict[str, Fact]]) -> dict[str, Fact]:
    """The facts that are the same in all."""
    return {
        key: value
        for key, value in facts[0].items()
        if all(key in each and type(each[key]) is type(value) and each[key] == value for each in facts)
    }


def _deserves(record: Observation) -> str:
    return f"{record.tier.value}: {record.why}"


def _record(record: Observation, shared: _Shared, width: int) -> str:
    place = f" (line {record.line})" if record.line else ""
    reason = "" if shared.reason else f", {_deserves(record)}"
    text = paragraph(f"{record.name}{place}{reason}", width, 4)
    for title, facts, known in (
        ("subject", record.subject, shared.subject),
        ("workload", record.workload, shared.workload),
    ):
        own = {key: value for key, value in facts.items() if key not in known}
        text += paragraph(f"  {title}: {_facts(own)}", width, 2) if own else ""
    if requests := _requests(record.requests):
        text += paragraph(f"  requests: {requests}", width, 2)
    for definition, metrics in groupby(_by_definition(record.metrics), key=lambda each: each.definition):
        text += f"  {definition}{_direction(definition)}\n"
        text += _indented(table([_cells(each) for each in metrics], width - 4, whole=True))
    for finding in record.findings:
        text += paragraph(f"  finding: {finding.message} [{finding.id}]", width, 2)
    if own_gaps := [each for each in record.unknown if each not in shared.unknown]:
        text += paragraph(f"  not told: {'; '.join(own_gaps)}", width, 2)
    if record.foreign:
        count = len(record.foreign)
        text += f"  {count} key{'' if count == 1 else 's'} that hio does not know\n"
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
    count = "" if measured.n is None and measured.statistic == "value" else f", n {_known(measured.n)}"
    derived = ", computed by hio" if measured.derived else ""
    return [measured.name, f"{_number(measured.value)}{unit}", f"{measured.statistic}{count}{derived}"]


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)


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


_RECEIPTS = {"lm-eval": "; hio quality gate holds one against another", "test-backend-ops": ""}
"""Formats that say whether answers or operators are right, of which receipts are made -> what is done with these."""


def _next(reading: Reading, width: int, kept: bool) -> str:
    """What whoever reads this can do with it."""
    if not reading.measured:
        return "\n" + paragraph("Next: measure again, since nothing here can be compared.", width)
    if reading.importer.format in _RECEIPTS:
        said = f"Next: hio quality record {reading.file} --service SITE/NAME --write makes receipts of it{_RECEIPTS[reading.importer.format]}."
        return "\n" + paragraph(said, width)
    keep = "" if kept else " To keep it: the same call with --service SITE/NAME --write."
    return "\n" + paragraph(
        f"Next: hio compare holds it against another.{keep} What shall decide something is measured by hio: hio plan new.",
        width,
    )


def as_shape(reading: Reading, records: Sequence[Observation], wrote: str | None = None) -> dict[str, Any]:
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
        "wrote": wrote,
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
