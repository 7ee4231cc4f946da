"""What an importer of one format is, and the helpers that several share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from hio_validate.evidence.observed import Fact, Observation
from hio_validate.importing.results.source import Source

_LONGEST = 200
"""Characters of a foreign value."""
_MOST = 200
"""Foreign keys of one record."""


class Importer(NamedTuple):
    """One format. A generation of it is a version that names or counts something otherwise."""

    format: str
    """Kebab-case, e.g. vllm-bench."""
    about: str
    """What writes it, in a few words."""
    recognises: Callable[[Source], bool]
    """Whether a file is of this format, by its head; never raises for content."""
    read: Callable[[Source], Iterator[Observation]]
    """Its records, one after the other. Raises CannotImport."""
    generation: Callable[[Source], str | None]
    """Which version wrote it; None: the file does not say."""
    unknown: tuple[str, ...]
    """What this source cannot tell, each a few words; the guide's table and every imported document show them."""
    content: bool = False
    """Whether files of this format may hold prompts or answers; their bytes are then kept only when asked for."""


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def foreign(values: Mapping[str, Any], known: frozenset[str] | set[str], prefix: str = "") -> dict[str, Fact]:
    """The keys that nobody knows, with their values as facts; lists and objects as cut JSON text."""
    import json  # only where something is foreign

    found: dict[str, Fact] = {}
    for key, value in values.items():
        if key in known or value is None:
            continue
        if len(found) == _MOST:
            found[f"{prefix}..."] = "more foreign keys than are kept"
            break
        text = value if isinstance(value, str | bool | int | float) else json.dumps(value)
        found[prefix + key] = text[:_LONGEST] if isinstance(text, str) else text
    return found
