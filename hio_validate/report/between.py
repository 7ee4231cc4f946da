"""What a server did between two snapshots that stand in two files, as a page and as data."""

from __future__ import annotations

from typing import Any

from hio_validate.evidence.definitions import DEFINITIONS
from hio_validate.evidence.observed import as_row
from hio_validate.importing.results.snapshot_pairs import Between
from hio_validate.report.metric_rows import quantities
from hio_validate.report.paragraph import paragraph
from hio_validate.report.record_table import record_table
from hio_validate.report.shared_facts import deserves, told_facts
from hio_validate.report.visible import visible


def render(between: Between, width: int = 80) -> str:
    """The difference of two files as text."""
    record = between.record
    one, other = between.files
    text = f"from {visible(one)}\n  to {visible(other)}\n"
    text += paragraph(f"  what the server did between them, {deserves(record)}", width)
    if record.workload:
        text += paragraph(f"  counted: {told_facts(record.workload)}", width)
    rows = quantities(record.metrics)
    text += record_table(rows, width, {})
    for row in rows:
        text += paragraph(f"  {row.name} = {row.definition}: {DEFINITIONS[row.definition].about}", width)
    for finding in record.findings:
        text += paragraph(f"  {finding.id}: {finding.message}", width)
    text += paragraph(f"  not told: {'; '.join(record.unknown)}", width) if record.unknown else ""
    return text + paragraph("  To keep it: put both into one file, in this order, and import that.", width)


def as_shape(between: Between) -> dict[str, Any]:
    """The same as data, part of an answer."""
    row = as_row(between.record) | {"tier": between.record.tier.value}
    return {"files": list(between.files), "record": row}
