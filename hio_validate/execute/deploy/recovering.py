"""Taking up a deployment that nobody brought to its end: what is proven is finished, everything else is taken back."""

from __future__ import annotations

from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import Parts, Transaction
from hio_validate.execute.journal import JournalLost
from hio_validate.execute.journaled import Unreadable


class CannotRecover(Exception):
    """The host stays unsafe; one sentence with what to do."""


def recover(made: Deployment, parts: Parts) -> str:
    """Bring it to its end; its outcome. Raises CannotRecover. Whoever calls holds the lock of this host."""
    try:
        transaction = Transaction(made.folder, parts)
        transaction.journal.write("recovering")
    except Unreadable as error:
        raise CannotRecover(f"{error}; nothing says what has to be brought back") from None
    except JournalLost as lost:
        raise CannotRecover(f"{lost}; make room in {made.folder} and recover again") from None
    closed = transaction.conclude("guardian and worker died")
    now = Deployment(made.folder)
    if not closed:
        why = (now.last("left-open") or {}).get("why", f"its journal in {made.folder} says how far it came")
        raise CannotRecover(f"{made.name} stays open: {why}; put that right, then recover again")
    return str((now.last("closed") or {})["outcome"])
