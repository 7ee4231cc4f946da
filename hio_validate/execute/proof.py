"""The proof that a service is back: every check of what serves now against what served before (contract 5.4).

Invariant: a restoration is proven only if every check passed; a check that could not be made is unknown, never passed.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hio_validate.command import Command
from hio_validate.evidence.probes import slot_count
from hio_validate.execute import owned
from hio_validate.execute.interpreted import as_executed, interpreter
from hio_validate.execute.secrets import key_of
from hio_validate.execute.work import Service
from hio_validate.models.capture import CapturedProcess, Mapped
from hio_validate.observe import endpoints, proc
from hio_validate.observe.capture import capture_process
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import listening, owner_of
from hio_validate.settings import family as families

PASSED = "passed"
_PROBE = (
    "The quick brown fox jumps over the lazy dog while the patient engine keeps every token it has read. "
)
_PROBE_S = 60.0
_REUSED = 0.5
"""Share of an equal prompt that must come from the cache: more than a common first token, less than what an engine with
checkpoints reads again at the end."""


@dataclass(frozen=True)
class Before:
    """What served before it was stopped."""

    who: owned.Identity
    process: CapturedProcess
    kept: bool = False
    """Whether a backend of hio keeps it."""


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
    checks["owner"] = owner(service, who)
    checks["argv"] = _asked(lambda: serves_as(command, who.pid))
    checks["environment"] = _asked(lambda: _environment(command, before, who.pid))
    checks["started"] = _started(who, before, stopped_ticks)
    alone = checks["owner"] == PASSED  # a stranger is sent neither a request nor a key
    checks["prefix-reuse"] = (
        _asked(lambda: prefix_reuse(service, command))
        if alone
        else "unknown: another process may answer in its place"
    )
    try:
        process = captured(who.pid, service.port, 10.0)
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


def serves_as(command: Command, pid: int) -> str | None:
    """None where a process runs exactly this command, else what differs; never a value, which may be secret.

    Raises Unobservable.
    """
    argv, expected = proc.argv(pid), as_executed(command)
    script = interpreter(command.program)
    if argv[bool(script) :] != expected[bool(script) :]:  # how an interpreter calls itself is its own matter
        pairs = zip(argv, expected, strict=False)
        at = next(
            (n for n, (seen, given) in enumerate(pairs) if seen != given), min(len(argv), len(expected))
        )
        flags = [word for word in expected[: at + 1] if word.startswith("-")]
        return f"word {at + 1} of its command line is not the recorded one" + (
            f" (at {flags[-1]})" if flags else ""
        )
    path, _ = proc.executable_path(pid)
    if script and os.path.basename(script[0]) == "env":
        return None  # which interpreter, the first line of the script leaves open
    program = script[0] if script else command.program
    try:
        same = os.path.samefile(f"/proc/{pid}/exe", program)
    except OSError as error:
        return f"its program {path} cannot be compared with {program}: {error.strerror}"
    return None if same else f"it runs {path}, which is not (any more) the file {program}"


def captured(pid: int, port: int, deadline_s: float) -> CapturedProcess:
    """A process as `hio capture` sees it, by the table of its family. Raises Unobservable."""
    name = families.recognised(proc.argv(pid))
    return capture_process(
        pid, families.packaged(name) if name else None, None, port=port, deadline=deadline_s
    )


def _asked(check: Callable[[], str | None]) -> str:
    """A check in words: None is passed, and what cannot be observed is unknown."""
    try:
        return check() or PASSED
    except Unobservable as error:
        return f"unknown: {error.reason}"


def owner(service: Service, who: owned.Identity) -> str:
    """Whether a process alone listens on the service's port: passed, or who else does."""
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
    old, new = slot_count(before), slot_count(now)
    if old is None or new is None:
        return "unknown: the server does not say how many slots it has"
    return PASSED if old == new else f"{new} slots, before it had {old}"


def _swap(process: CapturedProcess) -> str:
    swapped = process.memory.swap_bytes
    if swapped is None:
        return "unknown: the kernel does not say"
    return PASSED if swapped == 0 else f"{swapped} bytes are swapped out"


def prefix_reuse(service: Service, command: Command) -> str | None:
    """The same short request twice: the second must take tokens from the first one's cache."""
    found = listening(service.port)
    if not found:
        return "nobody listens"
    server = endpoints.Server.behind(found[0])
    for _ in range(2):
        timings = _asked_once(server, key_of(command, {}))
    if "cache_n" not in timings:
        raise Unobservable("the server does not say how many tokens came from its cache")
    cached, evaluated = int(timings["cache_n"]), int(timings.get("prompt_n", 0))
    if cached >= _REUSED * (cached + evaluated) and cached > 0:
        return None
    took = f"{cached} of {cached + evaluated} tokens" if cached else "no token"
    return f"the second of two equal requests took {took} from the cache"


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
