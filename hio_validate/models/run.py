"""run/v1: what happened: arms with their captures, raw rows kept as bytes, columns with units.

Written by hio_validate/compile.py from definitions/run.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    ADDRESS,
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
    rows: int = field({'type': 'int', 'ge': 0}, 'Number of rows without the header.')
    arm: str = field(NAME, 'Column that names the arm.')


class Column(Record):
    """What a column of the raw rows means."""

    unit: str = field(TEXT, 'Unit, e.g. token/s; `1` for a count, `text` for a label.')
    better: Literal['higher', 'lower'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['higher', 'lower']}}, 'Direction, for a metric.', default=None)
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Definition, where the name does not say it.', default=None)


class Scope(Record):
    """Where the result holds (contract 3.7); what is absent is unknown."""

    host: str | None = field({'type': 'nullable', 'schema': SHA256}, 'Identity of the host, as its captures give it.', default=None)
    model: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the model file.', default=None)
    fixture: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Name of the fixture.', default=None)
    regime: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Cache regime and load.', default=None)


class Run(Record):
    """One experiment as it happened."""

    hio: Literal['run/v1'] = field({'type': 'literal', 'expected': ['run/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, 'Equals the name of the folder this file stands in.')
    service: str = field(SERVICE, 'The service it belongs to.')
    imported: bool = field({'type': 'bool'}, 'Measured outside hio: never rises above DRAFT.', default=False)
    plan: str | None = field({'type': 'nullable', 'schema': PIN}, 'The prespecified plan.', default=None)
    question: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The declared question, where it is about several settings.', default=None)
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it began.', default=None)
    scope: Scope | None = field({'type': 'nullable', 'schema': Scope.core}, 'Where the result holds.', default=None)
    arms: dict[str, Arm] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Arm.core, 'min_length': 1}, 'The arms, by name.')
    raw: Raw = field(Raw.core, 'The raw rows.')
    columns: dict[str, Column] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Column.core}, 'Every column of the raw rows.')
    logs: list[FileHash] = field({'type': 'list', 'items_schema': FileHash.core}, 'Server logs and outputs kept beside it.', default_factory=list)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What the record does not say.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Run.core
