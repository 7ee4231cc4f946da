"""The service that serves now: whether it may be stopped, stopping it, bringing it back.

Invariant: nothing is stopped that could not be started again as it is, and proven to be back (execute/proof.py).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hio_validate.command import Command
from hio_validate.execute import owned
from hio_validate.execute.backends import Backend, CannotSwitch
from hio_validate.execute.backends.local import Local
from hio_validate.execute.proof import PASSED, Before, Restoration, captured, owner, serves_as, verify
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.execute.work import Service
from hio_validate.models.capture import CapturedProcess
from hio_validate.observe import endpoints, proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import holders_of, listening, owner_of

_TERM_S, _KILL_S, _PORT_S, _SETTLE_S, _BEGUN_S, _POLL_S = 20.0, 10.0, 10.0, 1.0, 5.0, 0.1
_KEEPERS = frozenset({"supervisord", "runsv", "s6-supervise", "containerd-shim", "conmon", "pm2", "systemd"})
"""Programs whose work is to start again what ended."""


class CannotStop(Exception):
    """The service may not be stopped; one sentence with what to do."""


def with_secrets(service: Service, places: Mapping[str, str]) -> Service:
    """The service with the values of its command's secrets, to be compared and started, not kept. Raises CannotStop."""
    try:
        return replace(service, command=revealed(_command(service), places))
    except Unresolvable as error:
        raise CannotStop(f"{service.name} cannot be started again: {error}") from None


def keeper_of(service: Service, state: Path) -> Local:
    """The keeper of hio that a service has on this host, if it has one."""
    return Local(state / "services" / service.name)


def look_before(service: Service, deadline_s: float, backend: Backend | None = None) -> Before:
    """Who serves, captured, if it may be stopped and can be restored as it is. Raises CannotStop.

    What `backend` keeps is stopped and started there; what anybody else keeps would come back by itself.
    """
    command = _command(service)
    try:
        pid = owner_of(service.port).pid
        who = owned.identity_of(pid)
        differs = serves_as(command, pid)
        kept = backend is not None and who is not None and backend.main() == who
        kept_by = None if kept else _keeper(pid)
        if differs is None and kept_by is None:
            process = captured(pid, service.port, deadline_s)
            differs = _differing_environment(process, command)
    except (Unobservable, CannotSwitch) as error:
        raise CannotStop(f"{service.name} cannot be stopped and restored: {error}") from None
    if differs:
        raise CannotStop(
            f"{service.name} would not come back as it is: {differs}; start it as its recorded stack says, or record it anew"
        )
    if kept_by:
        raise CannotStop(
            f"{service.name} is kept by {kept_by}, which would start it again; stop it there before the trial"
        )
    if who is None:
        raise CannotStop(f"{service.name} ended while it was looked at")
    before = Before(who, process, kept)
    _refuse_what_could_not_be_proven(service, command, before)
    return before


def _refuse_what_could_not_be_proven(service: Service, command: Command, before: Before) -> None:
    """What cannot be proven of the service while it serves could not be proven of it afterwards."""
    now = Restoration(service.stack)
    verify(service, command, before, before.who, 0, now)
    of_the_moment = ("swap",)  # a process that is started anew has swapped out nothing
    wrong = [
        f"{name}: {each}" for name, each in now.checks.items() if each != PASSED and name not in of_the_moment
    ]
    if wrong:
        raise CannotStop(f"{service.name} could not be proven to be back after a stop: {'; '.join(wrong)}")


def stop(service: Service, who: owned.Identity, backend: Backend | None = None) -> None:
    """TERM, wait, KILL, or what its backend does; then its port must stay free. Raises CannotStop, and then something
    serves there."""
    if backend is not None:
        try:
            backend.stop()
        except CannotSwitch as error:
            raise CannotStop(f"{service.name} cannot be stopped: {error}") from None
    for number, patience in ((signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S)):
        owned.send(who, number)
        if owned.wait_for_end(who, patience):
            break
    else:
        raise CannotStop(f"{service.name} (process {who.pid}) does not end, not even killed")
    prove_free(service)


def prove_free(service: Service) -> None:
    """Wait until nobody listens on a service's port, then see it stay so. Raises CannotStop."""
    waited(lambda: not listening(service.port), _PORT_S)
    end = time.monotonic() + _SETTLE_S
    while time.monotonic() < end:
        if listening(service.port):
            raise CannotStop(
                f"port {service.port} is listened on again after {service.name} was stopped: "
                "something starts it again; stop that before the trial"
            )
        time.sleep(_POLL_S)


