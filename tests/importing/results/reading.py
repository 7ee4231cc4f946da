"""Result files read the way `hio import` reads them: recognised by content, then record by record, each fit to be kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hio_validate.evidence.definitions import DEFINITIONS, STATISTICS
from hio_validate.evidence.observed import Measured, Observation, as_row, faults_of, of_row
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source

SAMPLES = Path(__file__).parent / "samples"


def source_of(folder: Path, text: str | bytes, skip_log_lines: bool = False) -> Source:
    file = folder / "given"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Source(file, skip_log_lines=skip_log_lines)


def records_of(file: Path, format: str) -> list[Observation]:
    return read(Source(file), format)


def read(source: Source, format: str) -> list[Observation]:
    """All records; the file must be recognised as this format, names be unique, numbers possible, and each survive as a row."""
    importer = importer_of(source)
    assert importer is not None and importer.format == format, source.path
    importer.generation(source)
    records = list(importer.read(source))
    assert len({record.name for record in records}) == len(records)
    for record in records:
        assert len({(each.name, each.statistic) for each in record.metrics}) == len(record.metrics)
        for each in record.metrics:
            assert not list(faults_of(each))
            assert each.definition in DEFINITIONS and each.statistic in STATISTICS
        assert of_row(json.loads(json.dumps(as_row(record), allow_nan=False))) == record
    return records


def generation(file: Path) -> str | None:
    source = Source(file)
    importer = importer_of(source)
    assert importer is not None
    return importer.generation(source)


def metric(record: Observation, name: str) -> Measured:
    """The one number of that name."""
    (found,) = [each for each in record.metrics if each.name == name]
    return found


def number(record: Observation, name: str, statistic: str = "mean") -> Measured:
    """The one number of that name and statistic."""
    (found,) = [each for each in record.metrics if (each.name, each.statistic) == (name, statistic)]
    return found


def names(record: Observation) -> set[str]:
    return {each.name for each in record.metrics}


def ids(record: Observation) -> list[str]:
    """What was found, except that samples are small: they have few requests, which is told of each of them."""
    return [finding.id for finding in record.findings if finding.id != "few-samples"]


def findings(records: list[Observation]) -> list[tuple[str, int]]:
    """(id, line) of every finding."""
    return [(finding.id, finding.line) for record in records for finding in record.findings]


def changed(sample: str, to: Path, change: Callable[[Any], Any] | dict[str, Any]) -> Path:
    """A JSON sample with some keys replaced, or passed through a function, written to a folder."""
    value = json.loads((SAMPLES / sample).read_text(encoding="utf-8"))
    value = {**value, **change} if isinstance(change, dict) else change(value)
    file = to / "changed.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return file
