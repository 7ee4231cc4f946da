"""A text as a result file, read by the importer that recognises it."""

from __future__ import annotations

from pathlib import Path

from hio_validate.evidence.observed import Observation, faults_of
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source

SAMPLES = Path(__file__).parent / "samples"


def source_of(folder: Path, text: str | bytes, skip_log_lines: bool = False) -> Source:
    file = folder / "given"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Source(file, skip_log_lines=skip_log_lines)


def read(source: Source, format: str) -> list[Observation]:
    """All records; the file must be recognised as this format, names be unique and numbers possible."""
    importer = importer_of(source)
    assert importer is not None and importer.format == format
    records = list(importer.read(source))
    assert len({record.name for record in records}) == len(records)
    assert not [fault for record in records for each in record.metrics for fault in faults_of(each)]
    for record in records:
        named = [(each.name, each.statistic) for each in record.metrics]
        assert len(set(named)) == len(named)
    return records


def findings(records: list[Observation]) -> list[tuple[str, int]]:
    """(id, line) of every finding."""
    return [(finding.id, finding.line) for record in records for finding in record.findings]
