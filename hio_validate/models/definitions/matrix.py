"""matrix/v1: the inheritance matrix: parent stack -> candidate stack, row by row (contract section 3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from hio_validate.models.definitions.base import Address, Model, Name, Reference, Scalar, Service, Text
from hio_validate.models.rows import row_kind

Disposition = Literal["preserved", "changed", "retest", "excluded", "undecided"]
"""undecided is what `hio matrix new` writes, and an error until a person decides."""


class Preserved(Model):
    """Settings whose values are equal; the values are computed, nobody types them."""

    preserved: list[Address] = Field(min_length=1, description="Settings that are equal on both sides.")
    through: Literal["implicit", "default"] | None = Field(
        None, description="How they are in force where no flag sets them on one side."
    )
    because: Text | None = Field(None, description="What should be remembered about them.")


class FactorRow(Model):
    """One setting and its disposition."""

    factor: Address = Field(description="The setting.")
    from_: Scalar = Field(alias="from", description="Value at the parent; absent and unknown are words.")
    to: Scalar = Field(description="Value at the candidate; absent and unknown are words.")
    disposition: Disposition = Field(
        description="preserved, changed, retest, excluded; undecided is an error."
    )
    evidence: Reference | None = Field(None, description="Ledger entry that isolates this setting.")
    requires: Address | None = Field(
        None, description="A setting that was itself excluded (conditional, not run)."
    )
    depends: list[Address] = Field(
        default_factory=list, description="Settings whose change calls for a retest of this row."
    )
    because: Text | None = Field(None, description="Why; for a retest, what is missing.")


class Bundle(Model):
    """Settings that only make sense together; its members stay unresolved in isolation (contract 3.6)."""

    bundle: Name = Field(description="Name of the bundle.")
    disposition: Disposition = Field(description="changed, retest or excluded, for the whole.")
    members: list[Address] = Field(min_length=1, description="The settings.")
    question: Text | None = Field(None, description="The declared question that the whole answers.")
    evidence: Reference | None = Field(None, description="Ledger entry about the whole.")
    because: Text | None = Field(None, description="Why.")


Row = Annotated[
    Annotated[Preserved, Tag("preserved row")]
    | Annotated[FactorRow, Tag("factor row")]
    | Annotated[Bundle, Tag("bundle row")],
    Discriminator(row_kind),
]


class Captures(Model):
    """What the two sides were observed to be."""

    parent: Reference | None = Field(None, description="Capture of the parent.")
    candidate: Reference | None = Field(None, description="Capture of the candidate.")


class Defaults(Model):
    """One line for all defaults of a build whose --help nobody kept."""

    parent: Literal["known", "unknown"] = Field(description="Whether the parent's defaults are known.")
    candidate: Literal["known", "unknown"] = Field(description="Whether the candidate's defaults are known.")
    disposition: Disposition = Field(description="retest, normally.")
    because: Text | None = Field(None, description="Why they are unknown.")


class Workload(Model):
    """What the replacement is for; evidence measured on another workload is out of scope (contract 3.7)."""

    fixture: Text | None = Field(None, description="Name of the fixture.")
    regime: Text | None = Field(None, description="Cache regime and load, in the words of the runs.")


class Matrix(Model):
    """One replacement of a serving path, setting by setting."""

    hio: Literal["matrix/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service whose serving path is replaced.")
    parent: Reference = Field(description="Stack that serves now.")
    candidate: Reference = Field(description="Stack that shall replace it.")
    captures: Captures | None = Field(None, description="Observations of both sides.")
    workload: Workload | None = Field(None, description="The workload the candidate is for.")
    as_of: list[Reference] = Field(
        default_factory=list,
        description="Ledger tips whose decisions this covers; what was decided later needs no row here.",
    )
    pairs: dict[Address, list[Text]] = Field(
        default_factory=dict, description="Two vocabularies: name -> [process setting, ..., process setting]."
    )
    rows: list[Row] = Field(description="What is preserved, changed, to be retested or excluded.")
    defaults: Defaults | None = Field(None, description="Only where a side's defaults are unknown.")
