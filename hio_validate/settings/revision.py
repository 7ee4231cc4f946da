"""The revision of a source as engines and people write it: a build number, a commit, or both (contract 1.2)."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER_AND_COMMIT = re.compile(r"b?(?P<number>[0-9]+)[ -]\(?(?P<commit>[0-9a-f]{7,40}|unknown)\)?")
_NUMBER = re.compile(r"b?(?P<number>[0-9]{3,6})")
_COMMIT = re.compile(r"(?P<commit>[0-9a-f]{7,40})")


class Revision(NamedTuple):
    """A build number (0 = unknown) and a commit ("" = unknown)."""

    number: int = 0
    commit: str = ""

    def contradicts(self, other: Revision) -> bool:
        """Whether both know a number, or a commit, and these differ."""
        numbers = self.number and other.number and self.number != other.number
        mine, theirs = self.commit, other.commit
        commits = mine and theirs and not (mine.startswith(theirs) or theirs.startswith(mine))
        return bool(numbers or commits)


def revision_of(text: str) -> Revision:
    """What a text such as `b10001`, `10001 (3fa2bd1)` or a commit says; nothing where it has another shape."""
    text = text.strip().lower()
    match = _NUMBER_AND_COMMIT.fullmatch(text) or _NUMBER.fullmatch(text) or _COMMIT.fullmatch(text)
    found = match.groupdict() if match else {}
    return Revision(int(found.get("number") or 0), (found.get("commit") or "").replace("unknown", ""))
