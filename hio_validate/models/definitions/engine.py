"""engine/v1: one build of an engine: its raw --help, its identity, how it was built."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from hio_validate.models.definitions.base import FileHash, KnownSha256, Model, Name, Sha256, Text

FlagName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$", max_length=200)]


class Source(Model):
    """What a person recorded about where the binary came from (declared; contract 1.2)."""

    project: Text | None = Field(None, description="Name of the project, e.g. llama.cpp.")
    revision: Text | None = Field(None, description="Commit, tag or build number that was checked out.")
    archive: FileHash | None = Field(
        None, description="Source archive it was built from; its bytes stay outside the repository."
    )
    flags: dict[FlagName, str] = Field(
        default_factory=dict, description='Build flags, e.g. GGML_NATIVE: "OFF".'
    )
    compiler: Text | None = Field(None, description="Compiler and version.")
    patches: list[FileHash] = Field(
        default_factory=list, description="Patches applied on top of the revision."
    )


class Identity(Model):
    """What the bytes are."""

    kind: Literal["native", "image", "python"] = Field(description="What can be observed of it.")
    executable: KnownSha256 | None = Field(None, description="SHA-256 of the program file.")
    libraries: dict[FlagName, Sha256] = Field(
        default_factory=dict, description="Shared libraries of the engine itself, by soname."
    )
    image: Text | None = Field(None, description="Image digest (kind image).")
    lock: KnownSha256 | None = Field(None, description="SHA-256 of the lock file (kind python).")


class Engine(Model):
    """One build of an engine."""

    hio: Literal["engine/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the name of the folder this file stands in.")
    family: Name = Field(description="Engine family, e.g. llama-server.")
    help: FileHash | None = Field(
        None, description="What --help printed; its catalogue of settings is derived, never committed."
    )
    source: Source | None = Field(None, description="Where the binary came from, as recorded by a person.")
    identity: Identity | None = Field(None, description="Hashes of the program and its own libraries.")
