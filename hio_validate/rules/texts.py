"""Every text of a document with its path, for the rules that look for texts nobody wrote. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.diagnostic import Path


def texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a value, in its order, with the keys and indices that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from texts(each, (*path, index))
