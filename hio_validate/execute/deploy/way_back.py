"""The way back from a deployment, as a document (rollback/v1) and as steps that a person can take without hio."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hio_validate import __version__
from hio_validate.execute.deploy.work import Work
from hio_validate.recording import modeline
from hio_validate.rules import NEWEST
from hio_validate.source.dump import dump

CHECKS = (
    "owner", "argv", "environment", "started", "prefix-reuse", "executable", "libraries", "model", "health", "slots",
    "props", "swap",
)  # fmt: skip
"""What execute/proof.py checks of a service that serves again."""


def file_of(work: Work, folder: str) -> tuple[str, bytes]:
    """Path in the repository and bytes of the rollback/v1 of a deployment, whose own folder is `folder`."""
    file = f"manifests/services/{work.service}/rollbacks/{work.name}.yaml"
    data = {**document(work, folder), "judged_by": {"hio": __version__, "rules": NEWEST}}
    return file, dump(data, head=modeline("rollback", file))


def document(work: Work, folder: str) -> dict[str, Any]:
    """rollback/v1 of a deployment, as data."""
    data: dict[str, Any] = {
        "hio": "rollback/v1",
        "name": work.name,
        "service": work.service,
        "site": work.site,
        "host": work.found.host,
        "at": work.at[:19] + "Z",
        "backend": work.backend,
        "takes_back": work.to.stack,
    }
    if work.away.stack:
        data["restores"] = work.away.stack
    data["files"] = [
        {"path": each.path, **{key: sha for key in ("before", "after") if (sha := getattr(each, key))}}
        for each in work.files
    ]
    return {**data, "steps": list(steps(work, folder)), "checks": list(checks(work))}


def steps(work: Work, folder: str) -> Iterator[str]:
    """What is done, in order, each with the command that does it by hand if hio is gone; `folder` is the deployment's."""
    yield f"stop {_stack(work.to.stack)} with what would start it again: {_stop(work, folder)}"
    yield f"see that this prints nothing, so that the port is free: ss -Hltnp 'sport = :{work.port}'"
    for each in work.files:
        if each.before is None:
            yield f"take {each.path} away: rm -- {shlex.quote(each.path)}"
        else:
            kept = shlex.quote(f"{folder}/files/{each.before}")
            yield f"put {each.path} back as it was: install -m {each.mode:o} {kept} {shlex.quote(each.path)}"
    if work.away.stack:
        yield f"start {_stack(work.away.stack)}: {_start(work, folder)}"
    else:
        yield "start nothing: nothing served before"


def checks(work: Work) -> Iterator[str]:
    """What must be proven afterwards."""
    if work.away.stack:
        yield from CHECKS
    else:
        yield "nothing serves, as before"


def _stack(pin: str | None) -> str:
    return (pin or "nothing").partition("@")[0]


def _stop(work: Work, folder: str) -> str:
    if work.backend == "local":
        return f"pkill -TERM -f {shlex.quote(f'execute.keeper {_place(work, folder)}$')}"
    return f"{_systemctl(work)} stop {work.unit}"


def _start(work: Work, folder: str) -> str:
    if work.backend != "local":
        return f"{_systemctl(work)} daemon-reload && {_systemctl(work)} start {work.unit}"
    command = work.away.command
    if command is None:
        return "nothing"
    words = [*(f"{name}={value}" for name, value in command.environment.items()), *command.argv]
    log = shlex.quote(str(_place(work, folder) / "service.log"))
    return f"cd {shlex.quote(command.folder)} && setsid env -i {shlex.join(words)} >>{log} 2>&1 &"


def _place(work: Work, folder: str) -> Path:
    return Path(folder).parent.parent / "services" / work.service


def _systemctl(work: Work) -> str:
    return "systemctl --user" if work.backend == "systemd-user" else "systemctl"
