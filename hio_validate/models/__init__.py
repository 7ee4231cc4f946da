"""The kinds of documents, one file each. KINDS is the flat list of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from hio_validate.models.capture import Capture
from hio_validate.models.engine import Engine
from hio_validate.models.entry import Entry
from hio_validate.models.family import Family
from hio_validate.models.matrix import Matrix
from hio_validate.models.run import Run
from hio_validate.models.site import Site
from hio_validate.models.stack import Stack

KINDS: dict[str, Any] = {
    "stack/v1": Stack,
    "site/v1": Site,
    "engine/v1": Engine,
    "family/v1": Family,
    "capture/v1": Capture,
    "matrix/v1": Matrix,
    "run/v1": Run,
    "entry/v1": Entry,
}
"""What a document's `hio:` line may say -> the type that reads it."""

FROZEN_FROM_FIRST_COMMIT = frozenset({"capture/v1", "run/v1", "entry/v1"})


@cache
def reader(kind: str) -> TypeAdapter[Any]:
    """The validator of a kind; built when the first document of that kind is read."""
    return TypeAdapter(KINDS[kind])
