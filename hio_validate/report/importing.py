"""What was imported: YAML documents with what is open as comments, or versioned data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.importing.configurations.draft import Draft


def render(drafts: Sequence[Draft]) -> str:
    """The drafts as one YAML stream; each document of it is a stack."""
    return "---\n".join(draft.content("").decode() for draft in drafts)


def as_shape(drafts: Sequence[Draft], refused: Sequence[str]) -> dict[str, Any]:
    """The drafts as versioned data."""
    return {
        "version": 1,
        "drafts": [
            {
                "name": draft.name,
                "from": draft.origin,
                "stack": draft.data,
                "places": dict(draft.places),
                "open": [
                    {"file": each.file, "line": each.line or None, "what": each.what} for each in draft.open
                ],
            }
            for draft in drafts
        ],
        "refused": list(refused),
    }


def summary(drafts: Sequence[Draft], refused: Sequence[str]) -> str:
    """One line for whoever sees the terminal."""
    count = sum(len(draft.open) for draft in drafts)
    said = f"{len(drafts)} draft{'' if len(drafts) == 1 else 's'}"
    said += f", {count} thing{'' if count == 1 else 's'} open" if count else ", nothing open"
    return said + (f", {len(refused)} refused" if refused else "")
