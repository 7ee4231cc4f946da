"""A result file that is being read: its format, and its records one after the other.

Invariants: whatever an importer gives, no number that cannot be so leaves this place as a measurement, no two records of
a file have one name, and only what was found, never all that was read, is held.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from hio_validate.evidence.observed import Finding, Measured, Observation, cannot_be, faults_of
from hio_validate.importing.cannot import Misunderstood
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.private import withheld
from hio_validate.importing.results.recognise import importer_of
from hio_validate.importing.results.source import Source


class Reading:
    """One file on its way; what it counts is complete once `records` has ended."""

    def __init__(self, source: Source, importer: Importer) -> None:
        self.source, self.importer = source, importer
        self.generation = importer.generation(source)
        self.count = 0
        """Records so far."""
        self.measured = 0
        """Those of them that have a metric."""
        self.tiers: Counter[str] = Counter()
        self.findings: dict[str, tuple[Finding, int]] = {}
        """Id of a finding -> the first one, and how many there are."""
        self.secrets: set[str] = set()
        """Credentials that were found in the file's bytes: no record repeats one."""
        self._names = Names()

    @property
    def file(self) -> str:
        """The file, as it was named."""
        return self.source.file

    @property
    def code(self) -> int:
        """The exit code of a file that was read to its end: 1 where it contradicts itself, 3 where nothing was measured."""
        return 1 if any(map(cannot_be, self.findings)) else 0 if self.measured else 3

    def records(self) -> Iterator[Observation]:
        """Its records, each sound. Raises CannotImport where the file is not what it claims to be."""
        for record in self._read():
            record.findings += list(withheld(record, self.secrets))
            record.name = self._only(record)
            record.metrics[:] = self._sound(record)
            _readable(record)
            self.count += 1
            self.measured += bool(record.metrics)
            self.tiers[record.tier.value] += 1
            for finding in record.findings:
                self.find(finding)
            yield record
        if not self.count:
            raise self.source.refuse(
                "no record stands in it", "import the results of a run that ended", code=3
            )

    def find(self, finding: Finding) -> None:
        """Count a finding, of a record or of the file."""
        first, count = self.findings.get(finding.id, (finding, 0))
        self.findings[finding.id] = (first, count + 1)

    def _read(self) -> Iterator[Observation]:
        try:
            yield from self.importer.read(self.source)
        except OverflowError:
            raise self.source.refuse(
                "a number in it is too large to reckon with", "import the file as the tool wrote it"
            ) from None
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            what = f"{type(error).__name__}: {error}"[:200]
            raise Misunderstood(
                self.file,
                0,
                f"hio cannot follow it as a file of {self.importer.format} ({what})",
                "import the file as the tool wrote it; if it is, this is a fault of hio",
            ) from error

    def _only(self, record: Observation) -> str:
        """The record's name, with its line where an earlier one has it, or where too many came to remember them."""
        name, number = record.name, 1
        if self._names.is_full:
            return f"{name}-at-{record.line}"
        while self._names.times(name) > 1:
            name = f"{record.name}-at-{record.line}" + (f"-{number}" if number > 1 else "")
            number += 1
        return name

    def _sound(self, record: Observation) -> Iterator[Measured]:
        seen = set()
        for measured in list(record.metrics):
            faults = list(faults_of(measured))
            key = (measured.name, measured.statistic)
            if key in seen:
                faults.append(f"{measured.name} ({measured.statistic}) stands twice")
            seen.add(key)
            if not faults:
                yield measured
            else:
                record.findings += [Finding("impossible-value", fault, record.line) for fault in faults]


def _readable(record: Observation) -> None:
    """Facts that are no finite number as text: no reader of JSON has to know NaN."""
    for facts in (record.subject, record.workload, record.foreign):
        for key, value in facts.items():
            if type(value) is float and not math.isfinite(value):
                facts[key] = str(value)


def reading(source: Source) -> Reading | None:
    """A result file as one of a known format; None where it is of none. Raises CannotImport."""
    importer = importer_of(source)
    return None if importer is None else Reading(source, importer)
