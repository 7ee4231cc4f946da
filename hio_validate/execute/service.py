"""The service that serves now: whether it may be stopped, stopping it, bringing it back, and proving that it is back.

Invariants: nothing is stopped that could not be started again as it is; a restoration is proven only if every check
passed (contract 5.4), and a check that could not be made is unknown, never passed.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hio_validate.execute import owned
from hio_validate.execute.secrets import Unresolvable, key_of, revealed
from hio_validate.execute.work import Command, Service
from hio_validate.models.capture import CapturedProcess, Mapped
from hio_validate.observe import endpoints, proc
from hio_validate.observe.capture import capture_process
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener, holders_of, listeners, owner_of
from hio_validate.settings import family as families

PASSED = "passed"
_TERM_S, _KILL_S, _PORT_S, _SETTLE_S, _POLL_S = 20.0, 10.0, 10.0, 1.0, 0.1
_KEEPERS = frozenset({"supervisord", "runsv", "s6-supervise", "containerd-shim", "conmon", "pm2", "systemd"})
"""Programs whose work is to start again what ended."""
_PROBE = (
    "The quick brown fox jumps over the lazy dog while the patient engine keeps every token it has read. "
)
_PROBE_S = 60.0


class CannotStop(Exception):
    """The service may not be stopped; one sentence with what to do."""


@dataclass(frozen=True)
class Before:
    """What served before it was stopped."""

    who: owned.Identity
    process: CapturedProcess


@dataclass
class Restoration:
    """What became of the service: every check with what it found, and the process as it was captured."""

    stack: str | None
    checks: dict[str, str] = field(default_factory=dict)
    process: CapturedProcess | None = None

    @property
    def proven(self) -> bool:
        return bool(self.checks) and all(each == PASSED for each in self.checks.values())

    def as_data(self) -> dict[str, Any]:
        """JSON with `stack`, `checks`, `proven` as run/v1 holds them, and `process` for its capture."""
        seen = self.process.model_dump(by_alias=True) if self.process else None
        return {"stack": self.stack, "checks": self.checks, "proven": self.proven, "process": seen}


def serves_as(command: Command, pid: int) -> str | None:
    """None where a process runs exactly this command, else what differs; never a value, which may be secret.

    Raises Unobservable.
    """
    argv = proc.argv(pid)
    if argv != command.argv:
        pairs = zip(argv, command.argv, strict=False)
        at = next(
            (n for n, (seen, given) in enumerate(pairs) if seen != given), min(len(argv), len(command.argv))
        )
        flags = [word for word in command.argv[: at + 1] if word.startswith("-")]
        return f"word {at + 1} of its command line is not the recorded one" + (
            f" (at {flags[-1]})" if flags else ""
        )
    path, _ = proc.executable_path(pid)
    try:
        same = os.path.samefile(f"/proc/{pid}/exe", command.program)
    except OSError as error:
        return f"its program {path} cannot be compared with {command.program}: {error.strerror}"
    return None if same else f"it runs {path}, which is not (any more) the file {command.program}"


def with_secrets(service: Service, places: Mapping[str, str]) -> Service:
    """The service with the values of its command's secrets, to be compared and started, not kept. Raises CannotStop."""
    try:
        return replace(service, command=revealed(_command(service), places))
    except Unresolvable as error:
        raise CannotStop(f"{service.name} cannot be started again: {error}") from None


def look_before(service: Service, deadline_s: float) -> Before:
    """Who serves, captured, if it may be stopped and can be restored as it is. Raises CannotStop."""
    command = _command(service)
    try:
        pid = owner_of(service.port).pid
        who = owned.identity_of(pid)
        differs = serves_as(command, pid)
        kept_by = _keeper(pid)
        if differs is None and kept_by is None:
            process = _captured(pid, service.port, deadline_s)
            differs = _differing_environment(process, command)
    except Unobservable as error:
        raise CannotStop(f"{service.name} cannot be stopped and restored: {error.reason}") from None
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
    before = Before(who, process)
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


