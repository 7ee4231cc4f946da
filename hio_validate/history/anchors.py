"""Anchors: commits and ledger tips that every later history must contain (contract 8.1).

An anchor is an entry of the ledger, or a small JSON file that is kept elsewhere: whoever rewrites a history rewrites
its entries, too, and only what is kept outside can tell.

    {"hio": "anchor/v1", "commit": "<full id>", "services": {"lab/gemma": ["<entry id>@sha256:<digest>"]}}
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hio_validate.diagnostic import Diagnostic, Location, Severity
from hio_validate.history.git import TRUE_HISTORY, git
from hio_validate.history.hidden import Place
from hio_validate.history.log import short
from hio_validate.history.record import Record, digest_of, read_all
from hio_validate.places import place_of

RULE = "anchor-lost"
KIND = "anchor/v1"


class NoAnchor(Exception):
    """A file is no anchor; the message says why."""


class Anchor(NamedTuple):
    """A commit, and the tips of each service's ledger at it, as `id@sha256:…`."""

    file: str
    commit: str
    services: Mapping[str, Sequence[str]]


def exported(commit: str, services: Mapping[str, Sequence[str]], by: str, at: str) -> str:
    """The JSON text of an anchor to keep elsewhere."""
    import json  # only where an anchor is kept elsewhere

    said = {"hio": KIND, "commit": commit, "services": services, "by": by, "at": at}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def read_exported(file: Path) -> Anchor:
    """An exported anchor. Raises NoAnchor, OSError."""
    import json  # only where an anchor is kept elsewhere

    try:
        said: Any = json.loads(file.read_bytes())
    except ValueError as error:
        raise NoAnchor(f"{file} is no JSON: {error}") from None
    if not isinstance(said, dict) or said.get("hio") != KIND:
        raise NoAnchor(
            f'{file} is no anchor: expected "hio": "{KIND}", as hio audit anchor --output writes it'
        )
    commit, services = said.get("commit"), said.get("services")
    if not isinstance(commit, str) or not isinstance(services, dict) or not _are_tips(services):
        raise NoAnchor(f"{file} names no commit and tips, as hio audit anchor --output writes them")
    return Anchor(str(file), commit, services)


def recorded(record: Record) -> list[Anchor]:
    """The anchors of the ledgers."""
    return [
        Anchor(
            each.path,
            str(each.said.get("commit", "")),
            {str(each.said.get("service", "")): _texts(each.said)},
        )
        for each in record.of("anchor")
    ]


def uncommitted(root: Path) -> list[str]:
    """Files of the ledgers that differ from HEAD or are not in it. Raises GitError."""
    listed = git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", "ledger")
    return [os.fsdecode(line[3:]) for line in listed.split(b"\0")[:-1]]


def lost(at: Place, record: Record, anchors: Sequence[Anchor]) -> Iterator[Diagnostic]:
    """A finding for each anchor whose commit is no ancestor of HEAD, and for each tip that is not there as it was."""
    behind = not_behind(at, [anchor.commit for anchor in anchors])
    for anchor in anchors:
        why = behind.get(anchor.commit)
        if why:
            yield _finding(
                anchor,
                f"the anchored commit {short(anchor.commit) or 'of no id'} {why}: history was rewritten",
            )
        yield from _lost_tips(at, record, anchor)


def lost_since(at: Place, since: str | None) -> Iterator[Diagnostic]:
    """A finding where the commit at which the last audit ended is no ancestor of HEAD."""
    for id_, why in not_behind(at, [since] if since else []).items():
        yield Diagnostic(
            RULE,
            Severity.ERROR,
            f"--since {short(id_)}, where the last audit ended, {why}: history was rewritten, or this is another branch",
            Location("."),
            "audit the whole history, without --since",
        )


def not_behind(at: Place, ids: Sequence[str]) -> dict[str, str]:
    """Of some commits those that are no ancestors of HEAD, and why. Raises GitError."""
    if not ids:
        return {}
    asked = "".join(f"{id_ or '?'}\n" for id_ in dict.fromkeys(ids)).encode()
    said = git(at.root, "cat-file", "--batch-check=%(objecttype)", stdin=asked, more=TRUE_HISTORY).decode()
    kinds = dict(zip(dict.fromkeys(ids), said.splitlines(), strict=True))
    here = [id_ for id_, kind in kinds.items() if kind == "commit"]
    beside = (
        git(
            at.root,
            "rev-list",
            "--stdin",
            "--not",
            at.head,
            stdin="".join(f"{i}\n" for i in here).encode(),
            more=TRUE_HISTORY,
        )
        if here
        else b""
    )
    outside = set(beside.decode().split())
    return {id_: "is not in this repository" for id_ in kinds if id_ not in here} | {
        id_: "is no ancestor of HEAD" for id_ in here if id_ in outside
    }


def _lost_tips(at: Place, record: Record, anchor: Anchor) -> Iterator[Diagnostic]:
    for service, tips in anchor.services.items():
        for tip in tips:
            name, _, digest = tip.partition("@")
            paths = [
                path
                for path in record.files
                if path.startswith(f"ledger/{service}/") and place_of(path)[0] == name
            ]
            found = {
                digest_of(raw) for _, raw in read_all(at.root, [record.files[path][1] for path in paths])
            }
            if digest not in found:
                why = "has other bytes now" if found else "is gone"
                yield _finding(
                    anchor,
                    f"entry {name} of {service}, a tip when {short(anchor.commit)} was anchored, {why}",
                )


def _finding(anchor: Anchor, message: str) -> Diagnostic:
    return Diagnostic(
        RULE,
        Severity.ERROR,
        message,
        Location(anchor.file),
        "find the history that has it (another clone, the remote's reflog) and keep that one; "
        "an anchor is never taken back",
    )


def _are_tips(services: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(tips, list) and all(isinstance(tip, str) for tip in tips) for tips in services.values()
    )


def _texts(said: Mapping[str, Any]) -> list[str]:
    after = said.get("after")
    return [tip for tip in after if isinstance(tip, str)] if isinstance(after, list) else []
