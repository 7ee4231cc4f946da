"""What a job has to do, resolved from the repository once and kept beside its journal.

Invariant: guardian, supervisor and recovery act on this alone; a document edited meanwhile changes nothing that runs.
Sizes are bytes, times are seconds, ports are on this host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hio_validate.command import Command


@dataclass(frozen=True)
class ArmWork:
    """One arm: what is pinned of it, and how its server (or its llama-bench) is started."""

    stack: str
    """Pin of the stack document."""
    set: Mapping[str, str | bool | int | float]
    command: Command
    role: str = "server"
    """What its process is called in the stack."""
    family: str = "llama-server"
    build: str | None = None
    """The engine document that its stack names."""


@dataclass(frozen=True)
class Question:
    """One request of a leg."""

    phase: str
    """check, warm-up or measured; in this order."""
    fixture: str
    endpoint: str
    body: Mapping[str, Any]
    """The JSON that is sent, `stream` included."""
    contains: tuple[str, ...] = ()
    content_sha256: str | None = None
    """What a right answer is; nothing expected = nothing judged."""
    nonce: str = ""
    """What stands in front of its prompt and is no part of the fixture."""
    item: str = ""
    """Item of a task set; its answer's text is kept, and the next one is asked where it fails."""


@dataclass(frozen=True)
class TaskSet:
    """A task set that is asked after the measured requests."""

    pin: str
    legs: str
    """first: in the first place of each arm; every: in each leg."""
    scoring: str
    choices: tuple[str, ...]
    expected: Mapping[str, str]
    """Item -> what a right answer is."""
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Ceilings:
    """Limits of the plan in bytes, seconds and processors; None = no such limit."""

    memory: int
    available: int
    swap: int
    start_s: float
    leg_s: float
    total_s: float
    sample_s: float
    gap_s: float
    others_cpu: float | None = None
    device_memory: int | None = None
    temperature_c: float | None = None


@dataclass(frozen=True)
class Service:
    """A service of this host: who it is, where it listens, how its recorded stack is started."""

    name: str
    host: str
    port: int
    stack: str | None = None
    """Pin of the stack that serves there, where it is ours to restore."""
    command: Command | None = None


@dataclass(frozen=True)
class Approved:
    """An approval entry that the job stands on, rechecked before every leg."""

    entry: str
    """Pin of the entry."""
    approves: str
    until: str


@dataclass(frozen=True)
class Work:
    """The whole job."""

    job: str
    """Name of the job and of the run that comes out of it."""
    root: str
    """Folder of the repository."""
    service: str
    plan: str
    """Pin of the plan."""
    arms: Mapping[str, ArmWork]
    order: tuple[str, ...]
    restart: str
    method: str
    host: str
    port: int
    questions: tuple[Question, ...]
    """The requests of every leg, the same for all arms."""
    ceilings: Ceilings
    approvals: tuple[Approved, ...]
    cache: str = "cold"
    during: str = "none"
    """What happens to the service that serves now: stop, leave, none."""
    serving: Service | None = None
    """The service that is stopped and restored, with the stack it must come back as."""
    respect: tuple[Service, ...] = ()
    bench: Mapping[str, int] = field(default_factory=dict)
    tasks: TaskSet | None = None
    fixtures: tuple[str, ...] = ()
    """Pins of the fixtures that are asked."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Secret that a command names -> where its value is read at start (execute/secrets.py); never the value."""
    campaign: Mapping[str, str] = field(default_factory=dict)
    """Where it is a cell of a campaign: `campaign` (its pin), `id` (its run id), `cell`, as run/v1 has them."""


def as_text(work: Work) -> str:
    """The work as JSON, one key a line."""
    return json.dumps(asdict(work), indent=1) + "\n"


def from_text(text: str) -> Work:
    """What `as_text` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    data = json.loads(text)
    serving = data["serving"]
    return Work(
        **{
            **data,
            "arms": {name: ArmWork(**{**arm, "command": _command(arm["command"])}) for name, arm in data["arms"].items()},
            "order": tuple(data["order"]),
            "questions": _questions(data["questions"]),
            "tasks": _tasks(data["tasks"]) if data.get("tasks") else None,
            "ceilings": Ceilings(**data["ceilings"]),
            "approvals": tuple(Approved(**each) for each in data["approvals"]),
            "serving": _service(serving) if serving else None,
            "fixtures": tuple(data["fixtures"]),
            "respect": tuple(_service(each) for each in data["respect"]),
        }
    )  # fmt: skip


def _questions(data: list[dict[str, Any]]) -> tuple[Question, ...]:
    return tuple(Question(**{**each, "contains": tuple(each["contains"])}) for each in data)


def _tasks(data: dict[str, Any]) -> TaskSet:
    asked = {"choices": tuple(data["choices"]), "questions": _questions(data["questions"])}
    return TaskSet(**{**data, **asked})


def _command(data: dict[str, Any]) -> Command:
    return Command(**{**data, "arguments": tuple(data["arguments"])})


def _service(data: dict[str, Any]) -> Service:
    return Service(**{**data, "command": _command(data["command"]) if data["command"] else None})
