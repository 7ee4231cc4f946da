"""The records of an observation, from the bytes that it pins.

Invariant: records with other bytes than the pinned ones are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.evidence.observed import Observation, of_row
from hio_validate.repo import Item, Repo


class Unkept(Exception):
    """The records are not what the observation pins; says what is wrong."""


def kept_records(item: Item, repo: Repo) -> Iterator[Observation]:
    """The records of an observation/v1, one after the other. Raises Unkept."""
    # Imported here: only where the records of an observation are asked for.
    import json

    file = item.model.records.file
    raw = repo.beside(item, file)
    if raw is None or repo.digest_beside(item, file) != item.model.records.sha256:
        raise Unkept(f"{file} of {item.name} is missing, or has other bytes than {item.name} pins")
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield of_row(json.loads(line))
        except (KeyError, TypeError, ValueError, RecursionError):
            raise Unkept(f"{file}:{number} of {item.name} is no record") from None


def record_of(item: Item, repo: Repo, name: str | None) -> Observation | None:
    """The record of that name, or the only one; None where there is none, or several and none was named. Raises Unkept."""
    found = [each for each in kept_records(item, repo) if name in (None, each.name)]
    return found[0] if len(found) == 1 else None
