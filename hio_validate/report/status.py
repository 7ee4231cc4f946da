"""Status of the stacks of services: a table, then what the next level of each lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.report.table import table
from hio_validate.status import Status

Known = Mapping[str, Sequence[Status]]


def as_shape(known: Known) -> dict[str, Any]:
    """Service -> its stacks, as versioned data."""
    return {
        "version": 1,
        "services": {
            service: [
                {
                    "stack": each.stack,
                    "status": str(each.level),
                    "why": each.why,
                    "missing": list(each.missing),
                }
                for each in stacks
            ]
            for service, stacks in known.items()
        },
    }


def render(known: Known, width: int = 80) -> str:
    """The same as text."""
    return "\n".join(_service(service, stacks, width) for service, stacks in known.items())


def _service(service: str, stacks: Sequence[Status], width: int) -> str:
    if not stacks:
        return f"{service}: no stack\n"
    rows = [row for each in stacks for row in _rows(each)]
    return f"{service}\n{table(rows, width, ('stack', 'status', 'because, and what the next level lacks'))}"


def _rows(each: Status) -> list[tuple[str, str, str]]:
    lacks = [("", "", f"- {sentence}") for sentence in each.missing]
    return [(each.stack, str(each.level), each.why), *lacks]
