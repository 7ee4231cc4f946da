"""known-good/v1: what a model needs in order to boot, not to crash and to be right (contract 8.6). Edited by people."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, StringConstraints

from hio_validate.models.definitions.base import Address, Model, Name, Scalar, Sha256, Text, Time

_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
Cited = Annotated[str, StringConstraints(pattern=rf"^{_NAME}/{_NAME}/{_NAME}$", max_length=302)]
"""A document of a service, from outside it: `site/model/name`."""


class Artifact(Model):
    """The model, by its bytes or by a name; either is enough."""

    name: Text | None = Field(
        None,
        description="File name, repository or served name, in any case of letters; * stands for anything.",
    )
    sha256: Sha256 | None = Field(None, description="SHA-256 of the bytes of its (first) file.")


class Requirement(Model):
    """One setting that this model requires, forbids, prefers, or allows only where somebody asked for it."""

    factor: Address = Field(description="The setting, without its process.")
    must: Literal["required", "forbidden", "opt-in", "phase-limited", "preferred"] = Field(
        description="What a deployment must do about it; what is preferred is told and binds none."
    )
    values: list[Scalar] = Field(
        default_factory=list,
        description="Effective values that are meant; none: any value but off, set by somebody or switched on by default.",
    )
    at_least: FiniteFloat | int | None = Field(None, description="Of a required number: the smallest.")
    at_most: FiniteFloat | int | None = Field(None, description="Of a required number: the largest.")
    phases: list[Name] = Field(
        default_factory=list,
        description="Where a phase-limited setting may be used: a process by its role (prefill), or bring-up, benchmark; serving is a phase, too.",
    )
    severity: Literal["boot-blocker", "crash-at-concurrency", "correctness", "performance"] = Field(
        description="What happens otherwise."
    )
    because: Text = Field(description="Why, in a sentence that helps in a year.")
    scope: Text | None = Field(None, description="Where this was seen: devices, drivers, load.")
    builds: list[Name] = Field(
        default_factory=list, description="Builds that are affected; none: every build."
    )
    entries: list[Cited] = Field(default_factory=list, description="Ledger entries that show it.")
    runs: list[Cited] = Field(default_factory=list, description="Runs that show it.")
    written: list[Text] = Field(default_factory=list, description="Where else it is written.")
    at: Time | None = Field(
        None, description="When it was learnt: what was deployed before is a gate, and no error."
    )


class OptedIn(Model):
    """An opt-in setting that somebody asked for."""

    factor: Address = Field(description="The setting, without its process.")
    stacks: list[Cited] = Field(min_length=1, description="Stacks that may use it: site/model/name.")
    because: Text = Field(description="Who asked for it, and why.")


class KnownGood(Model):
    """The registry of one model for one engine family."""

    hio: Literal["known-good/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence about the model.")
    engine: Name = Field(description="Engine family whose settings these are.")
    models: list[Artifact] = Field(
        min_length=1, description="The model that this is about; one that matches is enough."
    )
    opted_in: list[OptedIn] = Field(default_factory=list, description="Opt-in settings that were asked for.")
    settings: list[Requirement] = Field(default_factory=list, description="What it needs.")
