"""hio audit anchor: what every later history must contain, as entries of the ledgers or as a file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hio_validate import appending
from hio_validate.cli.loading import load_repo
from hio_validate.cli.new_files import create
from hio_validate.cli.shared import stop
from hio_validate.history import anchors
from hio_validate.history.hidden import place
from hio_validate.ledger import Ledger, ledgers
from hio_validate.repo import Repo

_NEVER = "already; an anchor is never replaced"


def anchor(root: Path, repo: Path | None, service: str | None, by: str, output: Path | None) -> None:
    """Write the anchor of HEAD. Raises NotVerifiable, GitError."""
    head = place(root).head
    for path in anchors.uncommitted(root):
        stop(
            f"{path} has changes that no commit has; commit the ledger first, an anchor is about what is committed",
            1,
        )
    _, found = load_repo(repo)
    books = _books(found, service)
    now = datetime.now(UTC)
    if output is not None:
        tips = {book.service: _tips(book) for book in books}
        create(output, anchors.exported(head, tips, by, f"{now:%Y-%m-%dT%H:%M:%SZ}").encode(), _NEVER)
        return
    for book in books:
        named = f"{now:%Y-%m-%d}-anchor-{head[:10]}"
        try:
            file, content = appending.entry(
                found, book, "anchor", named, f"{now:%Y-%m-%dT%H:%M:%SZ}", by, {"commit": head}, {}
            )
        except appending.AlreadyThere as error:
            stop(str(error), 1)
        except appending.CannotAppend as error:
            stop(str(error), 2)
        create(root / file, content, _NEVER, file)


def _books(found: Repo, service: str | None) -> list[Ledger]:
    books = ledgers(found)
    unread = next(
        (item.file for item in found.items if item.model is None and item.file.startswith("ledger/")), None
    )
    if unread is not None:
        stop(f"{unread} cannot be read, so the ledger's tips are not known; hio validate says why", 1)
    if service is not None and service not in books:
        stop(f"{service} has no ledger here; there are {', '.join(sorted(books)) or 'none'}", 2)
    if not books:
        stop("no ledger has an entry yet, so there is nothing to anchor", 2)
    return [books[each] for each in sorted(books) if service in (None, each)]


def _tips(book: Ledger) -> list[str]:
    return [f"{tip}@{book.entries[tip].document.digest}" for tip in sorted(book.tips)]
