"""Redactions: entries that name bytes which had to go, such as a leaked secret (contract 1.4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from hio_validate.diagnostic import Diagnostic, Location, Severity
from hio_validate.history.git import TRUE_HISTORY, git
from hio_validate.history.hidden import Place
from hio_validate.history.record import Record, digest_of, read_all

RULE = "redaction-incomplete"
Redactions = Mapping[tuple[str, str], str]
"""(file, digest of the bytes that had to go) -> the entry that says so."""


def of(record: Record) -> Redactions:
    """What the redactions at a commit name."""
    found = {}
    for entry in record.of("redaction"):
        listed = entry.said.get("redacts")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict):
                found[str(each.get("file")), str(each.get("digest"))] = entry.path
    return found


def still_there(at: Place, redacted: Redactions) -> Iterator[Diagnostic]:
    """A finding for each redacted digest that a file at HEAD has, wherever it stands in the git repository."""
    if not redacted:
        return
    wanted = {digest: entry for (_, digest), entry in redacted.items()}
    stands = _everything(at)
    for id_, raw in read_all(at.root, stands):
        digest = digest_of(raw)
        for path in stands[id_] if digest in wanted else ():
            yield Diagnostic(
                RULE,
                Severity.ERROR,
                f"the bytes {digest[:19]}… were redacted and still stand at HEAD, in {path}",
                Location(wanted[digest]),
                f"take them out of {path}, too; what was pushed is known: change the secret itself",
            )


def _everything(at: Place) -> dict[str, list[str]]:
    """Object id -> the files at HEAD that have its bytes."""
    listed = git(at.root, "ls-tree", "-r", "-z", "--full-tree", at.head, more=TRUE_HISTORY)
    found: dict[str, list[str]] = {}
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        _, kind, id_ = about.decode().split(" ")
        if kind == "blob":
            found.setdefault(id_, []).append(os.fsdecode(path))
    return found
