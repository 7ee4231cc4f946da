"""What hio import does with its files: results first, by their content, then configurations; then to print or to write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from hio_validate.cli.import_writing import Asked, written, written_drafts
from hio_validate.cli.loading import load_repo
from hio_validate.cli.progress import Reading as Progress
from hio_validate.cli.shared import as_json, show, stop, width
from hio_validate.evidence.observed import Observation
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.draft import drafts
from hio_validate.importing.configurations.found import Found
from hio_validate.importing.recognise import Configuration, recognised
from hio_validate.importing.results.reading import Reading
from hio_validate.importing.results.snapshot_pairs import SnapshotPairs
from hio_validate.importing.results.source import Source
from hio_validate.report import between, results
from hio_validate.report import importing as report
from hio_validate.report.visible import visible
from hio_validate.settings.knowledge import Settings

_MOST = 10_000
"""Records of one file in a JSON answer, which has to be held as one; JSON lines have no such end."""


class Told:
    """What was refused so far, and the exit code: 3 before 1."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.code = 0
        self.has_page = False
        """Whether a page stands on standard output, so that the next one is set off."""

    def refuse(self, error: CannotImport) -> None:
        """Say it, and go on with the other files."""
        self.refused.append(visible(str(error)))
        self.ends_with(error.code)
        click.echo(f"hio: {self.refused[-1]}", err=True)

    def ends_with(self, code: int) -> None:
        self.code = max(self.code, code)


def settings_of(repo: Path | None) -> Settings:
    """The families of a repository and of the package."""
    return Settings(load_repo(repo)[1])


def carry_out(files: Sequence[Path], skip_log_lines: bool, settings: Settings, asked: Asked) -> int:
    """Read all files, print or write what they give; the exit code."""
    told = Told()
    readings, found = _sorted(files, skip_log_lines, told)
    if asked.name is not None and len(found) + len(readings) > 1:
        stop(f"--name names one document, and here are {len(found) + len(readings)}", 2)
    if asked.out is not None and readings:
        stop(f"--out is for drafts, and {readings[0].file} has results: use --service SITE/NAME --write", 2)
    for each in found:
        each.name = asked.name or each.name
    made = drafts(found, settings, asked.engine)
    if asked.out is not None or asked.service is not None:
        written_drafts(made, asked)
    elif asked.format in ("text", "yaml") and made:
        show(report.render(made))
    pairs = SnapshotPairs()
    shapes = [shape for reading in readings if (shape := _tell(reading, asked, told, pairs)) is not None]
    _tell_pairs(pairs, asked)
    if asked.format == "json":
        show(as_json(report.as_shape(made, shapes, told.refused, pairs.made)))
    if asked.format == "jsonl":
        for draft in report.as_shape(made, (), ())["drafts"]:
            show(results.line({"version": 1, "draft": draft}))
    click.echo(f"hio: {report.summary(made, readings, told.refused)}", err=True)
    return told.code


def _sorted(files: Sequence[Path], skip_log_lines: bool, told: Told) -> tuple[list[Reading], list[Found]]:
    readings: list[Reading] = []
    found: list[Found] = []
    for file in files:
        source = Source(file, visible(str(file)), skip_log_lines=skip_log_lines)
        try:
            match recognised(source):
                case Reading() as reading:
                    readings.append(reading)
                case Configuration(drafts):
                    found += drafts
        except CannotImport as error:
            told.refuse(error)
    return readings, found


def _tell_pairs(pairs: SnapshotPairs, asked: Asked) -> None:
    for each in pairs.made:
        if asked.format in ("text", "yaml"):
            show("\n" + between.render(each, width()))
        elif asked.format == "jsonl":
            show(results.line({"version": 1, "between": between.as_shape(each)}))


def _tell(reading: Reading, asked: Asked, told: Told, pairs: SnapshotPairs) -> dict[str, Any] | None:
    """Read one file to its end, show or write it; its shape for an answer that is one JSON object."""
    first: list[Observation] = []
    most = _MOST if asked.format == "json" else results.SHOWN

    def seen(record: Observation) -> None:
        pairs.seen(reading, record)
        if asked.format == "jsonl":
            show(results.line(results.as_line(reading, record)))
        elif len(first) < most:
            first.append(record)

    wrote = None
    try:
        with closing(Progress(reading.file, reading.source.size)) as reading.source.told:
            if asked.service is not None:
                wrote = written(reading, asked, seen)
            else:
                for record in reading.records():
                    seen(record)
    except CannotImport as error:
        told.refuse(error)
        return None
    told.ends_with(reading.code)
    if asked.format in ("text", "yaml"):
        show("\n" * told.has_page + results.render(reading, first, width(), asked.service if wrote else None))
        told.has_page = True
    return results.as_shape(reading, first, wrote)
