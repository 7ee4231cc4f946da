"""observation/v1: a result file of another tool, read into records with units and definitions. Written once by hio import.

The file's bytes and its records stand beside the document, one JSON object a line (evidence/observed.py has their shape).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import (
    AtLeastOne,
    Count,
    FileHash,
    JudgedBy,
    Model,
    Name,
    Pin,
    Service,
    Sha256,
    Text,
)


class Source(Model):
    """The file as it was given, kept as bytes beside this document where its texts are nobody's (contract 1.8)."""

    file: Text | None = Field(
        None,
        description="Path of the kept file, relative to this document. Absent: not kept, it may hold prompts and answers, or holds a credential.",
    )
    sha256: Sha256 = Field(description="SHA-256 of the file's bytes, kept or not.")
    format: Name = Field(description="What it is, e.g. vllm-bench.")
    generation: Text | None = Field(None, description="Version of the format, or of the tool that wrote it.")
    bytes: Count = Field(description="Its size.")


class Records(FileHash):
    """What was read from it: one JSON object a line."""

    count: Count = Field(description="Number of records.")


class Finding(Model):
    """Something in the source that cannot be so, or must not be used as it stands."""

    id: Name = Field(description="Kind of finding, e.g. impossible-value.")
    line: Count = Field(description="Line of the first one in the source; 0: the file as a whole.")
    count: AtLeastOne = Field(1, description="How many there are.")
    message: Text = Field(description="The first one, in a sentence.")


class Observation(Model):
    """One result file. It was measured outside hio, so that it never rises above DRAFT (contract 7.6)."""

    hio: Literal["observation/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the name of the folder this file stands in.")
    service: Service = Field(description="The service it is about, as whoever imported it says.")
    about: Text | None = Field(None, description="Where it is from, in a sentence.")
    stack: Pin | None = Field(None, description="The stack that whoever imported it says was measured.")
    source: Source = Field(description="The file.")
    records: Records = Field(description="What was read from it.")
    findings: list[Finding] = Field(default_factory=list, description="What cannot be so.")
    unknown: list[Text] = Field(default_factory=list, description="What this source cannot tell.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
