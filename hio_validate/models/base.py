"""What all documents share: strictness, names, digests, pins, times. No I/O.

Written by hio_validate/compile.py from definitions/base.py: change that one.
"""

# fmt: off

from __future__ import annotations

from hio_validate.models.record import Record, field

NAME = {'type': 'str', 'max_length': 100, 'pattern': '^[A-Za-z0-9][A-Za-z0-9._+-]*$'}

SERVICE = {'type': 'str', 'max_length': 201, 'pattern': '^[A-Za-z0-9][A-Za-z0-9._+-]*/[A-Za-z0-9][A-Za-z0-9._+-]*$'}

REFERENCE = {'type': 'str', 'max_length': 302, 'pattern': '^([A-Za-z0-9][A-Za-z0-9._+-]*/[A-Za-z0-9][A-Za-z0-9._+-]*/)?[A-Za-z0-9][A-Za-z0-9._+-]*$'}

PIN = {'type': 'str', 'pattern': '^([A-Za-z0-9][A-Za-z0-9._+-]*/[A-Za-z0-9][A-Za-z0-9._+-]*/)?[A-Za-z0-9][A-Za-z0-9._+-]*@sha256:[0-9a-f]{64}$'}

SHA256 = {'type': 'str', 'pattern': '^[0-9a-f]{64}$'}

DIGEST = {'type': 'str', 'pattern': '^sha256:[0-9a-f]{64}$'}

COMMIT_ID = {'type': 'str', 'pattern': '^([0-9a-f]{40}|[0-9a-f]{64})$'}

KNOWN_SHA256 = {'type': 'str', 'pattern': '^([0-9a-f]{64}|unknown)$'}

TIME = {'type': 'str', 'pattern': '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,9})?Z$'}

TEXT = {'type': 'str', 'min_length': 1}

COUNT = {'type': 'int', 'ge': 0}

AT_LEAST_ONE = {'type': 'int', 'ge': 1}

SCALAR = {'type': 'union', 'choices': [{'type': 'str'}, {'type': 'bool'}, {'type': 'int'}, {'type': 'float', 'allow_inf_nan': False}]}

ADDRESS = {'type': 'str', 'max_length': 200, 'pattern': '^[A-Za-z0-9][A-Za-z0-9._+-]*$'}

HOW = {'type': 'literal', 'expected': ['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown']}


class FileHash(Record):
    """A file kept beside the document, pinned by its bytes."""

    file: str = field(TEXT, 'Path of the file, relative to this document.')
    sha256: str = field(SHA256, "SHA-256 of the file's bytes.")


class JudgedBy(Record):
    """Which hio wrote this, so that newer rules give notes here and never errors."""

    hio: str = field(TEXT, 'Version of hio.')
    rules: int = field(AT_LEAST_ONE, 'Number of the newest rule it knew (Rule.since).')
    seen: dict[str, str] | None = field({'type': 'nullable', 'schema': {'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': SHA256}}, 'Digests of the site and family tables it read.', default=None)
