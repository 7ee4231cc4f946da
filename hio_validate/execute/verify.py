"""The live process against its stack, point by point (contract 1.7).

Invariant: only what was seen is equal. Whatever cannot be seen, or of which nothing is on record, is not observable
and says why; a process that changes while it is looked at proves nothing. Nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hio_validate.command import Command
from hio_validate.drift import side_by_side
from hio_validate.execute.secrets import Unresolvable, revealed
from hio_validate.execute.verified import Check, Verification, judged, unseen
from hio_validate.execute.verifying import content, kernel, saying
from hio_validate.execute.verifying.recorded import recorded
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.stack import Stack
from hio_validate.observe.asked import Asked
from hio_validate.observe.capture import capture
from hio_validate.observe.hashing import Progress
from hio_validate.observe.proc import watch_identity
from hio_validate.observe.recognise import Recognised, recognised_process
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Item, Repo
from hio_validate.settings.captured import stack_of
from hio_validate.settings.difference import Compared, Difference, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.observed import contradictions
from hio_validate.settings.places import PLACE_HOLDER
from hio_validate.settings.setting import Class, Effective
from hio_validate.subjects import Subject

CAPTURED = (
    "executable", "libraries", "model", "files on disk", "settings", "/health", "/props", "/slots",
    "context of a slot", "swap", "threads", "affinity",
)  # fmt: skip
"""Checks that need the process to be captured."""
POINTS = ("argv", "program", "environ", "socket", *CAPTURED)
"""The checks of any process; those of files are named after them."""

_BY_ITS_BYTES = ("executable", "lib.", "system-libraries", "artifact.")
"""Settings that are hashes, which have checks of their own."""
_SAYS_NOTHING = frozenset({Group.EQUAL, Group.ONE_BUILD, Group.ONE_SIDE})


def verify(
    repo: Repo,
    service: str,
    stack: Item,
    pid: int,
    *,
    port: int,
    command: Command,
    files: Sequence[Path] = (),
    deadline_s: float = 10.0,
    secrets: Mapping[str, str] | None = None,
    asked: Asked | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Look at a process once. Never raises for what it finds.

    `command`: as it was started, with its whole environment, secrets still named; `secrets`: name -> where the site
    says it is kept (`file:/path`); `files`: the configuration that it must have started after; `deadline_s`: seconds to
    wait for a model that still loads.
    """
    look = _Look(
        repo, service, stack, pid, port, command, tuple(files), deadline_s, dict(secrets or {}),
        asked or Asked(), progress,
    )  # fmt: skip
    pin = stack.pin
    try:
        with watch_identity(pid):
            checks, process = look.at_all()
    except Unobservable as error:
        return Verification(pin, pid, tuple(unseen(name, "", error.reason) for name in POINTS))
    return Verification(pin, pid, tuple(checks), process)


def nobody(stack: Item, where: str) -> Verification:
    """What is known of a stack that no process runs: nothing listens where it should."""
    checks = [
        judged(name, f"a process at {where}", "there is none", False)
        if name == "socket"
        else unseen(name, "", f"no process at {where}")
        for name in POINTS
    ]
    return Verification(stack.pin, 0, tuple(checks))


