"""What a plan is bound to: this machine, who serves, the installed files, the tips of the ledger (contract 12.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from hio_validate.execute import owned
from hio_validate.execute.deploy.installing import digest_at
from hio_validate.execute.deploy.work import Found
from hio_validate.ledger import Ledger
from hio_validate.observe import proc
from hio_validate.observe.host import observe_host
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listening, owner_of


def machine() -> str:
    """Which machine this is: SHA-256 over its id, else over its stable readings."""
    try:
        own = Path("/etc/machine-id").read_text().strip()
    except OSError:
        own = ""
    return hashlib.sha256(f"hio host {own}".encode()).hexdigest() if own else str(observe_host().id)


def look(port: int, files: Iterable[str], ledger: Ledger) -> Found:
    """The state as it is now. Raises Unobservable and OSError."""
    return Found(
        host=machine(),
        boot=owned.boot_id(),
        serving=_serving(port),
        files={path: digest_at(path) for path in sorted(files)},
        tips=tuple(f"{tip}@{ledger.entries[tip].document.digest}" for tip in sorted(ledger.tips)),
    )


def differing(planned: Found, now: Found) -> Iterator[str]:
    """What is no longer as it was when the plan was made, one sentence each."""
    if planned.boot != now.boot:
        yield "this host was started anew"
    if planned.serving != now.serving:
        yield f"then {_named(planned.serving)} served, now {_named(now.serving)} does"
    for path in sorted(planned.files.keys() | now.files.keys()):
        if planned.files.get(path) != now.files.get(path):
            yield f"{path} has other bytes"
    if planned.tips != now.tips:
        new = [tip.partition("@")[0] for tip in now.tips if tip not in planned.tips]
        yield f"the ledger has grown ({', '.join(new) or 'its tips differ'})"


def _serving(port: int) -> dict[str, str | int] | None:
    if not listening(port):
        return None
    pid = owner_of(port).pid
    who = owned.identity_of(pid)
    if who is None:
        raise Unobservable(f"process {pid} ended while it was looked at")
    words = hashlib.sha256("\0".join(proc.argv(pid)).encode(errors="surrogateescape")).hexdigest()
    return {"pid": pid, "ticks": who.ticks, "argv": words}


def _named(serving: object) -> str:
    return f"process {serving['pid']}" if isinstance(serving, dict) else "nobody"
