"""capture/v1: what a process WAS. Written once by hio, never edited; what is absent is unknown."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import (
    How,
    Model,
    Name,
    Reference,
    Scalar,
    Service,
    Sha256,
    Text,
    Time,
)


class Mapped(Model):
    """A file as the process has it mapped: the hash is of those bytes, never of a path (contract 1.6)."""

    path: Text | None = Field(None, description="Path under which the process mapped it.")
    sha256: Sha256 | None = Field(None, description="SHA-256 of the mapped bytes; absent = unknown.")
    bytes: int | None = Field(None, ge=0, description="Size of the file in bytes.")
    how: How = Field(description="hash where the mapped bytes were read, else unknown.")
    note: Text | None = Field(None, description="e.g. (deleted), or why the hash is unknown.")


class Artifact(Mapped):
    """A model, draft, projector or adapter file."""

    gguf: dict[str, Scalar] | None = Field(
        None,
        description="Header facts: architecture, quantisation, context, tokenizer and template hashes, sampling.",
    )


class Host(Model):
    """The machine, by readings that stay the same between two boots."""

    how: How = Field(description="How these are known.")
    id: Sha256 | None = Field(None, description="SHA-256 over the stable readings below.")
    cpu: Text | None = Field(None, description="Model name of the processor.")
    cores: int | None = Field(None, ge=1, description="Logical processors.")
    memory_bytes: int | None = Field(None, ge=0, description="Installed memory in bytes.")
    kernel: Text | None = Field(None, description="Kernel release.")
    os: Text | None = Field(None, description="Distribution and version.")
    devices: list[Text] = Field(default_factory=list, description="Accelerators and drivers seen.")


class Arguments(Model):
    """The command line of the process."""

    how: How = Field(description="How it is known.")
    value: list[list[str]] | None = Field(
        None, description="All words, the program first, one flag with its values a line."
    )
    withheld: list[Text] = Field(default_factory=list, description="Flags whose secret values are not kept.")


class Environ(Model):
    """The environment of the process: all names, values only of settings."""

    how: How = Field(description="How it is known.")
    names: list[Text] = Field(default_factory=list, description="Every variable's name.")
    values: dict[str, str] = Field(
        default_factory=dict, description="Values of variables that set something."
    )
    withheld: list[Text] = Field(
        default_factory=list, description="Names whose values are secret, hence unknown."
    )


class Threads(Model):
    """Threads and their affinity, from /proc/PID/task."""

    how: How = Field(description="How they are known.")
    count: int | None = Field(None, ge=1, description="Number of threads.")
    affinity: dict[str, int] = Field(
        default_factory=dict, description="CPU list -> threads allowed exactly there."
    )


class Memory(Model):
    """Memory of the process by source, in bytes; a sum of resident sets is no total (contract 5.8)."""

    how: How = Field(description="How it is known.")
    anonymous_bytes: int | None = Field(None, ge=0, description="Resident anonymous memory.")
    file_bytes: int | None = Field(None, ge=0, description="Resident file-backed memory.")
    shared_bytes: int | None = Field(None, ge=0, description="Resident shared memory.")
    swap_bytes: int | None = Field(None, ge=0, description="Swapped out.")


class Listening(Model):
    """The listening socket, owned by this process and by no other."""

    how: How = Field(description="How it is known.")
    address: Text | None = Field(None, description="Address it listens on.")
    port: int | None = Field(None, ge=1, le=65535, description="TCP port.")
    inode: int | None = Field(None, ge=0, description="Inode of the socket.")


class Reported(Model):
    """What the process says about itself over HTTP or in its log; never anyone's prompts (contract 1.8)."""

    how: How = Field(description="How it is known.")
    facts: dict[str, Scalar] = Field(default_factory=dict, description="Dotted name -> value.")
    note: Text | None = Field(None, description="Why there is nothing, e.g. the endpoint is switched off.")


class Started(Model):
    """When the process started."""

    how: How = Field(description="How it is known.")
    at: Time | None = Field(None, description="Start of the process.")
    ticks: int | None = Field(
        None, ge=0, description="Start in clock ticks since boot, which with pid is its identity."
    )


class CapturedProcess(Model):
    """One process as it was."""

    pid: int = Field(ge=1, description="Process id at that moment.")
    family: Name = Field(
        description="Engine family whose grammar reads the arguments; unknown where none does."
    )
    build: Name | None = Field(
        None, description="Engine document with the same executable, if there was one."
    )
    started: Started = Field(description="When it started.")
    executable: Mapped = Field(description="The program as it is mapped.")
    libraries: dict[str, Mapped] = Field(
        default_factory=dict, description="Every mapped library, by file name."
    )
    artifacts: dict[Name, Artifact] = Field(
        default_factory=dict, description="Model and companions, by role."
    )
    argv: Arguments = Field(description="The command line.")
    environ: Environ = Field(description="The environment.")
    threads: Threads = Field(description="Threads and affinity.")
    memory: Memory = Field(description="Memory by source.")
    listening: Listening | None = Field(None, description="The listening socket.")
    health: Reported | None = Field(None, description="/health.")
    props: Reported | None = Field(None, description="/props, without the template's text.")
    slots: Reported | None = Field(None, description="/slots, without prompts.")
    models: Reported | None = Field(None, description="/v1/models.")
    log: Reported | None = Field(None, description="Facts read from the server's log.")


class Capture(Model):
    """What one or more processes of a service were at one moment."""

    hio: Literal["capture/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service | None = Field(None, description="The service it belongs to.")
    stack: Reference | None = Field(None, description="The stack it claims to be.")
    site: Name | None = Field(None, description="The site it ran at.")
    at: Time = Field(description="When it was taken.")
    by: Text = Field(description="The tool that wrote it, e.g. hio 0.1.0.")
    host: Host = Field(description="The machine.")
    processes: dict[Name, CapturedProcess] = Field(min_length=1, description="The processes, by role.")
