"""Files of foreign tools for tests: small samples of our own shape, changed in one place at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hio_validate.evidence.observed import Measured, Observation, as_row, faults_of, of_row
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source

SAMPLES = Path(__file__).parent / "samples"


def records_of(file: Path, expected: str) -> list[Observation]:
    """The records of a file that has to be of that format; none of their numbers has a fault, and each survives as a row."""
    source = Source(file)
    importer = importer_of(source)
    assert importer is not None and importer.format == expected, file
    importer.generation(source)
    records = list(importer.read(source))
    names = [record.name for record in records]
    assert len(set(names)) == len(names)
    for record in records:
        assert not [fault for measured in record.metrics for fault in faults_of(measured)]
        keys = [(measured.name, measured.statistic) for measured in record.metrics]
        assert len(set(keys)) == len(keys)
        row = json.loads(json.dumps(as_row(record), allow_nan=False))
        assert of_row(row) == record
    return records


def metric(record: Observation, name: str) -> Measured:
    """The one number of that name."""
    (found,) = [measured for measured in record.metrics if measured.name == name]
    return found


def names(record: Observation) -> set[str]:
    return {measured.name for measured in record.metrics}


def findings(record: Observation) -> list[str]:
    """What was found, except that samples are small: they have few requests, which is told of each of them."""
    return [finding.id for finding in record.findings if finding.id != "few-samples"]


def changed(sample: str, to: Path, change: Callable[[Any], Any] | dict[str, Any]) -> Path:
    """A JSON sample with some keys replaced, or passed through a function, written to a folder."""
    value = json.loads((SAMPLES / sample).read_text(encoding="utf-8"))
    value = {**value, **change} if isinstance(change, dict) else change(value)
    file = to / "changed.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return file
