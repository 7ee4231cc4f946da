"""engine/v1: one build of an engine: its raw --help, its identity, how it was built.

Written by hio_validate/compile.py from definitions/engine.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import KNOWN_SHA256, NAME, SHA256, TEXT, FileHash
from hio_validate.models.record import Record, field

FLAG_NAME = {'type': 'str', 'max_length': 200, 'pattern': '^[A-Za-z0-9_.-]+$'}


class Source(Record):
    """What a person recorded about where the binary came from (declared; contract 1.2)."""

    project: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Name of the project, e.g. llama.cpp.', default=None)
    revision: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Commit, tag or build number that was checked out.', default=None)
    archive: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'Source archive it was built from; its bytes stay outside the repository.', default=None)
    flags: dict[str, str] = field({'type': 'dict', 'keys_schema': FLAG_NAME, 'values_schema': {'type': 'str'}}, 'Build flags, e.g. GGML_NATIVE: "OFF".', default_factory=dict)
    compiler: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Compiler and version.', default=None)
    patches: list[FileHash] = field({'type': 'list', 'items_schema': FileHash.core}, 'Patches applied on top of the revision.', default_factory=list)


class Identity(Record):
    """What the bytes are."""

    kind: Literal['native', 'image', 'python'] = field({'type': 'literal', 'expected': ['native', 'image', 'python']}, 'What can be observed of it.')
    executable: str | None = field({'type': 'nullable', 'schema': KNOWN_SHA256}, 'SHA-256 of the program file.', default=None)
    libraries: dict[str, str] = field({'type': 'dict', 'keys_schema': FLAG_NAME, 'values_schema': SHA256}, 'Shared libraries of the engine itself, by soname.', default_factory=dict)
    image: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Image digest (kind image).', default=None)
    lock: str | None = field({'type': 'nullable', 'schema': KNOWN_SHA256}, 'SHA-256 of the lock file (kind python).', default=None)


class Engine(Record):
    """One build of an engine."""

    hio: Literal['engine/v1'] = field({'type': 'literal', 'expected': ['engine/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, 'Equals the name of the folder this file stands in.')
    family: str = field(NAME, 'Engine family, e.g. llama-server.')
    help: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'What --help printed; its catalogue of settings is derived, never committed.', default=None)
    source: Source | None = field({'type': 'nullable', 'schema': Source.core}, 'Where the binary came from, as recorded by a person.', default=None)
    identity: Identity | None = field({'type': 'nullable', 'schema': Identity.core}, 'Hashes of the program and its own libraries.', default=None)


DOCUMENT = Engine.core
