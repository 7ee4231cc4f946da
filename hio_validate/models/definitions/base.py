"""What all documents share: strictness, names, digests, pins, times. No I/O.

Invariant: a model accepts exactly the documents its JSON Schema accepts (tests/models/test_schema.py), so an
editor and `hio validate` never disagree. Whatever only another document can refute belongs to a rule.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints


class Model(BaseModel):
    """Strict, closed and frozen: no key beyond the named ones, no value of another type."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        defer_build=True,
        populate_by_name=False,
        allow_inf_nan=False,
    )


def _text(pattern: str, longest: int | None = None) -> Any:
    """A text constraint. `$` means the very end: a line feed behind it is refused."""
    return StringConstraints(pattern=pattern, max_length=longest)


_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
Name = Annotated[str, _text(rf"^{_NAME}$", 100)]
"""The file's name without its ending (a run's: its folder)."""

Service = Annotated[str, _text(rf"^{_NAME}/{_NAME}$", 201)]
"""One served model at one site: `site/model`."""

Reference = Annotated[str, _text(rf"^({_NAME}/{_NAME}/)?{_NAME}$", 302)]
"""A name in the same service, or `site/model/name` in another one."""

Pin = Annotated[str, _text(rf"^({_NAME}/{_NAME}/)?{_NAME}@sha256:[0-9a-f]{{64}}$")]
"""A reference and the SHA-256 of the file's bytes: what is pinned is frozen (contract 1.4)."""

Sha256 = Annotated[str, _text(r"^[0-9a-f]{64}$")]
"""64 hexadecimal digits, as `sha256sum` prints them."""

Digest = Annotated[str, _text(r"^sha256:[0-9a-f]{64}$")]
"""The digest of a file's bytes: `sha256:` and what `sha256sum` prints."""

CommitId = Annotated[str, _text(r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
"""Full id of a git commit."""

KnownSha256 = Annotated[str, _text(r"^([0-9a-f]{64}|unknown)$")]
"""A SHA-256, or `unknown`."""

Time = Annotated[
    str, _text(r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z$")
]
"""A moment in UTC: `2026-09-16T23:58:00Z`."""

Text = Annotated[str, StringConstraints(min_length=1)]
Count = Annotated[int, Field(ge=0)]
AtLeastOne = Annotated[int, Field(ge=1)]
Scalar = str | bool | int | FiniteFloat
"""One value as a document states it."""

Address = Annotated[str, _text(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", 200)]
"""A setting: `process.factor`, or the bare factor where only one process has it."""

How = Literal[
    "declared", "proc", "hash", "health", "props", "slots", "models", "log", "gguf", "profile", "unknown"
]
"""How a field is known (contract 1.5): declared by a person, observed (and where), or unknown."""


class FileHash(Model):
    """A file kept beside the document, pinned by its bytes."""

    file: Text = Field(description="Path of the file, relative to this document.")
    sha256: Sha256 = Field(description="SHA-256 of the file's bytes.")


class JudgedBy(Model):
    """Which hio wrote this, so that newer rules give notes here and never errors."""

    hio: Text = Field(description="Version of hio.")
    rules: int = Field(ge=1, description="Number of the newest rule it knew (Rule.since).")
    seen: dict[str, Sha256] | None = Field(None, description="Digests of the site and family tables it read.")
