"""The audit of a history from git alone: was a ledger entry or a frozen document ever altered (contract 1.4, 8.1)?

Invariants: the true history is judged, no graft, no replace ref, no unproven commit-graph; where a part of it is
missing or git fails, there is no verdict. `git log` runs while everything else is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import NamedTuple, TypeVar

from hio_validate.diagnostic import Audited, Diagnostic
from hio_validate.history import anchors, hidden, redactions, signatures, telling
from hio_validate.history.alterations import Course
from hio_validate.history.anchors import Anchor
from hio_validate.history.git import TRUE_HISTORY, GitError, Running, git
from hio_validate.history.hidden import Place
from hio_validate.history.log import changes, log
from hio_validate.history.record import standing
from hio_validate.places import ROOMS

RULES = (telling.RULE, hidden.RULE, anchors.RULE, redactions.RULE, signatures.RULE)
"""The ids of all findings."""
T = TypeVar("T")


class Asked(NamedTuple):
    """What an audit is asked for."""

    since: str | None = None
    """The commit where the last audit ended."""
    anchors: Sequence[Anchor] = ()
    """Anchors that were kept elsewhere."""
    signers: Path | None = None
    """An allowed-signers file of ssh."""


class UnknownRevision(Exception):
    """What was named is no commit; the message says so."""


@dataclass(frozen=True)
class Audit:
    """What was found, and what was looked at."""

    found: tuple[Diagnostic, ...]
    documents: int
    """Documents that stand at HEAD or were altered before."""
    audited: Audited


def audit(root: Path, asked: Asked) -> Audit:
    """Audit the history before HEAD. Raises NotVerifiable, UnknownRevision, GitError."""
    at = hidden.place(root)
    since = _commit(at, asked.since) if asked.since else None
    try:
        return _audit(at, asked, since, graph=True)
    except _Forged as error:
        done = _audit(at, asked, since, graph=False)
        return Audit((hidden.of_graph(error.said), *done.found), done.documents, done.audited)


class _Forged(Exception):
    """The commit-graph says what the commits do not."""

    def __init__(self, said: GitError) -> None:
        super().__init__(str(said))
        self.said = said


def _audit(at: Place, asked: Asked, since: str | None, graph: bool) -> Audit:
    """With `graph` git walks by the commit-graph, where there is one, and proves it meanwhile. Raises _Forged."""
    which = [at.head, *([f"^{since}"] if since else [])]
    by = f"core.commitGraph={str(graph).lower()}"
    status = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", *ROOMS)
    with (
        log(at.root, *which, settings=[by]) as logged,
        Running(at.root, "-c", by, "rev-list", "--count", *which, more=TRUE_HISTORY) as counted,
        Running(at.root, "commit-graph", "verify", "--no-progress", more=TRUE_HISTORY) as verified,
        Running(at.root, *status) as dirty,
    ):
        changed = _beside(lambda: list(changes(logged, at.prefix)))
        hidden.refuse_partial(at.root)
        record = standing(at.root, at.head)
        try:
            course, commits = Course(at, changed(), record), int(_whole(counted))
        except GitError:
            _refuse_forged(verified, graph)
            raise
        _refuse_forged(verified, graph)
        return _judged(course, asked, since, commits, _whole(dirty).count(b"\0"))


def _judged(course: Course, asked: Asked, since: str | None, commits: int, uncommitted: int) -> Audit:
    at, record = course.at, course.record
    known = [*anchors.recorded(record), *asked.anchors]
    signed = list(signatures.unsigned(at, record, asked.signers, since)) if asked.signers else None
    found = [
        *_alterations(course),
        *redactions.still_there(at, redactions.of(record)),
        *hidden.shown_otherwise(at, record),
        *anchors.lost(at, record, known),
        *anchors.lost_since(at, since),
        *(each for each in signed or () if each is not None),
    ]
    kinds = list(record.frozen.values())
    gone = {each.location.file for each in found} & {change.path for change in course.changes}
    audited = Audited(
        head=at.head,
        since=since,
        commits=commits,
        entries=kinds.count("entry"),
        files=len(kinds) - kinds.count("entry"),
        anchors=len(known),
        decisions=None if signed is None else len(signed),
        signed=None if signed is None else signed.count(None),
        uncommitted=uncommitted,
    )
    return Audit(tuple(found), len(record.documents | gone), audited)


def _alterations(course: Course) -> Iterator[Diagnostic]:
    altered = course.alterations()
    told = telling.Telling(course, redactions.of(course.record))
    yield from told.alterations(altered)
    yield from told.never_files({each.change.path for each in altered})


def _whole(running: Running) -> bytes:
    return b"".join(running.pieces())


def _refuse_forged(verified: Running, graph: bool) -> None:
    if not graph:
        return  # git looks at the file all the same
    try:
        _whole(verified)
    except GitError as error:
        raise _Forged(error) from None


def _commit(at: Place, named: str) -> str:
    try:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
        return git(at.root, *words, more=TRUE_HISTORY).decode().strip()
    except GitError:
        raise UnknownRevision(f"{named} is no commit of this repository") from None


def _beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begin work in a thread; the answer waits for it, and raises what it raised."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    def answer() -> T:
        thread.join()
        if failed:
            raise failed[0]
        return done[0]

    thread = Thread(target=run, daemon=True)
    thread.start()
    return answer
