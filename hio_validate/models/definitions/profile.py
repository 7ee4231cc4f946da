"""profile/v1: where the time of one stack went, by a named tool. Its numbers are shares, never speeds (contract 5.6, 9.4)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    AtLeastOne,
    Count,
    FileHash,
    JudgedBy,
    Model,
    Name,
    Pin,
    Reference,
    Service,
    Text,
    Time,
)
from hio_validate.models.definitions.estimate import Path, TermName


class Part(Model):
    """One part of the time."""

    name: Text = Field(description="As the tool names it, or a group of such names.")
    term: TermName | None = Field(
        None, description="The term of a ledger that it belongs to; absent: none of them."
    )
    samples: Count = Field(description="Samples, or nanoseconds, that fell into it.")
    what: Literal["arithmetic", "data-movement", "set-up", "waiting", "dispatch", "other"] = Field(
        description="What was done meanwhile."
    )


class Profile(Model):
    """One profile of one process."""

    hio: Literal["profile/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    stack: Pin = Field(description="The stack that ran.")
    process: Name | None = Field(None, description="Role of the process in the stack; absent: server.")
    fixture: Reference | None = Field(None, description="What was asked meanwhile.")
    path: Path = Field(description="The path that was profiled.")
    threads: AtLeastOne | None = Field(None, description="Threads that were sampled.")
    tool: Text = Field(description="The tool, with its version and command.")
    at: Time = Field(description="When.")
    raw: FileHash | None = Field(None, description="What the tool wrote, kept beside this document.")
    slowed_percent: FiniteFloat | None = Field(
        None, ge=0, description="How much slower it was than without the tool; absent: unknown."
    )
    parts: list[Part] = Field(min_length=1, description="The parts; each sample belongs to one.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
