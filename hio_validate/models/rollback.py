"""rollback/v1: the way back from one deployment, bound to what it found. Written once by hio deploy (contract 12.2).

Written by hio_validate/compile.py from definitions/rollback.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import NAME, PIN, SERVICE, SHA256, TEXT, TIME, JudgedBy
from hio_validate.models.record import Record, field


class SavedFile(Record):
    """A file of the host as it was before the deployment replaced it."""

    path: str = field(TEXT, 'Absolute path on the host.')
    before: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of its bytes before; absent: there was no such file.', default=None)
    after: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the bytes that the deployment put there; absent: it was removed.', default=None)


class Rollback(Record):
    """How to have the earlier stack serve again, for the executor to run and a person to read."""

    hio: Literal['rollback/v1'] = field({'type': 'literal', 'expected': ['rollback/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml: the deployment's.")
    service: str = field(SERVICE, 'The service it is about.')
    site: str = field(NAME, 'The site.')
    host: str = field(SHA256, 'The machine it can be carried out on: SHA-256 of `hio host` and its machine id.')
    at: str = field(TIME, 'When it was written.')
    backend: Literal['local', 'systemd', 'systemd-user'] = field({'type': 'literal', 'expected': ['local', 'systemd', 'systemd-user']}, 'What starts and stops the service.')
    takes_back: str = field(PIN, 'The stack that it takes away.')
    restores: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that serves again; absent: nothing served before.', default=None)
    files: list[SavedFile] = field({'type': 'list', 'items_schema': SavedFile.core}, 'Files that are put back.', default_factory=list)
    steps: list[str] = field({'type': 'list', 'items_schema': TEXT, 'min_length': 1}, 'What is done, in order, for a person.')
    checks: list[str] = field({'type': 'list', 'items_schema': TEXT, 'min_length': 1}, 'What must be proven afterwards.')
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Rollback.core
