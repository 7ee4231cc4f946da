"""Who signed the commits that add decisions, approvals and deployments, by an allowed-signers file of ssh."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hio_validate.diagnostic import Diagnostic, Location, Severity
from hio_validate.history.git import TRUE_HISTORY, git
from hio_validate.history.hidden import NotVerifiable, Place
from hio_validate.history.log import Commit, changes, commits, log, short
from hio_validate.history.record import Record, contents
from hio_validate.history.telling import named

RULE = "unsigned-decision"
_KINDS = {"decision", "approval", "deployment"}
_WORDS = tuple(kind.encode() for kind in _KINDS)
_WHY = {
    "N": "is not signed",
    "U": "is signed with a key that the signers file does not list",
    "B": "has a bad signature",
    "X": "has a signature that has expired",
    "Y": "has a signature whose key has expired",
    "R": "has a signature whose key was revoked",
    "E": "has a signature that could not be checked against the signers file",
}


def unsigned(at: Place, record: Record, signers: Path, since: str | None) -> Iterator[Diagnostic | None]:
    """For each decision, approval and deployment added: None where its commit is signed, else a finding."""
    if shutil.which("ssh-keygen") is None:
        raise NotVerifiable("signatures not verifiable: ssh-keygen is not installed")
    added = _adding(at, set(_decisions(record)), since)
    letters = _letters(at, signers, {commit.id for _, commit in added})
    for path, commit in added:
        why = _WHY.get(letters[commit.id], f"has a signature of state {letters[commit.id]}")
        yield (
            None
            if letters[commit.id] == "G"
            else Diagnostic(
                RULE,
                Severity.ERROR,
                f"{named(path)} was added in commit {commit}, which {why}",
                Location(path),
                f"git show --show-signature {short(commit.id)}; a signed entry that confirms it can follow",
            )
        )


def _decisions(record: Record) -> Iterator[str]:
    """Files of the entries whose commits must be signed."""
    from hio_validate.source import read  # only where signatures are asked for

    entries = [path for path, kind in record.frozen.items() if kind == "entry"]
    for path, raw in contents(record, entries):
        if any(word in raw for word in _WORDS):
            data = read(raw, path).data
            if isinstance(data, dict) and data.get("kind") in _KINDS:
                yield path


def _adding(at: Place, paths: set[str], since: str | None) -> list[tuple[str, Commit]]:
    """(file, commit) wherever a commit brought one of these files that none of its parents had."""
    which = f"{since}..{at.head}" if since else at.head
    with log(at.root, which, status="A") as running:
        added = Counter(
            (change.path, change.commit) for change in changes(running, at.prefix) if change.path in paths
        )
    known = commits(at.root, (commit for _, commit in added), at.prefix)
    times = ((path, known[commit], times) for (path, commit), times in added.items())
    return sorted((path, commit) for path, commit, many in times if many >= len(commit.parents))


def _letters(at: Place, signers: Path, ids: set[str]) -> dict[str, str]:
    """Commit -> git's letter for its signature. Only ssh keys of the signers file count."""
    settings = (f"gpg.ssh.allowedSignersFile={signers}", "gpg.ssh.program=ssh-keygen", "gpg.program=false",
                "gpg.x509.program=false", "log.showSignature=false")  # fmt: skip
    words = [word for setting in settings for word in ("-c", setting)]
    asked = "".join(f"{id_}\n" for id_ in ids).encode()
    said = git(
        at.root,
        *words,
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "--format=%H %G?",
        stdin=asked,
        more=TRUE_HISTORY,
    )
    return dict(line.split(" ") for line in said.decode().splitlines()) if ids else {}
