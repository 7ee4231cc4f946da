"""known-good/v1: what a model needs in order to boot, not to crash and to be right (contract 8.6). Edited by people.

Written by hio_validate/compile.py from definitions/known_good.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, KNOWN_SHA256, NAME, SCALAR, TEXT
from hio_validate.models.record import Record, field


class Artifact(Record):
    """One file of the model's weights, by what is known of it."""

    name: str | None = field({'type': 'nullable', 'schema': TEXT}, 'File name, repository or served name; * stands for anything.', default=None)
    sha256: str | None = field({'type': 'nullable', 'schema': KNOWN_SHA256}, 'SHA-256 of its bytes, which alone is certain.', default=None)


class Requirement(Record):
    """One setting that this model requires, forbids, or allows only where somebody asked for it."""

    factor: str = field(ADDRESS, 'The setting, without its process.')
    must: Literal['required', 'forbidden', 'opt-in', 'phase-limited'] = field({'type': 'literal', 'expected': ['required', 'forbidden', 'opt-in', 'phase-limited']}, 'What a deployment must do about it.')
    values: list[str | bool | int | float] = field({'type': 'list', 'items_schema': SCALAR}, 'Effective values that are meant; none: being set to anything but its default.', default_factory=list)
    phases: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Phases in which a phase-limited setting may be used, e.g. warm-up.', default_factory=list)
    severity: Literal['boot-blocker', 'crash-at-concurrency', 'correctness', 'performance'] = field({'type': 'literal', 'expected': ['boot-blocker', 'crash-at-concurrency', 'correctness', 'performance']}, 'What happens otherwise.')
    because: str = field(TEXT, 'Why, in a sentence that helps in a year.')
    scope: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Where this was seen: devices, drivers, load.', default=None)
    builds: list[str] = field({'type': 'list', 'items_schema': NAME}, 'Builds that are affected; none: every build.', default_factory=list)
    evidence: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Entries and runs (site/model/name), or where it is written.', default_factory=list)


class KnownGood(Record):
    """The registry of one model for one engine family."""

    hio: Literal['known-good/v1'] = field({'type': 'literal', 'expected': ['known-good/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence about the model.', default=None)
    engine: str = field(NAME, 'Engine family whose settings these are.')
    models: list[Artifact] = field({'type': 'list', 'items_schema': Artifact.core, 'min_length': 1}, 'The model that this is about; one that matches is enough.')
    opted_in: dict[str, str] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': TEXT}, 'Opt-in settings that somebody asked for -> who and why.', default_factory=dict)
    settings: list[Requirement] = field({'type': 'list', 'items_schema': Requirement.core}, 'What it needs.', default_factory=list)


DOCUMENT = KnownGood.core