def restore(
    service: Service,
    before: Before,
    log: Path,
    deadline_s: float,
    *,
    stopped_ticks: int,
    begun: owned.Identity | None = None,
    announce: Callable[[owned.Identity], None] = lambda _: None,
    backend: Backend | None = None,
) -> Restoration:
    """Have the service serve again, then check everything. Never raises for what it finds.

    `begun` is a process that an earlier restoration started. `announce` is told of who is started, before its program
    runs. What was kept is started by its backend, which keeps it again.
    """
    found = Restoration(service.stack)
    command = _command(service)
    try:
        if backend is not None and before.kept:
            who = backend.start(announce, begun)
        else:
            who = _serving_again(service, command, begun) or owned.begin(command, log, announce)
    except (OSError, Unobservable, CannotSwitch) as error:
        found.checks["serves"] = f"it cannot be started: {error}"
        return found
    ready = waited(lambda: is_ready(service, who) or not owned.is_alive(who), deadline_s)
    if not ready or not owned.is_alive(who):
        state = "is not ready" if owned.is_alive(who) else "ended"
        found.checks["serves"] = f"process {who.pid} {state} within {deadline_s:g} s; its log is {log}"
        found.checks["owner"] = owner(service, who)
        return found
    verify(service, command, before, who, stopped_ticks, found)
    return found


def settled(port: int, seconds: float) -> bool:
    """Whether, within `seconds`, somebody is seen at each socket of a port: what is just ending holds one that nobody is seen at."""
    return waited(lambda: all(_holders(port)), seconds)


def _holders(port: int) -> list[set[int]]:
    """The processes at each socket that listens on a port, as far as they are seen."""
    inodes = {each.inode for each in listening(port)}
    held = holders_of(inodes) if inodes else {}
    return [held.get(inode, set()) for inode in inodes]


def ticks_now() -> int:
    """This moment in clock ticks since boot, as /proc states the start of a process."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _command(service: Service) -> Command:
    if service.command is None:
        raise CannotStop(f"{service.name} has no recorded command, so it could not be started again")
    return service.command


def _keeper(pid: int) -> str | None:
    """What would start a process again when it ends: its systemd unit, or a parent whose work that is."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            last = line.rpartition(":")[2].rpartition("/")[2]
            if last.endswith(".service"):
                return f"the systemd unit {last}"
    parent = proc.parent(pid)
    with suppress(OSError):
        name = Path(f"/proc/{parent}/comm").read_text().strip()
        if parent > 1 and name in _KEEPERS:
            return f"{name} (process {parent})"
    return None


def _differing_environment(process: CapturedProcess, command: Command) -> str | None:
    """A variable that sets something and that the recorded command does not give."""
    for name, value in process.environ.values.items():
        if command.environment.get(name) != value:
            given = command.environment.get(name)
            return (
                f"it runs with {name}={value}, the recorded command has {'none' if given is None else given}"
            )
    return None


def _serving_again(service: Service, command: Command, begun: owned.Identity | None) -> owned.Identity | None:
    """The process that already serves as recorded, or was started to. Raises Unobservable for a stranger.

    One that was begun and never got the word to run its program ends by itself (execute/owned.py): it is none.
    """
    if begun is not None:
        if not waited(lambda: _runs(command, begun) or not owned.is_alive(begun), _BEGUN_S):
            raise Unobservable(
                f"process {begun.pid}, which was begun, neither became {command.program} nor ended"
            )
        if owned.is_alive(begun):
            return begun
    settled(service.port, _PORT_S)
    if not listening(service.port):
        return None
    pid = owner_of(service.port).pid
    differs = serves_as(command, pid)
    if differs:
        raise Unobservable(f"port {service.port} is held by process {pid}, a stranger: {differs}")
    return owned.identity_of(pid)


def _runs(command: Command, who: owned.Identity) -> bool:
    """Whether a process that was begun has become its program."""
    try:
        return serves_as(command, who.pid) is None
    except Unobservable:
        return False


def is_ready(service: Service, who: owned.Identity) -> bool:
    """Whether it alone listens and is healthy; nobody else is asked."""
    found = listening(service.port)
    if not found or owner(service, who) != PASSED:
        return False
    return endpoints.get(endpoints.Server.behind(found[0]), "/health").status == 200


def waited(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True
