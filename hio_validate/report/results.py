"""Result files of others as text: what a file is, each record with its numbers under their definitions, what to do next.

Invariant: no number stands without its unit, its statistic and the way it was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.observed import Observation, as_row
from hio_validate.importing.results.reading import Reading
from hio_validate.report.metric_rows import DIRECTION, count, direction, in_order, quantities
from hio_validate.report.paragraph import paragraph
from hio_validate.report.record_table import record_table
from hio_validate.report.shared_facts import Shared, deserves
from hio_validate.report.sweep_table import sweep_table
from hio_validate.report.visible import visible

SHOWN = 20
"""Records of a file that are told in full."""
_IDENTITY = frozenset({"llama-server-facts", "mlperf-system"})
"""Formats that say what runs and hold no number of its speed."""


def render(
    reading: Reading, records: Sequence[Observation], width: int = 80, kept_for: str | None = None
) -> str:
    """One file that was read to its end; `records` are its first ones, `kept_for` the service it was written for."""
    said = f", {reading.generation}" if reading.generation else ""
    text = f"{visible(reading.file)}\n"
    text += paragraph(f"  {reading.importer.about} ({reading.importer.format}{said})", width)
    shared = Shared(records)
    text += paragraph(f"  {_tally(reading, shared.reason)}", width)
    if not shared.reason:
        text += _reasons(records, width)
    text += shared.told(width)
    left_out: dict[str, None] = {}
    tables = _numbers(records, shared, width, left_out)
    text += f"\n{tables}" if tables else ""
    notes = _notes(reading, records, left_out)
    text += "".join(paragraph(f"  {note}", width) for note in notes)
    return (
        text
        + _counted(records, width)
        + _found(reading, width)
        + _unknown(reading, width)
        + _next(reading, width, kept_for)
    )


def _tally(reading: Reading, reason: str) -> str:
    count = f"{reading.count} record{'' if reading.count == 1 else 's'}"
    if reason and len(reading.tiers) == 1:
        return f"{count}, {reason}"
    return f"{count}: " + ", ".join(f"{many} {tier}" for tier, many in sorted(reading.tiers.items()))


def _reasons(records: Sequence[Observation], width: int) -> str:
    """Each reason with the records that it is about, the commonest one without: it is that of all others."""
    names: dict[str, list[str]] = {}
    for record in records:
        names.setdefault(deserves(record), []).append(record.name)
    common = max(names, key=lambda reason: len(names[reason]))
    text = paragraph(f"  {common}", width)
    return text + "".join(
        paragraph(f"  {reason}: {', '.join(of)}", width) for reason, of in names.items() if reason != common
    )


def _numbers(records: Sequence[Observation], shared: Shared, width: int, left_out: dict[str, None]) -> str:
    """The records one by one, or all as one table, whichever is shorter."""
    alone: dict[str, None] = {}
    text = "\n".join(told for record in records if (told := _record(record, shared, width, alone)))
    together: dict[str, None] = {}
    sweep = None
    if len(records) > 1 and any(record.metrics for record in records):
        own = [shared.own(record) for record in records]
        sweep = sweep_table(records, own, width, together)
    if sweep is not None and sweep.count("\n") < text.count("\n"):
        left_out.update(together)
        return sweep
    left_out.update(alone)
    return text


def _record(record: Observation, shared: Shared, width: int, left_out: dict[str, None]) -> str:
    place = f" (line {record.line})" if record.line else ""
    title = paragraph(f"{record.name}{place}", width, 4)
    text = ""
    for what, facts in shared.only_of(record):
        text += paragraph(f"  {what}: {facts}", width)
    text += record_table(quantities(record.metrics), width, left_out)
    return title + text if text or shared.many else ""


def _notes(reading: Reading, records: Sequence[Observation], left_out: dict[str, None]) -> list[str]:
    metrics = [each for record in records for each in record.metrics]
    notes = []
    if reading.count > len(records):
        more = reading.count - len(records)
        notes.append(f"and {more} more record{'' if more == 1 else 's'}: --format jsonl gives them all")
    if left_out:
        words = in_order(left_out)
        shown = ", ".join(words[:6]) + (" ..." if len(words) > 6 else "")
        notes.append(f"{len(words)} more statistic{'s' * (len(words) > 1)} with --format json: {shown}")
    if any(each.derived for each in metrics):
        notes.append("* computed by hio from other numbers of the file")
    if any(count(row) == "?" for record in records for row in quantities(record.metrics)):
        notes.append("n ?: the file does not say of how many observations")
    if foreign := {key for record in records for key in record.foreign}:
        many = f"{len(foreign)} key{'' if len(foreign) == 1 else 's'}"
        notes.append(f"{many} that hio does not know, with --format json")
    return notes


def _counted(records: Iterable[Observation], width: int) -> str:
    """Each definition once, with the rows that have it."""
    names: dict[str, dict[str, None]] = {}
    for record in records:
        for row in quantities(record.metrics):
            names.setdefault(row.definition, {})[row.name] = None
    text = ""
    for better, head in DIRECTION.items():
        of = [each for each in names if direction(each) == better]
        text += f"  {head}\n" if of else ""
        for definition in of:
            rows = ", ".join(names[definition])
            called = definition if rows == definition else f"{rows} = {definition}"
            text += paragraph(f"    {called}: {DEFINITIONS[definition].about}", width)
    return f"\nHow it was counted:\n{text}" if text else ""


def _found(reading: Reading, width: int) -> str:
    text = ""
    for first, times in reading.findings.values():
        place = f" (line {first.line})" if first.line else ""
        more = f", and {times - 1} more like it" if times > 1 else ""
        text += paragraph(f"  {first.id}{place}: {first.message}{more}", width)
    return f"\nFound:\n{text}" if text else ""


def _unknown(reading: Reading, width: int) -> str:
    if not reading.importer.unknown:
        return ""
    return "\n" + paragraph(f"This source cannot tell: {'; '.join(reading.importer.unknown)}.", width)


_RECEIPTS = {"lm-eval": "; hio quality gate holds one against another", "test-backend-ops": ""}
"""Formats that say whether answers or operators are right, of which receipts are made -> what is done with these."""


def _next(reading: Reading, width: int, kept_for: str | None) -> str:
    """What whoever reads this can do with it."""
    keep = "" if kept_for else " To keep it: the same call with --service SITE/NAME --write."
    if reading.importer.format in _IDENTITY:
        said = f"Next: it says what ran, and nothing of its speed: it belongs beside the results that were measured there.{keep}"
    elif not reading.measured:
        said = "Next: measure again, since nothing here can be compared."
    elif reading.importer.format in _RECEIPTS:
        said = f"Next: hio quality record {reading.file} --service {kept_for or 'SITE/NAME'} --write makes receipts of it{_RECEIPTS[reading.importer.format]}."
    else:
        said = f"Next: hio compare holds it against another.{keep} What shall decide something is measured by hio: hio plan new."
    return "\n" + paragraph(said, width)


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
            {"id": first.id, "line": first.line or None, "count": times, "message": first.message}
            for first, times in reading.findings.values()
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
