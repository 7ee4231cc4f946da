"""run/v1: what happened: arms with their captures, raw rows kept as bytes, columns with units.

Written by hio_validate/compile.py from definitions/run.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    ADDRESS,
    AT_LEAST_ONE,
    COUNT,
    NAME,
    PIN,
    SCALAR,
    SERVICE,
    SHA256,
    TEXT,
    TIME,
    FileHash,
    JudgedBy,
)
from hio_validate.models.plan import BETTER
from hio_validate.models.record import Record, field


class Arm(Record):
    """One side of the comparison: a pinned stack plus a delta, and what was observed."""

    stack: str = field(PIN, 'The stack it starts from.')
    set: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': SCALAR}, 'The delta: setting -> value.', default_factory=dict)
    captures: list[str] = field({'type': 'list', 'items_schema': PIN}, 'Captures of its legs; none = unobserved.', default_factory=list)


class Raw(Record):
    """The raw rows, one per leg, kept as bytes and never edited."""

    file: str = field(TEXT, 'File beside this document.')
    sha256: str = field(SHA256, 'SHA-256 of its bytes.')
    format: Literal['tsv', 'jsonl'] = field({'type': 'literal', 'expected': ['tsv', 'jsonl']}, 'Tab-separated with one header line, or JSON lines.')
    rows: int = field(COUNT, 'Number of rows without the header.')
    arm: str = field(NAME, 'Column that names the arm.')
    leg: str | None = field({'type': 'nullable', 'schema': NAME}, 'Column that numbers the leg: its rows are one trial. Absent = every row is one.', default=None)
    phase: str | None = field({'type': 'nullable', 'schema': NAME}, 'Column that says warm-up, check or measured; only measured rows count.', default=None)
    status: str | None = field({'type': 'nullable', 'schema': NAME}, 'Column that says ok, or what went wrong; a row that failed has no metrics.', default=None)


class Column(Record):
    """What a column of the raw rows means."""

    unit: str = field(TEXT, 'Unit, e.g. token/s; `1` for a count, `text` for a label.')
    better: Literal['higher', 'lower'] | None = field({'type': 'nullable', 'schema': BETTER}, 'Direction, for a metric.', default=None)
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Definition, where the name does not say it.', default=None)


class Scope(Record):
    """Where the result holds (contract 3.7); what is absent is unknown."""

    host: str | None = field({'type': 'nullable', 'schema': SHA256}, 'Identity of the host, as its captures give it.', default=None)
    model: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the model file.', default=None)
    fixture: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Name of the fixture.', default=None)
    regime: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Cache regime and load.', default=None)


class Leg(Record):
    """One leg: a process of its own, started, measured and ended. A leg that is invalid stays on record."""

    leg: int = field(AT_LEAST_ONE, 'Number in the order in which they ran, 1 first.')
    place: int = field(AT_LEAST_ONE, "Place in the plan's order; a leg that is run again has the same one.")
    arm: str = field(NAME, 'The arm it measured.')
    started: str = field(TIME, 'Start of its process.')
    ended: str = field(TIME, 'End of its last request, or when it was given up.')
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'What its process was; none = unobserved.', default=None)
    invalid: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Why it does not count, one reason each; empty = it counts.', default_factory=list)
    instrumented: bool = field({'type': 'bool'}, 'A profiler ran beside it: no benchmark (contract 5.6).', default=False)
    startup_s: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0}}, 'Seconds from exec to ready.', default=None)
    exit: str | None = field({'type': 'nullable', 'schema': TEXT}, 'How its process ended.', default=None)


class Samples(FileHash):
    """Readings of host and processes during the legs, kept as bytes."""

    period_s: float = field({'type': 'float', 'gt': 0, 'allow_inf_nan': False}, 'Seconds between two samples, as planned.')
    count: int = field(COUNT, 'Number of samples.')
    longest_gap_s: float = field({'type': 'float', 'ge': 0, 'allow_inf_nan': False}, 'Longest time without a sample in a leg.')


class QualityRows(FileHash):
    """Answers to a task set, one JSON object a line: leg, arm, item, status, expected, generated, answer."""

    rows: int = field(COUNT, 'Number of rows.')
    tasks: str = field(PIN, 'The task set that was asked.')


class Executed(Record):
    """A command behind a claim (contract 5.7)."""

    argv: list[str] = field({'type': 'list', 'items_schema': {'type': 'str'}}, 'Program and arguments; what is secret stands as ${secret:name}.')
    exit: str = field(TEXT, 'Exit code or signal.')
    stdout: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'What it wrote to stdout.', default=None)
    stderr: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'What it wrote to stderr.', default=None)


class Preflight(Record):
    """What was known before the start (contract 4.9)."""

    at: str = field(TIME, 'When.')
    active: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Trials that ran then.', default_factory=list)
    last: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Last runs, with what failed in them.', default_factory=list)
    pending: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Jobs that are not closed.', default_factory=list)
    live: str | None = field({'type': 'nullable', 'schema': PIN}, 'What served then.', default=None)
    host: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': SCALAR}, 'Readings: memory, load, swap, in bytes.', default_factory=dict)


class Restored(Record):
    """The service that served before, proven to serve again (contract 5.4)."""

    stack: str = field(PIN, 'The stack that serves.')
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'What serves, as observed.', default=None)
    checks: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': TEXT}, 'Check -> passed, or what was found instead; what could not be checked is unknown.')
    proven: bool = field({'type': 'bool'}, 'Whether every check passed.')


class OfCampaign(Record):
    """The campaign that it belongs to (contract 10.2)."""

    campaign: str = field(PIN, 'The campaign, with the bytes that were run.')
    id: str = field(NAME, "Run id of the campaign; the trial's processes carry it as HIO_CAMPAIGN.")
    cell: str = field(NAME, 'The cell that this run is.')


class Run(Record):
    """One experiment as it happened."""

    hio: Literal['run/v1'] = field({'type': 'literal', 'expected': ['run/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, 'Equals the name of the folder this file stands in.')
    service: str = field(SERVICE, 'The service it belongs to.')
    imported: bool = field({'type': 'bool'}, 'Measured outside hio: never rises above DRAFT.', default=False)
    plan: str | None = field({'type': 'nullable', 'schema': PIN}, 'The prespecified plan.', default=None)
    campaign: OfCampaign | None = field({'type': 'nullable', 'schema': OfCampaign.core}, 'The campaign that it is a cell of.', default=None)
    question: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The declared question, where it is about several settings.', default=None)
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it began.', default=None)
    scope: Scope | None = field({'type': 'nullable', 'schema': Scope.core}, 'Where the result holds.', default=None)
    arms: dict[str, Arm] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Arm.core, 'min_length': 1}, 'The arms, by name.')
    stage: Literal['screening', 'confirmation', 'a-a'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['screening', 'confirmation', 'a-a']}}, 'As planned.', default=None)
    outcome: Literal['completed', 'aborted', 'failed', 'stopped'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['completed', 'aborted', 'failed', 'stopped']}}, 'How it ended; absent = the record does not say.', default=None)
    why: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why it ended that way, where it was not completed.', default=None)
    ended: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it ended.', default=None)
    resumed: list[str] = field({'type': 'list', 'items_schema': TIME}, 'When it was taken up again after an interruption.', default_factory=list)
    fixtures: list[str] = field({'type': 'list', 'items_schema': PIN}, 'The fixtures that were asked.', default_factory=list)
    approvals: list[str] = field({'type': 'list', 'items_schema': PIN}, 'The entries that allowed it, rechecked before work.', default_factory=list)
    preflight: Preflight | None = field({'type': 'nullable', 'schema': Preflight.core}, 'What was known before the start.', default=None)
    legs: list[Leg] = field({'type': 'list', 'items_schema': Leg.core}, 'The legs, in the order in which they ran.', default_factory=list)
    raw: Raw = field(Raw.core, 'The raw rows.')
    columns: dict[str, Column] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Column.core}, 'Every column of the raw rows.')
    events: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'Arrival time of every piece of every answer, compressed.', default=None)
    quality: QualityRows | None = field({'type': 'nullable', 'schema': QualityRows.core}, 'Answers to the planned task set.', default=None)
    samples: Samples | None = field({'type': 'nullable', 'schema': Samples.core}, 'Readings of host and processes.', default=None)
    stages: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': TEXT}, 'Stage of a request -> column that measures it, or unknown (contract 6.1).', default_factory=dict)
    commands: list[Executed] = field({'type': 'list', 'items_schema': Executed.core}, 'The commands behind it.', default_factory=list)
    restored: Restored | None = field({'type': 'nullable', 'schema': Restored.core}, 'The service afterwards, where the plan stopped one.', default=None)
    logs: list[FileHash] = field({'type': 'list', 'items_schema': FileHash.core}, 'Server logs and outputs kept beside it.', default_factory=list)
    series: Literal['new'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['new']}}, "new: the baseline's answer is another one than the plan's reproduces; its numbers start anew.", default=None)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What the record does not say.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Run.core
