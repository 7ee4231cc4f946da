"""Whether the documents that a job was prepared from still stand as they were, byte for byte (contract 4.5, 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hio_validate.execute.work import Work
from hio_validate.history import Folder
from hio_validate.ledger import Ledger, ledgers
from hio_validate.repo import Repo, load


def differing(work: Work, repo: Repo) -> str | None:
    """The first document that is gone or has other bytes than those that were used, in words; None where all stand."""
    for kind, pin in _pins(work):
        name, _, digest = pin.partition("@")
        item = repo.find(kind, name, work.service)
        if item is None or item.document.digest != digest:
            found = "is gone" if item is None else "has other bytes than those that were used"
            return f"the {kind.partition('/')[0]} {name} {found}"
    return None


def changed(work: Work) -> str | None:
    """Why what a job stands on holds no longer: a document that differs, an approval that was withdrawn; None where all holds."""
    repo = load(Folder(Path(work.root)))
    said = differing(work, repo)
    if said:
        return f"{said}; an edited document is another plan: restore it, or run the other one"
    corrected = ledgers(repo).get(work.service, Ledger(work.service, {})).corrected
    for each in work.approvals:
        name = each.entry.partition("@")[0]
        if name in corrected:
            return f"the approval {name} ({each.approves}) was corrected by {corrected[name]}"
    return None


def _pins(work: Work) -> Iterator[tuple[str, str]]:
    yield "plan/v1", work.plan
    if work.campaign:
        yield "campaign/v1", work.campaign["campaign"]
    for arm in work.arms.values():
        yield "stack/v1", arm.stack
    for pin in work.fixtures:
        yield "fixture/v1", pin
    if work.tasks:
        yield "tasks/v1", work.tasks.pin
    for each in work.approvals:
        yield "entry/v1", each.entry
    if work.serving and work.serving.stack:
        yield "stack/v1", work.serving.stack
