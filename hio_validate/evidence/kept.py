"""The records of an observation, from the bytes that it pins.

Invariant: records with other bytes than the pinned ones are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.evidence.observed import Observation
from hio_validate.repo import Item, Repo


class Unkept(Exception):
    """The records are not what the observation pins; says what is wrong."""


def kept_records(item: Item, repo: Repo) -> Iterator[Observation]:
    """The records of an observation/v1, one after the other. Raises Unkept."""
    # Imported here: few repositories have observations, and reading records loads json.
    from hio_validate.evidence.records import Wrong, rows_of

    file = item.model.records.file
    raw = repo.beside(item, file)
    if raw is None or repo.digest_beside(item, file) != item.model.records.sha256:
        raise Unkept(f"{file} of {item.name} is missing, or has other bytes than {item.name} pins")
    for number, found in rows_of(raw):
        if isinstance(found, Wrong):
            raise Unkept(f"{file}:{number} of {item.name} is no record: {found}")
        yield found


def record_of(item: Item, repo: Repo, name: str | None) -> Observation | None:
    """The record of that name, or the only one; None where there is none, or several and none was named. Raises Unkept."""
    found = [each for each in kept_records(item, repo) if name in (None, each.name)]
    return found[0] if len(found) == 1 else None