def stop(service: Service, who: owned.Identity) -> None:
    """TERM, wait, KILL; then its port must stay free. Raises CannotStop, and then something serves there."""
    for number, patience in ((signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S)):
        owned.send(who, number)
        if owned.wait_for_end(who, patience):
            break
    else:
        raise CannotStop(f"{service.name} (process {who.pid}) does not end, not even killed")
    _waited(lambda: not listening(service.port), _PORT_S)
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
) -> Restoration:
    """Have the service serve again, then check everything. Never raises for what it finds.

    `begun` is a process that an earlier restoration started. `announce` is told who was started.
    """
    found = Restoration(service.stack)
    command = _command(service)
    try:
        who = _serving_again(service, command, begun)
        if who is None:
            who = _start(command, log)
            announce(who)
    except (OSError, Unobservable) as error:
        found.checks["serves"] = f"it cannot be started: {error}"
        return found
    ready = _waited(lambda: _is_ready(service, who) or not owned.is_alive(who), deadline_s)
    if not ready or not owned.is_alive(who):
        state = "is not ready" if owned.is_alive(who) else "ended"
        found.checks["serves"] = f"process {who.pid} {state} within {deadline_s:g} s; its log is {log}"
        found.checks["owner"] = _owner(service, who)
        return found
    verify(service, command, before, who, stopped_ticks, found)
    return found


def verify(
    service: Service,
    command: Command,
    before: Before,
    who: owned.Identity,
    stopped_ticks: int,
    found: Restoration,
) -> None:
    """Fill in every check of a service that is ready."""
    checks = found.checks
    checks["owner"] = _owner(service, who)
    checks["argv"] = _asked(lambda: serves_as(command, who.pid))
    checks["environment"] = _asked(lambda: _environment(command, before, who.pid))
    checks["started"] = _started(who, before, stopped_ticks)
    alone = checks["owner"] == PASSED  # a stranger is sent neither a request nor a key
    checks["prefix-reuse"] = (
        _asked(lambda: _prefix_reuse(service))
        if alone
        else "unknown: another process may answer in its place"
    )
    try:
        process = _captured(who.pid, service.port, 10.0)
    except Unobservable as error:
        checks["capture"] = f"unknown: {error.reason}"
        return
    found.process = process
    checks["executable"] = _same_file(before.process.executable, process.executable)
    checks["libraries"] = _same_files(before.process.libraries, process.libraries)
    checks["model"] = _same_files(before.process.artifacts, process.artifacts)
    checks["health"] = _same_report("health", before.process, process)
    checks["slots"] = _slots(before.process, process)
    checks["props"] = _same_report("props", before.process, process)
    checks["swap"] = _swap(process)


def listening(port: int) -> list[Listener]:
    """Every listener on a port of this host, whoever it is."""
    return [each for each in listeners() if each.port == port]


def settled(port: int, seconds: float) -> bool:
    """Whether, within `seconds`, somebody is seen at each socket of a port: what is just ending holds one that nobody is seen at."""
    return _waited(lambda: all(_holders(port)), seconds)


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


def _captured(pid: int, port: int, deadline_s: float) -> CapturedProcess:
    name = families.recognised(proc.argv(pid))
    return capture_process(
        pid, families.packaged(name) if name else None, None, port=port, deadline=deadline_s
    )


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
    """The process that already serves as recorded, or was started to. Raises Unobservable for a stranger."""
    if begun is not None and owned.is_alive(begun):
        return begun
    settled(service.port, _PORT_S)
    if not listening(service.port):
        return None
    pid = owner_of(service.port).pid
    differs = serves_as(command, pid)
    if differs:
        raise Unobservable(f"port {service.port} is held by process {pid}, a stranger: {differs}")
    return owned.identity_of(pid)


