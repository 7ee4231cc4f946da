"""observation/v1: a result file of another tool, read into records with units and definitions. Written once by hio import.

Written by hio_validate/compile.py from definitions/observation.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import AT_LEAST_ONE, COUNT, NAME, PIN, SERVICE, SHA256, TEXT, FileHash, JudgedBy
from hio_validate.models.record import Record, field


class Source(Record):
    """The file as it was given, kept as bytes beside this document where its texts are nobody's (contract 1.8)."""

    file: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Path of the kept file, relative to this document. Absent: not kept, it may hold prompts and answers, or holds a credential.', default=None)
    sha256: str = field(SHA256, "SHA-256 of the file's bytes, kept or not.")
    format: str = field(NAME, 'What it is, e.g. vllm-bench.')
    generation: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Version of the format, or of the tool that wrote it.', default=None)
    bytes: int = field(COUNT, 'Its size.')


class Records(FileHash):
    """What was read from it: one JSON object a line."""

    count: int = field(COUNT, 'Number of records.')


class Finding(Record):
    """Something in the source that cannot be so, or must not be used as it stands."""

    id: str = field(NAME, 'Kind of finding, e.g. impossible-value.')
    line: int = field(COUNT, 'Line of the first one in the source; 0: the file as a whole.')
    count: int = field(AT_LEAST_ONE, 'How many there are.', default=1)
    message: str = field(TEXT, 'The first one, in a sentence.')


class Observation(Record):
    """One result file. It was measured outside hio, so that it never rises above DRAFT (contract 7.6)."""

    hio: Literal['observation/v1'] = field({'type': 'literal', 'expected': ['observation/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, 'Equals the name of the folder this file stands in.')
    service: str = field(SERVICE, 'The service it is about, as whoever imported it says.')
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Where it is from, in a sentence.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that whoever imported it says was measured.', default=None)
    source: Source = field(Source.core, 'The file.')
    records: Records = field(Records.core, 'What was read from it.')
    findings: list[Finding] = field({'type': 'list', 'items_schema': Finding.core}, 'What cannot be so.', default_factory=list)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What this source cannot tell.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Observation.core
