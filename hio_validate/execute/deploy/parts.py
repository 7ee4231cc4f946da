"""What judges, proves and records a deployment of hio itself; tests of the transaction bring their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hio_validate.execute.deploy import preparing, recording, rolling
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import Parts
from hio_validate.execute.deploy.work import Work
from hio_validate.execute.journal import now
from hio_validate.execute.owned import Identity
from hio_validate.execute.proof import PASSED, Restoration, owner, prefix_reuse
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.execute.verified import Check
from hio_validate.execute.verify import verify as look_at
from hio_validate.history import Folder
from hio_validate.known_good import violations
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.qualification import Qualification
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Item, Repo, load, name_of
from hio_validate.rules.base import View


def real_parts() -> Parts:
    """Gates of the documents, the live verification, the repository."""
    return Parts(reasons, verify, recording.write)


def reasons(work: Work, state: Path) -> list[str]:
    """Why the work may not be done now: everything is made once more and compared."""
    root = Path(work.root)
    view = View(load(Folder(root)))
    if work.kind == "rollback":
        return rolling.why_not(work, view, state)
    stack = _stack(view.repo, work)
    if stack is None:
        return [f"the stack {name_of(work.to.stack or '')} cannot be read"]
    again = preparing.prepare(view, stack, work.service, root, state, now(), work.by, known_good, work.name)
    return preparing.why_not(work, again)


def known_good(view: View, service: str, stack: Item) -> list[str]:
    """Violations of what is known of the model, one sentence each (contract 8.6)."""
    return [each.message for each in violations(view.repo, service, stack, view.settings)]


def verify(work: Work, who: Identity, deployment: Deployment) -> Restoration:
    """Every check of the new service: the process beside its stack (contract 1.7), its bytes beside those that were
    qualified, its start after the installation, the reuse of a prefix."""
    found = Restoration(work.to.stack)
    repo = load(Folder(Path(work.root)))
    stack, new = _stack(repo, work), work.serving(work.to)
    if stack is None or new.command is None:
        found.checks["stack"] = f"unknown: the stack {name_of(work.to.stack or '')} cannot be read"
        return found
    files = [Path(each.path) for each in work.files if each.after is not None]
    seen = look_at(
        repo, work.service, stack, who.pid, port=work.port, command=new.command, files=files, deadline_s=work.start_s,
        secrets=work.secrets,
    )  # fmt: skip
    found.checks |= {each.name: _told(each) for each in seen.checks}
    found.checks["serves"] = owner(new, who)
    found.checks["qualified bytes"] = _qualified(repo, work, seen.process)
    found.checks["prefix-reuse"] = _reuse(work, found)
    found.process = seen.process
    return found


def _told(check: Check) -> str:
    if check.verdict == "equal":
        return PASSED
    if check.verdict == "not observable":
        return f"unknown: {check.observed}"
    return f"declared {check.declared}, found {check.observed}"


def _reuse(work: Work, found: Restoration) -> str:
    """Only who alone listens is sent a request, and a key."""
    new = work.serving(work.to)
    if found.checks["serves"] != PASSED or new.command is None:
        return "unknown: another process may answer in its place"
    try:
        command = revealed(new.command, work.secrets)
        return prefix_reuse(replace(new, command=command), command) or PASSED
    except (Unobservable, Unresolvable) as error:
        return f"unknown: {error}"


def _qualified(repo: Repo, work: Work, process: CapturedProcess | None) -> str:
    """Whether what runs is, byte for byte, what was probed; of what the receipt does not know nothing is said."""
    item = repo.find("qualification/v1", name_of(work.pins["qualification"]), work.service)
    if item is None or item.model is None or process is None:
        return "unknown: the qualification or the process cannot be read"
    other = list(_of_other_bytes(item.model, process))
    return f"not those that were probed: {', '.join(other)}" if other else PASSED


def _of_other_bytes(receipt: Qualification, process: CapturedProcess) -> Iterator[str]:
    probed = receipt.process
    known = {"executable": probed.executable, **probed.libraries, **probed.artifacts}
    seen = {"executable": process.executable, **process.libraries, **process.artifacts}
    for name, sha256 in known.items():
        if sha256 != "unknown" and (name not in seen or seen[name].sha256 != sha256):
            yield name


def _stack(repo: Repo, work: Work) -> Item | None:
    """The stack with exactly the bytes that are deployed."""
    name, _, digest = (work.to.stack or "").partition("@")
    item = repo.find("stack/v1", name, work.service)
    return item if item is not None and item.model is not None and item.document.digest == digest else None