def _start(command: Command, log: Path) -> owned.Identity:
    """Start the service for good: a session of its own, bound to nobody, its output appended to a log."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command.argv,
            env=dict(command.environment),
            cwd=command.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    who = owned.identity_of(process.pid)
    process.returncode = 0  # nobody here waits for it: it stays when we end
    if who is None:
        raise Unobservable(f"it ended at once; its log is {log}")
    return who


def _is_ready(service: Service, who: owned.Identity) -> bool:
    """Whether it alone listens and is healthy; nobody else is asked."""
    found = listening(service.port)
    if not found or _owner(service, who) != PASSED:
        return False
    return endpoints.get(endpoints.Server.behind(found[0]), "/health").status == 200


def _waited(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def _asked(check: Callable[[], str | None]) -> str:
    """A check in words: None is passed, and what cannot be observed is unknown."""
    try:
        return check() or PASSED
    except Unobservable as error:
        return f"unknown: {error.reason}"


def _owner(service: Service, who: owned.Identity) -> str:
    try:
        pid = owner_of(service.port).pid
    except Unobservable as error:
        return error.reason
    return (
        PASSED if pid == who.pid and owned.is_alive(who) else f"process {pid} listens on port {service.port}"
    )


def _environment(command: Command, before: Before, pid: int) -> str | None:
    """Exactly what the command gives; or, of a process that hio did not start, the variables it had before."""
    given, seen = dict(command.environment), proc.environ(pid)
    settings = before.process.environ.values
    as_before = sorted(seen) == sorted(before.process.environ.names)
    if given == seen or (as_before and all(seen.get(name) == value for name, value in settings.items())):
        return None
    differing = sorted(name for name in given.keys() | seen.keys() if given.get(name) != seen.get(name))
    return f"differs in {', '.join(differing)}"


def _started(who: owned.Identity, before: Before, stopped_ticks: int) -> str:
    if who == before.who:
        return PASSED  # it was never stopped
    later = who.boot != before.who.boot or who.ticks >= stopped_ticks
    return PASSED if later else "it started before the service was stopped"


def _same_file(before: Mapped, now: Mapped) -> str:
    if before.sha256 is None or now.sha256 is None:
        return f"unknown: {now.note or before.note or 'it could not be hashed'}"
    return PASSED if before.sha256 == now.sha256 else f"{now.path} has other bytes than before"


def _same_files(before: dict[str, Any], now: dict[str, Any]) -> str:
    if before.keys() != now.keys():
        return f"differs in {', '.join(sorted(before.keys() ^ now.keys()))}"
    told = {name: _same_file(before[name], now[name]) for name in before}
    return next(
        (
            f"{name}: {each}" if not each.startswith("unknown") else each
            for name, each in told.items()
            if each != PASSED
        ),
        PASSED,
    )


def _same_report(name: str, before: CapturedProcess, now: CapturedProcess) -> str:
    old, new = getattr(before, name), getattr(now, name)
    if new is None or new.how == "unknown":
        return f"unknown: {new.note if new else 'it was not asked'}"
    if old is None or old.how == "unknown":
        return "unknown: what it said before is not known"
    differing = sorted(
        key for key in old.facts.keys() | new.facts.keys() if old.facts.get(key) != new.facts.get(key)
    )
    return f"differs in {', '.join(differing)}" if differing else PASSED


def _slots(before: CapturedProcess, now: CapturedProcess) -> str:
    old, new = _slot_count(before), _slot_count(now)
    if old is None or new is None:
        return "unknown: the server does not say how many slots it has"
    return PASSED if old == new else f"{new} slots, before it had {old}"


def _slot_count(process: CapturedProcess) -> int | None:
    if process.slots is not None and process.slots.how != "unknown":
        return len({name.partition(".")[0] for name in process.slots.facts})
    total = process.props.facts.get("total_slots") if process.props else None
    return int(total) if total is not None else None


def _swap(process: CapturedProcess) -> str:
    swapped = process.memory.swap_bytes
    if swapped is None:
        return "unknown: the kernel does not say"
    return PASSED if swapped == 0 else f"{swapped} bytes are swapped out"


def _prefix_reuse(service: Service) -> str | None:
    """The same short request twice: the second must take tokens from the first one's cache."""
    found = listening(service.port)
    if not found:
        return "nobody listens"
    server = endpoints.Server.behind(found[0])
    for _ in range(2):
        timings = _asked_once(server, key_of(_command(service), {}))
    if "cache_n" not in timings:
        raise Unobservable("the server does not say how many tokens came from its cache")
    return None if timings["cache_n"] > 0 else "the second of two equal requests took no token from the cache"


def _asked_once(server: endpoints.Server, key: str | None) -> dict[str, Any]:
    body = json.dumps(
        {"prompt": _PROBE, "n_predict": 1, "cache_prompt": True, "temperature": 0, "stream": False}
    )
    connection = http.client.HTTPConnection(server.host, server.port, timeout=_PROBE_S)
    try:
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        connection.request("POST", "/completion", body, headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise Unobservable(f"/completion answers HTTP {answer.status}")
        timings = json.loads(answer.read()).get("timings", {})
        return timings if isinstance(timings, dict) else {}
    except (OSError, ValueError, AttributeError, http.client.HTTPException) as error:
        raise Unobservable(f"/completion does not answer: {error or type(error).__name__}") from None
    finally:
        connection.close()