@dataclass
class _Look:
    repo: Repo
    service: str
    stack: Item
    pid: int
    port: int
    command: Command
    files: tuple[Path, ...]
    deadline_s: float
    secrets: dict[str, str]
    asked: Asked
    progress: Progress | None
    settings: Settings = field(init=False)
    role: str = field(init=False)

    def __post_init__(self) -> None:
        self.settings = Settings(self.repo)
        self.role = _role(self.stack.model, self.command)

    def at_all(self) -> tuple[list[Check], CapturedProcess | None]:
        """Every check, and the process as it was captured for them."""
        wished = _as_started(self.stack.model, self.role, self.command)
        asked_for = self.settings.resolve_processes(wished, {})
        checks = [*self._of_the_command(), self._socket(asked_for)]
        checks += [kernel.started_after(self.pid, file) for file in self.files]
        try:
            seen = self._captured()
        except Unobservable as error:
            return checks + [unseen(name, "", error.reason) for name in CAPTURED], None
        return checks + list(self._of_the_captured(seen, wished)), seen.process

    def _of_the_command(self) -> Iterator[Check]:
        try:
            whole = revealed(self.command, self.secrets)
        except Unresolvable as error:
            for name in ("argv", "environ"):
                yield unseen(name, "with its secrets", str(error))
            yield kernel.program(self.pid, self.command)
            return
        yield kernel.argv(self.pid, self.command, whole)
        yield kernel.program(self.pid, whole)
        yield kernel.environ(self.pid, self.command, whole)

    def _socket(self, asked_for: Effective) -> Check:
        host = asked_for.settings.get(f"{self.role}.host")
        return kernel.socket(self.pid, self.port, host.value if host is not None and host.known else None)

    def _captured(self) -> Recognised:
        """Raises Unobservable."""
        engine = self.stack.model.processes[self.role].engine
        family = engine if self.settings.family(engine) is not None else None
        return recognised_process(
            self.pid, self.settings, family=family, progress=self.progress, asked=self.asked,
            deadline_s=self.deadline_s, port=self._its_port(),
        )  # fmt: skip

    def _its_port(self) -> int | None:
        """The declared port if it listens there; else whichever it listens on, so that the rest can still be seen."""
        return self.port if kernel.listens(self.pid, self.port) else None

    def _of_the_captured(self, seen: Recognised, wished: Stack) -> Iterator[Check]:
        process = seen.process
        known = recorded(self.repo, self.service, self.stack, self.stack.model.processes[self.role].build)
        found, expected = self._difference(seen, wished)
        values = {
            address.partition(".")[2]: each.value for address, each in expected.settings.items() if each.known
        }
        names_model = any(
            each.class_ is Class.ARTIFACT and each.set_by_a_person for each in expected.settings.values()
        )
        yield from content.of(process, known, names_model, self.asked.hashes)
        yield from _of_settings(found)
        wrong = tuple(contradictions(self.role, process, self.settings))
        yield from saying.of(process, values, wrong, self._revision())
        yield kernel.swap(process)
        yield kernel.threads(process, values)
        yield kernel.affinity(process, values)

    def _difference(self, seen: Recognised, wished: Stack) -> tuple[Difference, Effective]:
        """The settings of stack and process compared, and those that the stack gives."""
        observed = capture(f"pid-{self.pid}", {self.role: seen.process})
        learned = {self.role: seen.catalogue}
        shown = _without_script(stack_of(observed), self.role, self.command.program)
        effective = self.settings.resolve_capture(shown, observed, learned)
        expected, found = side_by_side(
            Subject(self.stack.name, self.settings.resolve_processes(wished, {}), stack=wished),
            Subject(f"pid {self.pid}", effective, capture=observed),
            self.settings,
        )
        return self.settings.difference(expected.effective, found.effective), expected.effective

    def _revision(self) -> str | None:
        build = self.stack.model.processes[self.role].build
        engine = self.repo.find("engine/v1", build) if build else None
        source = engine.model.source if engine is not None and engine.model is not None else None
        return source.revision if source else None


def _of_settings(found: Difference) -> Iterator[Check]:
    """One check for each setting that differs or is unknown, and one for all others."""
    compared = [each for each in found if not _is_checked_elsewhere(each)]
    equal = [each for each in compared if each.group in _SAYS_NOTHING]
    yield (
        judged("settings", f"{len(compared)} in force", f"{len(equal)} equal", bool(equal))
        if equal
        else unseen(
            "settings", "unknown", "no setting of the stack is known: hio engine learn records its build"
        )
    )
    for each in compared:
        if each.group is Group.UNKNOWN:
            yield unseen(each.address, _shown(each, 0), f"cannot be compared: {_shown(each, 1)}")
        elif each.group not in _SAYS_NOTHING:
            yield judged(each.address, _shown(each, 0), _shown(each, 1), False)
    for misread in found.not_understood[1]:
        yield unseen("settings", "arguments that its build knows", misread.message)


def _is_checked_elsewhere(each: Compared) -> bool:
    return each.class_ is Class.SECRET or each.address.partition(".")[2].startswith(_BY_ITS_BYTES)


def _shown(each: Compared, side: int) -> str:
    setting = (each.parent, each.candidate)[side]
    value = (each.from_, each.to)[side]
    return setting.shown if setting is not None and not setting.known else value


def _role(stack: Stack, command: Command) -> str:
    """The process of a stack that a command starts."""
    fitting = [
        role
        for role, process in stack.processes.items()
        if _fits([word for line in process.argv for word in line], command.arguments)
    ]
    return fitting[0] if fitting else next(iter(stack.processes))


def _fits(written: Sequence[str], words: Sequence[str]) -> bool:
    return len(written) == len(words) and all(
        one == other or PLACE_HOLDER.search(one) for one, other in zip(written, words, strict=True)
    )


def _without_script(shown: Stack, role: str, program: str) -> Stack:
    """The stack that a capture shows; where an interpreter runs the program, its path is none of the arguments."""
    own = shown.processes[role]
    first, *rest = own.argv or [[]]
    if program not in first:
        return shown
    left = [line for line in (first[first.index(program) + 1 :], *rest) if line]
    return shown.model_copy(update={"processes": {role: own.model_copy(update={"argv": left})}})


def _as_started(stack: Stack, role: str, command: Command) -> Stack:
    """The stack that says what the command says, word for word, of this process alone."""
    own = stack.processes[role]
    env = {
        name: value
        for name, value in command.environment.items()
        if name in own.env or name not in kernel.GIVEN_BY_HIO
    }
    process = own.model_copy(update={"argv": [[word] for word in command.arguments], "env": env})
    return stack.model_copy(update={"processes": {role: process}})
