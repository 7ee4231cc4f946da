"""The kinds of documents, one file each, compiled from definitions/. KINDS is the flat list of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from hio_validate.models.core import SchemaValidator

KINDS = (
    "stack/v1",
    "site/v1",
    "engine/v1",
    "family/v1",
    "capture/v1",
    "matrix/v1",
    "fixture/v1",
    "tasks/v1",
    "plan/v1",
    "run/v1",
    "observation/v1",
    "campaign/v1",
    "campaign-run/v1",
    "receipt/v1",
    "ceilings/v1",
    "shape/v1",
    "estimate/v1",
    "profile/v1",
    "qualification/v1",
    "rollback/v1",
    "known-good/v1",
    "entry/v1",
)
"""What a document's `hio:` line may say."""


@cache
def reader(kind: str) -> SchemaValidator:
    """The validator of a kind; built when the first document of that kind is read."""
    return SchemaValidator(document(kind))


def document(kind: str) -> Any:
    """The core schema of a kind (pydantic_core.core_schema)."""
    return import_module(f"hio_validate.models.{module_of(kind)}").DOCUMENT


def module_of(kind: str) -> str:
    """The module that defines a kind: its name as Python spells it."""
    return kind.partition("/")[0].replace("-", "_")
