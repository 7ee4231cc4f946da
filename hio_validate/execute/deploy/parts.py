"""What judges, proves and records a deployment of hio itself; tests of the transaction bring their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hio_validate.execute import service
from hio_validate.execute.deploy import preparing, recording, rolling
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import Parts
from hio_validate.execute.deploy.work import Work
from hio_validate.execute.journal import now
from hio_validate.execute.owned import Identity
from hio_validate.execute.proof import PASSED, Restoration, captured, owner, prefix_reuse, serves_as
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.history import Folder
from hio_validate.models.qualification import Qualification
from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Item, load, name_of
from hio_validate.rules.base import View


def real_parts() -> Parts:
    """Gates of the documents, the live verification, the repository."""
    return Parts(reasons, verify, recording.write)


def reasons(work: Work, state: Path) -> list[str]:
    """Why the work may not be done now: everything is made once more and compared."""
    view = View(load(Folder(Path(work.root))))
    if work.kind == "rollback":
        return rolling.why_not(work, view, state)
    stack = view.repo.find("stack/v1", name_of(work.to.stack or ""), work.service)
    if stack is None or stack.model is None:
        return [f"the stack {name_of(work.to.stack or '')} cannot be read"]
    again = preparing.prepare(
        view, stack, work.service, Path(work.root), state, now(), work.by, known_good, work.name
    )
    return preparing.why_not(work, again)


def known_good(view: View, service: str, stack: Item) -> Iterable[str]:
    """Violations of what is known of the model (contract 8.6)."""
    return ()


def verify(work: Work, who: Identity, deployment: Deployment) -> Restoration:
    """Every check of the new service: the process, its bytes beside those that were qualified, the reuse of a prefix."""
    found = Restoration(work.to.stack)
    checks = found.checks
    new = work.serving(work.to)
    assert new.command is not None
    try:
        whole = replace(new, command=revealed(new.command, work.secrets))
    except Unresolvable as error:
        checks["secrets"] = f"unknown: {error}"
        return found
    assert whole.command is not None
    checks["owner"] = owner(new, who)
    try:
        checks["argv"] = serves_as(whole.command, who.pid) or PASSED
        given, seen = dict(whole.command.environment), proc.environ(who.pid)
        differing = sorted(name for name in given.keys() | seen.keys() if given.get(name) != seen.get(name))
        checks["environ"] = f"differs in {', '.join(differing)}" if differing else PASSED
        checks["started"] = _started(who, deployment)
        checks["prefix-reuse"] = (
            prefix_reuse(whole, whole.command) or PASSED if checks["owner"] == PASSED else "unknown"
        )
        found.process = captured(who.pid, work.port, 10.0)
    except Unobservable as error:
        checks["capture"] = f"unknown: {error.reason}"
    return found


def _started(who: Identity, deployment: Deployment) -> str:
    """A process that began before its files were installed does not run them."""
    begun = deployment.last("starting")
    later = begun is not None and who.ticks >= int(begun["ticks"])
    return PASSED if later else "it started before its files were installed"


def of_receipt(receipt: Qualification) -> Iterable[str]:
    """The names of the files whose bytes were probed."""
    return receipt.process.libraries


_ = service
