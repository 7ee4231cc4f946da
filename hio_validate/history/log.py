"""What commits changed: `git log --raw` read as it comes.

Invariants: every parent of a merge is compared, so that nothing hides in a merge; no setting of the user or of
the repository changes what is told; memory holds what stands in the rooms and was not merely added.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hio_validate.history.git import TRUE_HISTORY, GitError, Running
from hio_validate.places import ROOMS

REGULAR = ("100644", "100755")
LINK, SUBMODULE = "120000", "160000"

_SETTINGS = ("log.showSignature=false", "log.diffMerges=separate", "log.showRoot=true", "diff.orderFile=/dev/null",
             "log.follow=false")  # fmt: skip
_RAW = ("--raw", "--no-renames", "-m", "--no-abbrev", "-z", "--no-color", "--no-relative", "--encoding=UTF-8",
        "--ignore-submodules=none", "--no-show-signature")  # fmt: skip


class Change(NamedTuple):
    """One file of one commit that differs from one of its parents."""

    commit: str
    status: str
    """A added, M bytes or mode, D deleted, T another type: as git says it without renames."""
    old_mode: str
    new_mode: str
    old: str
    new: str
    path: str
    """From the root of the rooms."""
    outside: str = ""
    """From the top of the work tree, where it stood in rooms of another root; `path` is from that root then."""


class Commit(NamedTuple):
    """A commit with all it changed in the rooms, what it added too; once per parent of a merge."""

    id: str
    parents: tuple[str, ...]
    author: str
    date: str
    changes: list[Change]

    def __str__(self) -> str:
        return f"{short(self.id)} ({self.date}, {self.author})"


def short(id_: str) -> str:
    """An id as people cite it."""
    return id_[:10]


def log(root: Path, *which: str, status: str = "a", settings: Sequence[str] = ()) -> Running:
    """git begins to tell what was changed, deleted or turned into another type, all but added. Raises GitError.

    `status` is git's filter, "A" for what was added alone.
    """
    # No pathspec: git would compare every tree twice, once to simplify history, which could hide a merge.
    return _running(root, "%H", f"--diff-filter={status}", *which, settings=settings)


def changes(running: Running, prefix: str) -> Iterator[Change]:
    """The changes of files in the rooms below the prefix, newest commit first, and deletions in any other rooms.

    Raises GitError.
    """
    return (change for _, change in _read(running.pieces(), prefix.encode()) if change is not None)


def commits(root: Path, ids: Iterable[str], prefix: str) -> dict[str, Commit]:
    """Some commits in full. Raises GitError."""
    found: dict[str, Commit] = {}
    given = [id_.encode() + b"\n" for id_ in dict.fromkeys(ids)]
    if not given:
        return found  # git would tell of HEAD
    format_ = "%H%n%P%n%as%n%an"
    with _running(root, format_, "--no-walk=unsorted", "--stdin", stdin=given) as running:
        for header, change in _read(running.pieces(), prefix.encode()):
            id_, parents, date, author = header.split("\n", 3)
            commit = found.setdefault(id_, Commit(id_, tuple(parents.split()), author, date, []))
            if change is not None:
                commit.changes.append(change)
    return found


def _running(
    root: Path, format_: str, *which: str, settings: Sequence[str] = (), stdin: Iterable[bytes] = ()
) -> Running:
    configured = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    words = (*configured, "log", *_RAW, f"--format=%x01{format_}", *which)
    return Running(root, *words, stdin=stdin, more=TRUE_HISTORY)


def _read(pieces: Iterable[bytes], prefix: bytes) -> Iterator[tuple[str, Change | None]]:
    """(header, None) for each commit and parent, then (header, change) for each file in the rooms."""
    rooms = tuple(prefix + room.encode() for room in ROOMS)
    inside = tuple(room + b"/" for room in rooms)
    anywhere = re.compile(rb"(?:.*?/)??((?:%s)/.+)" % b"|".join(room.encode() for room in ROOMS), re.DOTALL)
    header, about = "", b""
    for token in _tokens(pieces):
        if about:
            if token.startswith(inside) or token in rooms:
                yield header, _change(header, about, token[len(prefix) :])
            elif about.endswith(b" D") and (other := anywhere.fullmatch(token)):
                yield header, _change(header, about, other[1])._replace(outside=os.fsdecode(token))
            about = b""
        elif token.startswith(b"\x01"):
            header = token[1:].decode(errors="replace")
            yield header, None
        elif token.startswith((b":", b"\n:")):
            about = token
        elif token.strip(b"\n"):
            raise GitError(f"git log said something unexpected: {token[:60]!r}")


def _tokens(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest.strip(b"\n"):
        raise GitError("git log ended in the middle of a line")


def _change(header: str, about: bytes, path: bytes) -> Change:
    old_mode, new_mode, old, new, status = about.lstrip(b"\n:").decode().split(" ")
    return Change(header.partition("\n")[0], status[:1], old_mode, new_mode, old, new, os.fsdecode(path))
