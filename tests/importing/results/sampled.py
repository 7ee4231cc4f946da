"""Result files read the way `hio import` reads them: recognised by content, then record by record."""

from __future__ import annotations

from pathlib import Path

from hio_validate.evidence.definitions import DEFINITIONS, STATISTICS
from hio_validate.evidence.observed import Measured, Observation, as_row, faults_of, of_row
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source

SAMPLES = Path(__file__).parent / "samples"


def records(file: Path, format: str) -> list[Observation]:
    """The records of a file of that format, each of them fit to be kept: unique names, no number that cannot be."""
    source = Source(file)
    importer = importer_of(source)
    assert importer is not None and importer.format == format
    found = list(importer.read(source))
    assert len({each.name for each in found}) == len(found)
    for each in found:
        assert of_row(as_row(each)) == each
        assert len({(measured.name, measured.statistic) for measured in each.metrics}) == len(each.metrics)
        for measured in each.metrics:
            assert not list(faults_of(measured))
            assert measured.definition in DEFINITIONS and measured.statistic in STATISTICS
    return found


def generation(file: Path) -> str | None:
    source = Source(file)
    importer = importer_of(source)
    assert importer is not None
    return importer.generation(source)


def number(record: Observation, name: str, statistic: str = "mean") -> Measured:
    """The one number of that name and statistic."""
    (found,) = [each for each in record.metrics if (each.name, each.statistic) == (name, statistic)]
    return found


def has(record: Observation, name: str) -> bool:
    return any(each.name == name for each in record.metrics)


def ids(record: Observation) -> set[str]:
    return {finding.id for finding in record.findings}
