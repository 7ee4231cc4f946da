"""profile/v1: where the time of one stack went, by a named tool. Its numbers are shares, never speeds (contract 5.6, 9.4).

Written by hio_validate/compile.py from definitions/profile.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    AT_LEAST_ONE,
    COUNT,
    NAME,
    PIN,
    REFERENCE,
    SERVICE,
    TEXT,
    TIME,
    FileHash,
    JudgedBy,
)
from hio_validate.models.estimate import NOT_NEGATIVE, PATH, TERM_NAME
from hio_validate.models.record import Record, field


class Part(Record):
    """One part of the time."""

    name: str = field(TEXT, 'As the tool names it, or a group of such names.')
    term: Literal['weights', 'kv-read', 'kv-write', 'state', 'compute', 'output', 'collectives', 'launches', 'host-gaps', 'loading', 'queueing', 'draft', 'dispatch'] | None = field({'type': 'nullable', 'schema': TERM_NAME}, 'The term of a ledger that it belongs to; absent: none of them.', default=None)
    samples: int = field(COUNT, 'Samples, or nanoseconds, that fell into it.')
    what: Literal['arithmetic', 'data-movement', 'set-up', 'waiting', 'dispatch', 'other'] = field({'type': 'literal', 'expected': ['arithmetic', 'data-movement', 'set-up', 'waiting', 'dispatch', 'other']}, 'What was done meanwhile.')


class Profile(Record):
    """One profile of one process."""

    hio: Literal['profile/v1'] = field({'type': 'literal', 'expected': ['profile/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about.')
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    stack: str = field(PIN, 'The stack that ran.')
    process: str | None = field({'type': 'nullable', 'schema': NAME}, 'Role of the process in the stack; absent: server.', default=None)
    fixture: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'What was asked meanwhile.', default=None)
    path: Literal['setup', 'load', 'request', 'prefill-token', 'decode-token'] = field(PATH, 'The path that was profiled.')
    threads: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Threads that were sampled.', default=None)
    tool: str = field(TEXT, 'The tool, with its version and command.')
    at: str = field(TIME, 'When.')
    raw: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'What the tool wrote, kept beside this document.', default=None)
    slowed_percent: float | None = field({'type': 'nullable', 'schema': NOT_NEGATIVE}, 'How much slower it was than without the tool; absent: unknown.', default=None)
    parts: list[Part] = field({'type': 'list', 'items_schema': Part.core, 'min_length': 1}, 'The parts; each sample belongs to one.')
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Profile.core
