"""What was imported: drafts as YAML documents with what is open as comments, and everything as versioned data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.importing.configurations.draft import Draft
from hio_validate.importing.results.reading import Reading
from hio_validate.importing.results.snapshot_pairs import Between
from hio_validate.report import between


def render(drafts: Sequence[Draft]) -> str:
    """The drafts as one YAML stream; each document of it is a stack."""
    return "---\n".join(draft.content("").decode() for draft in drafts)


def as_shape(
    drafts: Sequence[Draft],
    results: Sequence[dict[str, Any]],
    refused: Sequence[str],
    pairs: Sequence[Between] = (),
) -> dict[str, Any]:
    """Everything as versioned data; report/results.py has the shape of results."""
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
        "results": list(results),
        "between": [between.as_shape(each) for each in pairs],
        "refused": list(refused),
    }


def summary(drafts: Sequence[Draft], readings: Sequence[Reading], refused: Sequence[str]) -> str:
    """One line for whoever sees the terminal."""
    said = []
    if drafts or not readings:
        count = sum(len(draft.open) for draft in drafts)
        said += [_times(len(drafts), "draft"), f"{_times(count, 'thing')} open" if count else "nothing open"]
    if readings:
        said += [_times(len(readings), "result file"), _times(sum(each.count for each in readings), "record")]
    return ", ".join(said + ([f"{len(refused)} refused"] if refused else []))


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
