"""qualification/v1: what one live process of a stack was seen to do, probe by probe. Written once by hio qualify."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import (
    AtLeastOne,
    FileHash,
    JudgedBy,
    KnownSha256,
    Model,
    Name,
    Pin,
    Scalar,
    Service,
    Text,
    Time,
)


class Identity(Model):
    """Which bytes the probed process ran, as they were mapped (contract 1.6)."""

    executable: KnownSha256 = Field(description="SHA-256 of the executable.")
    libraries: dict[Text, KnownSha256] = Field(
        default_factory=dict, description="Name of a loaded library -> SHA-256."
    )
    artifacts: dict[Text, KnownSha256] = Field(
        default_factory=dict, description="model, draft, template ... -> SHA-256."
    )


class Claim(Model):
    """The capacity that the stack claims and that the probes had to fill (contract 1.3)."""

    context_per_slot: AtLeastOne | None = Field(
        None, description="Tokens that one slot can hold; absent: unknown."
    )
    slots: AtLeastOne | None = Field(None, description="Requests that are served at once; absent: unknown.")


class Probe(Model):
    """One probe: what it found, as numbers and words that can be computed again from the rows."""

    verdict: Literal["passed", "failed", "not-observable"] = Field(
        description="Not observable is neither passed nor failed (contract 1.5)."
    )
    because: Text | None = Field(None, description="Why it failed or could not be observed, in a sentence.")
    found: dict[Name, Scalar] = Field(
        default_factory=dict, description="What was counted and timed, with units in the name."
    )


class Qualification(Model):
    """The receipt that exactly this stack, on this build, does what serving needs."""

    hio: Literal["qualification/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about.")
    stack: Pin = Field(description="The stack that was probed.")
    build: Name | None = Field(None, description="Engine document that the stack names.")
    at: Time = Field(description="When the first probe began.")
    process: Identity = Field(description="What ran.")
    capture: Pin | None = Field(None, description="The process as it was when it was probed.")
    claim: Claim = Field(description="The capacity that had to be filled.")
    probes: dict[Name, Probe] = Field(min_length=1, description="Every probe by its name.")
    rows: FileHash | None = Field(
        None, description="What was sent and received, one JSON object a line: counts and times, no text."
    )
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
