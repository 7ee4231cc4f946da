"""qualification/v1: what one live process of a stack was seen to do, probe by probe. Written once by hio qualify.

Written by hio_validate/compile.py from definitions/qualification.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    AT_LEAST_ONE,
    KNOWN_SHA256,
    NAME,
    PIN,
    SCALAR,
    SERVICE,
    TEXT,
    TIME,
    FileHash,
    JudgedBy,
)
from hio_validate.models.record import Record, field


class Identity(Record):
    """Which bytes the probed process ran, as they were mapped (contract 1.6)."""

    executable: str = field(KNOWN_SHA256, 'SHA-256 of the executable.')
    libraries: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': KNOWN_SHA256}, 'Name of a loaded library -> SHA-256.', default_factory=dict)
    artifacts: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': KNOWN_SHA256}, 'model, draft, template ... -> SHA-256.', default_factory=dict)


class Claim(Record):
    """The capacity that the stack claims and that the probes had to fill (contract 1.3)."""

    context_per_slot: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Tokens that one slot can hold; absent: unknown.', default=None)
    slots: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Requests that are served at once; absent: unknown.', default=None)


class Probe(Record):
    """One probe: what it found, as numbers and words that can be computed again from the rows."""

    verdict: Literal['passed', 'failed', 'not-observable'] = field({'type': 'literal', 'expected': ['passed', 'failed', 'not-observable']}, 'Not observable is neither passed nor failed (contract 1.5).')
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why it failed or could not be observed, in a sentence.', default=None)
    found: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': SCALAR}, 'What was counted and timed, with units in the name.', default_factory=dict)


class Qualification(Record):
    """The receipt that exactly this stack, on this build, does what serving needs."""

    hio: Literal['qualification/v1'] = field({'type': 'literal', 'expected': ['qualification/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about.')
    stack: str = field(PIN, 'The stack that was probed.')
    build: str | None = field({'type': 'nullable', 'schema': NAME}, 'Engine document that the stack names.', default=None)
    at: str = field(TIME, 'When the first probe began.')
    process: Identity = field(Identity.core, 'What ran.')
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'The process as it was when it was probed.', default=None)
    claim: Claim = field(Claim.core, 'The capacity that had to be filled.')
    probes: dict[str, Probe] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Probe.core, 'min_length': 1}, 'Every probe by its name.')
    rows: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'What was sent and received, one JSON object a line: counts and times, no text.', default=None)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Qualification.core
