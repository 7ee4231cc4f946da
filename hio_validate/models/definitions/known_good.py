"""known-good/v1: what a model needs in order to boot, not to crash and to be right (contract 8.6). Edited by people."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import Address, KnownSha256, Model, Name, Scalar, Text


class Artifact(Model):
    """One file of the model's weights, by what is known of it."""

    name: Text | None = Field(
        None, description="File name, repository or served name; * stands for anything."
    )
    sha256: KnownSha256 | None = Field(None, description="SHA-256 of its bytes, which alone is certain.")


class Requirement(Model):
    """One setting that this model requires, forbids, or allows only where somebody asked for it."""

    factor: Address = Field(description="The setting, without its process.")
    must: Literal["required", "forbidden", "opt-in", "phase-limited"] = Field(
        description="What a deployment must do about it."
    )
    values: list[Scalar] = Field(
        default_factory=list,
        description="Effective values that are meant; none: being set to anything but its default.",
    )
    phases: list[Text] = Field(
        default_factory=list, description="Phases in which a phase-limited setting may be used, e.g. warm-up."
    )
    severity: Literal["boot-blocker", "crash-at-concurrency", "correctness", "performance"] = Field(
        description="What happens otherwise."
    )
    because: Text = Field(description="Why, in a sentence that helps in a year.")
    scope: Text | None = Field(None, description="Where this was seen: devices, drivers, load.")
    builds: list[Name] = Field(
        default_factory=list, description="Builds that are affected; none: every build."
    )
    evidence: list[Text] = Field(
        default_factory=list, description="Entries and runs (site/model/name), or where it is written."
    )


class KnownGood(Model):
    """The registry of one model for one engine family."""

    hio: Literal["known-good/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence about the model.")
    engine: Name = Field(description="Engine family whose settings these are.")
    models: list[Artifact] = Field(
        min_length=1, description="The model that this is about; one that matches is enough."
    )
    opted_in: dict[Address, Text] = Field(
        default_factory=dict, description="Opt-in settings that somebody asked for -> who and why."
    )
    settings: list[Requirement] = Field(default_factory=list, description="What it needs.")
