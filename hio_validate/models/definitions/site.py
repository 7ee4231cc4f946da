"""site/v1: WHERE something runs. Changing it never needs evidence; a review lists it as operational."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import Model, Name, Scalar, Text


class Place(Model):
    """Where one service listens and finds its files."""

    host: Text | None = Field(None, description="Address it listens on.")
    port: int | None = Field(None, ge=1, le=65535, description="TCP port.")
    unit: Text | None = Field(None, description="systemd unit, if one runs it.")
    backend: Literal["local", "systemd", "systemd-user"] | None = Field(
        None, description="What starts and stops it; absent: systemd where a unit is named, else local."
    )
    paths: dict[Name, Text] = Field(
        default_factory=dict, description="What ${name} in a stack's argv or env stands for at this site."
    )
    limits: dict[Name, Scalar] = Field(
        default_factory=dict, description="Resource limits, e.g. memory_max: 16GiB."
    )
    secrets: dict[Name, Text] = Field(
        default_factory=dict, description="Name of a secret -> where it is kept. Never a value."
    )
    targets: dict[Name, dict[Name, Scalar]] = Field(
        default_factory=dict,
        description="What a render target must know that no stack says, e.g. kubernetes: {image: name@sha256:...}.",
    )


class Site(Model):
    """A host or cluster and the services it carries."""

    hio: Literal["site/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence about the machine.")
    services: dict[Name, Place] = Field(
        default_factory=dict, description="Service (without the site) -> its place."
    )
    programs: dict[Name, Text] = Field(
        default_factory=dict,
        description="Build (or engine family, where a stack names no build) -> path of the program on this host.",
    )
    guarded: list[Text] = Field(
        default_factory=list, description="Services of others that a trial must respect."
    )
