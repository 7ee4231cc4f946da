"""A new row of a registry: judged before it is written, comments kept.

Invariant: what is recorded already, what contradicts it, and evidence that does not exist are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.known_good.agreement import between, disagreements, is_placeholder
from hio_validate.models import reader
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import refusals
from hio_validate.models.known_good import KnownGood
from hio_validate.repo import Item, Repo
from hio_validate.settings.knowledge import Settings
from hio_validate.source.edit import Append, Set, edit

_CITED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*){2}")
_PLAIN = re.compile(r"(?:0|-?[1-9][0-9]{0,14})")


class CannotRecord(Exception):
    """A row that is not recorded; says why, and what to do."""


def value_of(word: str) -> str | bool | int:
    """A value of a command line as a document states it."""
    if word in ("true", "on"):
        return True
    if word in ("false", "off"):
        return False
    return int(word) if _PLAIN.fullmatch(word) else word


def with_evidence(row: Mapping[str, Any], evidence: Sequence[str], repo: Repo) -> dict[str, Any]:
    """A row with its evidence sorted into entries, runs and what is written elsewhere. Raises CannotRecord."""
    entries, runs, written = [], [], []
    for each in evidence:
        if not _CITED.fullmatch(each):
            written.append(each)
        elif repo.find("entry/v1", each) is not None:
            entries.append(each)
        elif repo.find("run/v1", each) is not None:
            runs.append(each)
        else:
            raise CannotRecord(
                f"no entry and no run is called {each}; evidence is SITE/NAME/ID, or where it is written"
            )
    named = (("entries", entries), ("runs", runs), ("written", written))
    return {**row, **{key: said for key, said in named if said}}


def recorded(row: Mapping[str, Any], item: Item, repo: Repo) -> bytes:
    """A registry with one more row. Raises CannotRecord and CannotEdit."""
    if item.model is None:
        raise CannotRecord(f"{item.file} cannot be read; hio validate says why")
    checked(row, item.model, item.file, repo)
    if "settings" in item.document.data:
        return edit(item.document.raw, [Append(("settings",), dict(row))])
    return edit(item.document.raw, [Set(("settings",), [dict(row)])])


def checked(row: Mapping[str, Any], registry: KnownGood | None, file: str, repo: Repo) -> None:
    """Raises CannotRecord for a row that is not valid, is recorded already, or contradicts what is."""
    if is_placeholder(str(row.get("because", ""))):
        raise CannotRecord("because says nothing yet; write why, in a sentence that helps in a year")
    data = {
        "hio": "known-good/v1",
        "name": "row",
        "engine": "any",
        "models": [{"name": "any"}],
        "settings": [dict(row)],
    }
    try:
        alone: KnownGood = reader("known-good/v1").validate_python(data)
    except ValidationError as error:
        wrong_ones = refusals(error, "known-good/v1", data)
        said = "; ".join(f"{each.message}; {each.help}".removesuffix("; ") for each in wrong_ones)
        raise CannotRecord(said) from None
    wrong = next(disagreements(alone, None), None)
    if wrong:
        raise CannotRecord(wrong.message)
    for build in alone.settings[0].builds:
        if repo.find("engine/v1", build) is None:
            raise CannotRecord(f"no build is called {build}; hio engine learn records one")
    family = Settings(repo).family(registry.engine) if registry else None
    for number, other in enumerate(registry.settings if registry else ()):
        said = between(alone.settings[0], other, family)
        if said:
            raise CannotRecord(f"{file}, setting {number + 1}: {said}; correct the one that is wrong")
