"""Whether a server is ready to be measured: it lives, it alone listens, it has loaded, it has the right model.

Invariant: not one request is sent to a process that was not started here (contract 5.5).
"""

from __future__ import annotations

from hio_validate.execute.watch import Abort, Child
from hio_validate.models.capture import CapturedProcess
from hio_validate.observe.endpoints import Server, get
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener, holders_of, listening, listening_of
from hio_validate.settings.setting import Effective

_LOADING = 503


def refuse_occupied(port: int) -> None:
    """Raises Abort where anybody listens on a port, on whatever address."""
    found = listening(port)
    if found:
        pids = sorted({pid for pids in holders_of({each.inode for each in found}).values() for pid in pids})
        who = f"process {', '.join(map(str, pids))}" if pids else f"a process of user {found[0].uid}"
        raise Abort("failed", f"port {port} is taken: {who} listens on {found[0]}; nothing was started")


def is_ready(server: Child, port: int) -> bool:
    """Whether a server has loaded; 503 is loading. Raises Abort where another process may answer in its place."""
    listener = alone(server, port)
    if listener is None:
        return False
    answer = get(Server.behind(listener), "/health")
    if answer.status in (0, _LOADING):
        return False
    if answer.status != 200:
        raise Abort(
            "failed",
            f"/health of the server on port {port} answers HTTP {answer.status}: expected 200, or 503 while it loads",
        )
    return True


def alone(server: Child, port: int) -> Listener | None:
    """The socket a server listens on, None where nobody listens yet. Raises Abort where it is not the only one."""
    if not listening(port):
        return None
    try:
        return listening_of(server.pid, port)
    except Unobservable as error:
        raise Abort("failed", f"port {port} is not the trial's alone: {error}") from None


def refuse_wrong_model(seen: CapturedProcess, asked: Effective, role: str) -> None:
    """Raises Abort where a server says that it serves another model than its arm asks for."""
    props = seen.props.facts if seen.props else {}
    for factor, key in (("model", "model_path"), ("alias", "model_alias")):
        setting = asked.settings.get(f"{role}.{factor}")
        served = str(props.get(key, ""))
        if setting is None or not setting.set_by_a_person or not served:
            continue
        if served not in (setting.declared, *setting.declared.split(",")):
            raise Abort(
                "failed",
                f"the server serves the {factor} {served}, expected {setting.declared}; nothing was asked",
            )
