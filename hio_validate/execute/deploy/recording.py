"""What a deployment or a rollback leaves in the repository: a capture, the way back, one entry of the ledger.

Invariants: the entry is appended exactly once, after what it pins stands there; it pins the documents that were used,
and where the repository has others by now nothing is recorded. Nothing is committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hio_validate import appending, writing
from hio_validate.execute.deploy import way_back
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import process_of
from hio_validate.execute.deploy.work import Work
from hio_validate.execute.journal import Journal, now
from hio_validate.execute.journaled import sha256
from hio_validate.history import Folder
from hio_validate.ledger import Ledger, ledgers
from hio_validate.observe.capture import capture
from hio_validate.recording import capture_file
from hio_validate.repo import PINNED, Repo, load


class NotRecorded(Exception):
    """What the repository does not take; says why. It stays in the folder of the deployment."""


def write(deployment: Deployment, journal: Journal) -> str:
    """Write the documents and append the entry; the entry's file. Raises NotRecorded, CannotAppend, OSError."""
    work, root = deployment.work, Path(deployment.work.root)
    for file, content in _documents(deployment, journal).items():
        _created(root / file, content, deployment)
    entered = deployment.last("entered")
    if entered is not None and (root / entered["file"]).exists():
        _refuse_another(root / entered["file"], entered["sha256"], deployment)
        return str(entered["file"])
    repo = load(Folder(root))
    _refuse_other_bytes(work, repo)
    file, content = _entry(deployment, repo)
    deployment.keep(content)
    journal.write("entered", file=file, sha256=sha256(content))
    _created(root / file, content, deployment)
    return file


def _documents(deployment: Deployment, journal: Journal) -> dict[str, bytes]:
    """File -> bytes of capture and rollback plan, the same however often this is asked."""
    made = deployment.last("recording")
    if made is None:
        files = {file: deployment.keep(content) for file, content in _written(deployment).items()}
        journal.write("recording", files=files)
        made = {"files": files}
    return {file: deployment.content(sha) for file, sha in made["files"].items()}


def _written(deployment: Deployment) -> dict[str, bytes]:
    work, process = deployment.work, process_of(deployment)
    room = f"manifests/services/{work.service}"
    files = {}
    if process is not None:
        stack = _name(work.to.stack if deployment.has("proven") else work.away.stack)
        file = f"{room}/captures/{work.name}.yaml"
        seen = capture(
            work.name,
            {work.role: process},
            service=work.service,
            stack=stack,
            site=work.site,
            at=datetime.fromisoformat(now()),
        )
        files[file] = capture_file(seen, file)
    if work.kind == "deploy":
        file, content = way_back.file_of(work, str(deployment.folder))
        files[file] = content
    return files


def _entry(deployment: Deployment, repo: Repo) -> tuple[str, bytes]:
    work = deployment.work
    ledger = ledgers(repo).get(work.service, Ledger(work.service, {}))
    names = {role: pin.partition("@")[0] for role, pin in work.pins.items()}
    seen = {"capture": work.name} if process_of(deployment) is not None else {}
    at = now()
    if deployment.has("proven"):
        fields = {"site": work.site, "checks": (deployment.last("proven") or {})["checks"]}
        pins = {**names, **seen, "rollback_plan": work.name}
        return appending.entry(repo, ledger, "deployment", work.name, at, work.by, fields, pins)
    stack = {"stack": _name(work.away.stack)} if work.away.stack else {}
    pins = {**stack, **seen, "rollback_plan": work.deployment or work.name}
    fields = {**_taken_back(deployment), "checks": (deployment.last("restored") or {})["checks"]}
    return appending.entry(repo, ledger, "rollback", work.name, at, work.by, fields, pins)


def _taken_back(deployment: Deployment) -> Mapping[str, Any]:
    """What a rollback entry says was taken back: a deployment, or an attempt and what failed of it."""
    work = deployment.work
    if work.kind == "rollback":
        return {"undoes": work.undoes}
    failed = deployment.last("failed") or {"step": "unknown", "found": {}}
    return {"attempted": work.to.stack, "failed": {"step": failed["step"], **failed["found"]}}


def _refuse_other_bytes(work: Work, repo: Repo) -> None:
    stacks = {"away": work.away.stack, "to": work.to.stack}
    pinned = [(PINNED[role], pin) for role, pin in work.pins.items()]
    pinned += [("stack/v1", pin) for pin in stacks.values() if pin]
    for kind, pin in pinned:
        name, _, digest = pin.partition("@")
        item = repo.find(kind, name, work.service)
        if item is None or item.document.digest != digest:
            raise NotRecorded(
                f"the {kind.partition('/')[0]} {name} has other bytes than those that were used: restore it, "
                "then hio deploy --recover records"
            )


def _created(file: Path, content: bytes, deployment: Deployment) -> None:
    """Write a new file, once."""
    try:
        writing.create(file, content)
    except FileExistsError:
        _refuse_another(file, sha256(content), deployment)


def _refuse_another(file: Path, digest: str, deployment: Deployment) -> None:
    if sha256(file.read_bytes()) != digest:
        raise NotRecorded(
            f"{file} is there already and was not written by {deployment.name}; what belongs there is kept as "
            f"{deployment.folder / 'files' / digest}"
        )


def _name(pin: str | None) -> str:
    return (pin or "").partition("@")[0]
