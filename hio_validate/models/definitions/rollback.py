"""rollback/v1: the way back from one deployment, bound to what it found. Written once by hio deploy (contract 12.2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import JudgedBy, Model, Name, Pin, Service, Sha256, Text, Time


class SavedFile(Model):
    """A file of the host as it was before the deployment replaced it."""

    path: Text = Field(description="Absolute path on the host.")
    before: Sha256 | None = Field(
        None, description="SHA-256 of its bytes before; absent: there was no such file."
    )
    after: Sha256 | None = Field(
        None, description="SHA-256 of the bytes that the deployment put there; absent: it was removed."
    )


class Rollback(Model):
    """How to have the earlier stack serve again, for the executor to run and a person to read."""

    hio: Literal["rollback/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml: the deployment's.")
    service: Service = Field(description="The service it is about.")
    site: Name = Field(description="The site.")
    host: Sha256 = Field(
        description="The machine it can be carried out on: SHA-256 of `hio host` and its machine id."
    )
    at: Time = Field(description="When it was written.")
    backend: Literal["local", "systemd", "systemd-user"] = Field(
        description="What starts and stops the service."
    )
    takes_back: Pin = Field(description="The stack that it takes away.")
    restores: Pin | None = Field(
        None, description="The stack that serves again; absent: nothing served before."
    )
    files: list[SavedFile] = Field(default_factory=list, description="Files that are put back.")
    steps: list[Text] = Field(min_length=1, description="What is done, in order, for a person.")
    checks: list[Text] = Field(min_length=1, description="What must be proven afterwards.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
