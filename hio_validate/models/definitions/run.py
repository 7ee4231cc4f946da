"""run/v1: what happened: arms with their captures, raw rows kept as bytes, columns with units."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import (
    Address,
    FileHash,
    JudgedBy,
    Model,
    Name,
    Pin,
    Scalar,
    Service,
    Sha256,
    Text,
    Time,
)


class Arm(Model):
    """One side of the comparison: a pinned stack plus a delta, and what was observed."""

    stack: Pin = Field(description="The stack it starts from.")
    set: dict[Address, Scalar] = Field(default_factory=dict, description="The delta: setting -> value.")
    captures: list[Pin] = Field(default_factory=list, description="Captures of its legs; none = unobserved.")


class Raw(Model):
    """The raw rows, one per leg, kept as bytes and never edited."""

    file: Text = Field(description="File beside this document.")
    sha256: Sha256 = Field(description="SHA-256 of its bytes.")
    format: Literal["tsv", "jsonl"] = Field(description="Tab-separated with one header line, or JSON lines.")
    rows: int = Field(ge=0, description="Number of rows without the header.")
    arm: Name = Field(description="Column that names the arm.")


class Column(Model):
    """What a column of the raw rows means."""

    unit: Text = Field(description="Unit, e.g. token/s; `1` for a count, `text` for a label.")
    better: Literal["higher", "lower"] | None = Field(None, description="Direction, for a metric.")
    about: Text | None = Field(None, description="Definition, where the name does not say it.")


class Scope(Model):
    """Where the result holds (contract 3.7); what is absent is unknown."""

    host: Sha256 | None = Field(None, description="Identity of the host, as its captures give it.")
    model: Sha256 | None = Field(None, description="SHA-256 of the model file.")
    fixture: Text | None = Field(None, description="Name of the fixture.")
    regime: Text | None = Field(None, description="Cache regime and load.")


class Run(Model):
    """One experiment as it happened."""

    hio: Literal["run/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the name of the folder this file stands in.")
    service: Service = Field(description="The service it belongs to.")
    imported: bool = Field(False, description="Measured outside hio: never rises above DRAFT.")
    plan: Pin | None = Field(None, description="The prespecified plan.")
    question: Text | None = Field(
        None, description="The declared question, where it is about several settings."
    )
    at: Time | None = Field(None, description="When it began.")
    scope: Scope | None = Field(None, description="Where the result holds.")
    arms: dict[Name, Arm] = Field(min_length=1, description="The arms, by name.")
    raw: Raw = Field(description="The raw rows.")
    columns: dict[Name, Column] = Field(description="Every column of the raw rows.")
    logs: list[FileHash] = Field(default_factory=list, description="Server logs and outputs kept beside it.")
    unknown: list[Text] = Field(default_factory=list, description="What the record does not say.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
