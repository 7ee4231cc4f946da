"""known-good/v1: what a model needs in order to boot, not to crash and to be right (contract 8.6). Edited by people.

Written by hio_validate/compile.py from definitions/known_good.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, NAME, SCALAR, SHA256, TEXT, TIME
from hio_validate.models.record import Record, field

CITED = {'type': 'str', 'max_length': 302, 'pattern': '^[A-Za-z0-9][A-Za-z0-9._+-]*/[A-Za-z0-9][A-Za-z0-9._+-]*/[A-Za-z0-9][A-Za-z0-9._+-]*$'}


class Artifact(Record):
    """The model, by its bytes or by a name; either is enough."""

    name: str | None = field({'type': 'nullable', 'schema': TEXT}, 'File name, repository or served name, in any case of letters; * stands for anything.', default=None)
    sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the bytes of its (first) file.', default=None)


class Requirement(Record):
    """One setting that this model requires, forbids, prefers, or allows only where somebody asked for it."""

    factor: str = field(ADDRESS, 'The setting, without its process.')
    must: Literal['required', 'forbidden', 'opt-in', 'phase-limited', 'preferred'] = field({'type': 'literal', 'expected': ['required', 'forbidden', 'opt-in', 'phase-limited', 'preferred']}, 'What a deployment must do about it; what is preferred is told and binds none.')
    values: list[str | bool | int | float] = field({'type': 'list', 'items_schema': SCALAR}, 'Effective values that are meant; none: any value but off, set by somebody or switched on by default.', default_factory=list)
    at_least: float | int | None = field({'type': 'nullable', 'schema': {'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, {'type': 'int'}]}}, 'Of a required number: the smallest.', default=None)
    at_most: float | int | None = field({'type': 'nullable', 'schema': {'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, {'type': 'int'}]}}, 'Of a required number: the largest.', default=None)
    phases: list[str] = field({'type': 'list', 'items_schema': NAME}, 'Where a phase-limited setting may be used: a process by its role (prefill), or bring-up, benchmark; serving is a phase, too.', default_factory=list)
    severity: Literal['boot-blocker', 'crash-at-concurrency', 'correctness', 'performance'] = field({'type': 'literal', 'expected': ['boot-blocker', 'crash-at-concurrency', 'correctness', 'performance']}, 'What happens otherwise.')
    because: str = field(TEXT, 'Why, in a sentence that helps in a year.')
    scope: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Where this was seen: devices, drivers, load.', default=None)
    builds: list[str] = field({'type': 'list', 'items_schema': NAME}, 'Builds that are affected; none: every build.', default_factory=list)
    entries: list[str] = field({'type': 'list', 'items_schema': CITED}, 'Ledger entries that show it.', default_factory=list)
    runs: list[str] = field({'type': 'list', 'items_schema': CITED}, 'Runs that show it.', default_factory=list)
    written: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Where else it is written.', default_factory=list)
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it was learnt: what was deployed before is a gate, and no error.', default=None)


class OptedIn(Record):
    """An opt-in setting that somebody asked for."""

    factor: str = field(ADDRESS, 'The setting, without its process.')
    stacks: list[str] = field({'type': 'list', 'items_schema': CITED, 'min_length': 1}, 'Stacks that may use it: site/model/name.')
    because: str = field(TEXT, 'Who asked for it, and why.')


class KnownGood(Record):
    """The registry of one model for one engine family."""

    hio: Literal['known-good/v1'] = field({'type': 'literal', 'expected': ['known-good/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence about the model.', default=None)
    engine: str = field(NAME, 'Engine family whose settings these are.')
    models: list[Artifact] = field({'type': 'list', 'items_schema': Artifact.core, 'min_length': 1}, 'The model that this is about; one that matches is enough.')
    opted_in: list[OptedIn] = field({'type': 'list', 'items_schema': OptedIn.core}, 'Opt-in settings that were asked for.', default_factory=list)
    settings: list[Requirement] = field({'type': 'list', 'items_schema': Requirement.core}, 'What it needs.', default_factory=list)


DOCUMENT = KnownGood.core
