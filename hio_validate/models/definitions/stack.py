"""stack/v1: WHAT shall run. No path, port, pid, list of hashes or result."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from hio_validate.models.definitions.base import Address, KnownSha256, Model, Name, Scalar, Text

EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]


class Launcher(Model):
    """A script between the unit and the engine; needed to deploy, not to compare."""

    file: Text = Field(description="Path of the script in its own repository.")
    sha256: KnownSha256 = Field(description="SHA-256 of the script, or unknown.")


class Process(Model):
    """One process of the serving path."""

    engine: Name = Field(
        description="Engine family, i.e. which grammar reads argv; `unknown` where none does."
    )
    build: Name | None = Field(None, description="Engine document whose --help gives the defaults.")
    launcher: Launcher | None = Field(None, description="Script that turns an environment into this argv.")
    argv: list[list[str]] = Field(
        default_factory=list, description="Arguments after the program, one flag with its values a line."
    )
    env: dict[EnvironmentName, str] = Field(
        default_factory=dict, description="Environment variables that set something; values are quoted text."
    )
    facts: dict[Address, Scalar] = Field(
        default_factory=dict,
        description="Settings known from elsewhere, for a process whose argv nobody kept.",
    )


class Implicit(Model):
    """A setting in force without any flag."""

    value: Scalar = Field(description="The value in force.")
    because: Text = Field(
        description="What sets it: compiled in, a side effect of initialisation, a runbook."
    )


class Stack(Model):
    """What shall run: processes, engine family, arguments, environment, implicit facts."""

    hio: Literal["stack/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    processes: dict[Name, Process] = Field(
        min_length=1, description="The processes of the serving path, by role."
    )
    implicit: dict[Address, Implicit] = Field(
        default_factory=dict, description="Settings in force without any flag, each with its source."
    )
