"""Whether git shows the history as it is: what makes it not verifiable, and what puts another one in its place.

Invariant: a history of which a part is missing is never judged, so nothing is blamed on where it was cut off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hio_validate.diagnostic import Diagnostic, Location, Severity
from hio_validate.history.git import TRUE_HISTORY, GitError, git, path_of
from hio_validate.history.log import Commit, commits, short
from hio_validate.history.record import Record
from hio_validate.history.trees import unborn

RULE = "history-hidden"


class NotVerifiable(Exception):
    """The history cannot be audited; the message says why, and what to do."""


class Place(NamedTuple):
    """Where an audit stands: the folder of the rooms, its path from the top of the work tree, the commit."""

    root: Path
    prefix: str
    """Empty, or with `/` at its end."""
    head: str
    grafts: Path


class Graft(NamedTuple):
    """A line of info/grafts: other parents than the commit's own."""

    line: int
    commit: str
    parents: tuple[str, ...]


def place(root: Path) -> Place:
    """HEAD, where the whole history before it is there. Raises NotVerifiable, GitError."""
    asked = ("--is-shallow-repository", "HEAD^{commit}", "--show-prefix", "--git-path", "info/grafts")
    try:
        said = git(root, "rev-parse", *asked)  # told of the true history, git would name no graft file
    except GitError as error:
        if unborn(root):
            raise NotVerifiable("nothing to audit: this branch has no commit yet") from None
        raise error
    shallow, head, rest = said.split(b"\n", 2)
    if shallow == b"true":
        raise NotVerifiable(
            "history not verifiable: this clone is shallow, and what its oldest commits changed cannot be seen; "
            "git fetch --unshallow"
        )
    prefix, grafts = rest.split(b"\n", 1)
    if rest.count(b"\n") > 2:  # a folder has a line feed in its name
        prefix = git(root, "rev-parse", "--show-prefix")[:-1]
        grafts = git(root, "rev-parse", "--git-path", "info/grafts")
    return Place(root, os.fsdecode(prefix), head.decode(), root / path_of(grafts))


def refuse_partial(root: Path) -> None:
    """Raises NotVerifiable in a clone that leaves objects with a remote."""
    pattern = r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$"
    try:
        said = git(root, "config", "--get-regexp", pattern)
    except GitError as error:
        if error.code == 1:
            return
        raise
    setting = said.decode(errors="replace").splitlines()[0]
    raise NotVerifiable(
        f"history not verifiable: this clone is partial ({setting}), and objects that were left out are never fetched; "
        "clone it whole, without --filter"
    )


def shown_otherwise(at: Place, record: Record) -> list[Diagnostic]:
    """A finding for each graft and each replace ref. Raises GitError."""
    grafts, replaced = _grafts(at.grafts), _replaced(at.root)
    if not grafts and not replaced:
        return []
    seen, true = (int(git(at.root, "rev-list", "--count", "HEAD", more=more)) for more in ({}, TRUE_HISTORY))
    shows = f"git shows {seen} commits here, the true history has {true}"
    known = commits(at.root, _existing(at.root, [*(each.commit for each in grafts), *replaced]), at.prefix)
    paths = {id_: path for path, (_, id_) in record.files.items()}
    return [
        *(_of_graft(graft, known, shows) for graft in grafts),
        *(_of_replaced(id_, by, known, paths, shows) for id_, by in replaced.items()),
    ]


def of_graph(said: GitError) -> Diagnostic:
    """The finding for a commit-graph that contradicts the commits."""
    return Diagnostic(
        RULE,
        Severity.ERROR,
        f"git's commit-graph does not say what the commits say ({said}); it was not used for this audit",
        Location(".git/objects/info/commit-graph"),
        "remove it, then git commit-graph write --reachable; find out who wrote it",
    )


def _of_graft(graft: Graft, known: Mapping[str, Commit], shows: str) -> Diagnostic:
    commit = known.get(graft.commit)
    own = f"its own: {_ids(commit.parents)}" if commit else "a commit that is not here"
    return Diagnostic(
        RULE,
        Severity.ERROR,
        f"a graft gives commit {commit or short(graft.commit)} the parents {_ids(graft.parents)}; {own}; {shows}",
        Location(".git/info/grafts", graft.line, 1),
        "the true history was audited; remove the line, and find out who wrote it",
    )


def _of_replaced(
    id_: str, by: str, known: Mapping[str, Commit], paths: Mapping[str, str], shows: str
) -> Diagnostic:
    what = f"commit {known[id_]}" if id_ in known else paths.get(id_, f"the object {short(id_)}")
    return Diagnostic(
        RULE,
        Severity.ERROR,
        f"a replace ref shows {short(by)} in place of {what}; {shows}",
        Location(f"refs/replace/{id_}"),
        f"the true history was audited; git replace -d {short(id_)}, and find out who made it",
    )


def _ids(parents: tuple[str, ...]) -> str:
    return ", ".join(map(short, parents)) or "none"


def _grafts(file: Path) -> list[Graft]:
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise GitError(f"{file} cannot be read: {error.strerror}") from None
    words = ((number, line.split()) for number, line in enumerate(lines, 1) if not line.startswith("#"))
    return [Graft(number, ids[0], tuple(ids[1:])) for number, ids in words if ids]


def _replaced(root: Path) -> dict[str, str]:
    """Object id -> the id of what is shown in its place."""
    listed = git(root, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/replace/")
    return dict(line.split(" ") for line in listed.decode(errors="replace").splitlines())


def _existing(root: Path, ids: list[str]) -> list[str]:
    """Those that are commits here."""
    asked = "".join(f"{id_}\n" for id_ in ids).encode()
    said = git(root, "cat-file", "--batch-check", stdin=asked, more=TRUE_HISTORY).decode(errors="replace")
    return [words[0] for words in map(str.split, said.splitlines()) if words[1:2] == ["commit"]]
