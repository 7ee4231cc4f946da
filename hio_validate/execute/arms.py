"""An arm as a command: a stack with its delta written into the arguments, at its place on this host.

Invariant: the settings in force of the command are those of stack plus delta; what cannot be written so that
they are equal is refused (contract 4.6: the arms differ in what the plan says, and in nothing else).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hio_validate.command import Command, Unplaced, command_of, secrets_in
from hio_validate.execute.secrets import Unresolvable, value_of
from hio_validate.execute.work import ArmWork
from hio_validate.models.plan import PlannedArm
from hio_validate.models.site import Place, Site
from hio_validate.models.stack import Process, Stack
from hio_validate.repo import Item, Repo
from hio_validate.settings.argv import Given
from hio_validate.settings.catalogue import Arity, Option
from hio_validate.settings.delta import delta_of
from hio_validate.settings.difference import LEAVES_NO_DIFFERENCE, Compared, Group
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.places import filled, values
from hio_validate.settings.reading import read_process
from hio_validate.settings.request import LLAMA
from hio_validate.settings.resolve import Builds, resolve
from hio_validate.settings.setting import Class, Effective, Knowledge
from hio_validate.settings.value import ABSENT, text_of

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a trial's processes find other programs; nothing is inherited from whoever starts hio."""


class NotStartable(Exception):
    """An arm that this host cannot start as planned; says why and what to do."""


@dataclass(frozen=True)
class Host:
    """What this host adds to a stack."""

    site: Site
    place: Place
    port: int
    """Where the processes of a trial listen."""

    @property
    def known(self) -> dict[str, str]:
        """What each place-holder stands for; a secret for itself."""
        return {**values(self.place), "port": str(self.port)}


def arm_work(planned: PlannedArm, host: Host, repo: Repo, settings: Settings, service: str) -> ArmWork:
    """How an arm's server is started. Raises NotStartable."""
    stack = _stack(planned.stack, repo, service)
    role, process = _only_process(stack)
    delta = {name: text_of(value) for name, value in planned.set.items()}
    changed = with_delta(stack.model, delta, settings)
    made = command(changed, role, host, stack.name)
    effective = settings.resolve_processes(filled(changed, host.known), {})
    _refuse_another_port(effective, role, host, stack.name)
    _refuse_another_host(effective, role, host, stack.name)
    _refuse_missing_files(effective, host, stack.name, process.engine)
    return ArmWork(
        stack=f"{planned.stack}@{stack.document.digest}",
        set=dict(planned.set),
        command=made,
        role=role,
        family=process.engine,
        build=process.build,
    )


def command(stack: Stack, role: str, host: Host, name: str) -> Command:
    """The command of a stack's process at this host, with its whole environment; secrets stay named. Raises NotStartable."""
    try:
        made = command_of(stack, role, host.site, host.place, host.port)
    except Unplaced as error:
        raise NotStartable(str(error)) from None
    _refuse_what_is_no_program(made.program, stack.processes[role], host.site)
    _refuse_unreadable_secrets(made, host)
    return replace(
        made,
        environment={
            "PATH": PATH,
            "LANG": "C.UTF-8",
            "HOME": os.environ.get("HOME", "/"),
            **made.environment,
        },
    )


def as_started(stack: Stack, arm: ArmWork) -> Stack:
    """The stack that says what an arm's command says, word for word."""
    own = {name for name in ("PATH", "LANG", "HOME") if name not in stack.processes[arm.role].env}
    env = {name: value for name, value in arm.command.environment.items() if name not in own}
    process = stack.processes[arm.role].model_copy(
        update={"argv": [[word] for word in arm.command.arguments], "env": env}
    )
    return stack.model_copy(update={"processes": {arm.role: process}})


def with_delta(stack: Stack, delta: Mapping[str, str], settings: Settings) -> Stack:
    """The stack whose arguments say what stack plus delta means. Raises NotStartable."""
    knowledge = settings.knowledge(stack, {})
    processes = {}
    said = 0
    for role, process in stack.processes.items():
        changes = delta_of(role, delta, stack, knowledge)
        said += len(changes)
        processes[role] = _changed(process, changes, knowledge[role])
    if said < len(delta):
        raise NotStartable(
            f"of {', '.join(delta)} not each names one setting of one process: write PROCESS.SETTING"
        )
    written = stack.model_copy(update={"processes": processes})
    _refuse_another_meaning(stack, delta, written, settings)
    return written


def _changed(process: Process, changes: Mapping[str, str], known: Knowledge) -> Process:
    argv, env = [list(line) for line in process.argv], dict(process.env)
    for factor, value in changes.items():
        reading = read_process(
            process.model_copy(update={"argv": argv, "env": env}), known.family, known.catalogue, ()
        )
        flags = [each for each in reading.argv if each.factor == factor]
        variables = [each for each in reading.env if each.factor == factor]
        if variables and not flags and value != ABSENT and not any(each.negated for each in variables):
            env.update({each.spelling: value for each in variables})
            continue
        for each in variables:
            del env[each.spelling]
        option = known.catalogue.find(factor) if known.catalogue else None
        argv = _replaced(argv, factor, flags, [] if value == ABSENT else _words(factor, value, option, flags))
    return process.model_copy(update={"argv": argv, "env": env})


def _replaced(
    argv: list[list[str]], factor: str, flags: Sequence[Given], words: list[str]
) -> list[list[str]]:
    """The lines with the new words where the setting stood first, else at the end."""
    rows = sorted({int(each.path[1]) for each in flags})
    mixed = [row for row in rows if not _is_alone(argv, row, flags)]
    if mixed:
        raise NotStartable(
            f"{factor} shares a line of argv with other words ({' '.join(argv[mixed[0]])}): "
            "write each flag with its values on a line of its own"
        )
    kept: list[list[str]] = []
    for row, line in enumerate(argv):
        if row not in rows:
            kept.append(line)
        elif row == rows[0] and words:
            kept.append(words)
    return kept if rows or not words else [*kept, words]


def _is_alone(argv: list[list[str]], row: int, flags: Sequence[Given]) -> bool:
    """Whether a line is one flag with its values, and nothing else."""
    first, *rest = argv[row]
    mine = [each for each in flags if each.path[1] == row]
    if len(mine) != 1 or first.partition("=")[0] != mine[0].spelling:
        return False
    value = " ".join(rest) if "=" not in first else first.partition("=")[2]
    return mine[0].value == value or (not rest and mine[0].value in ("on", "off"))


def _words(factor: str, value: str, option: Option | None, flags: Sequence[Given]) -> list[str]:
    """The flag and its values, spelt as it was where it was given."""
    before = next((each.spelling for each in flags if not each.negated), None)
    if option is None:
        return [before or f"--{factor}", value]
    long = [each for each in option.flags if each.startswith("--")]
    spelling = before or (long or list(option.flags))[0]
    if option.arity is Arity.NONE:
        if value == "on":
            return [spelling]
        return [option.negations[0]] if value == "off" and option.negations else []
    return [spelling, *(value.split() if option.arity in (Arity.TWO, Arity.MANY) else [value])]


def _refuse_another_meaning(
    stack: Stack, delta: Mapping[str, str], written: Stack, settings: Settings
) -> None:
    knowledge, builds = settings.knowledge(stack, {}), Builds()
    meant = resolve(stack, knowledge, delta, builds)
    said = resolve(written, knowledge, builds=builds)
    if said.misread and delta:
        raise NotStartable(
            f"with the delta {_told(delta)}: {said.misread[-1].message} ({said.misread[-1].help})"
        )
    differing = [each for each in settings.difference(meant, said).touched if not _is_the_same(each)]
    if differing:
        told = "; ".join(f"{each.address} would be {each.to}, not {each.from_}" for each in differing[:5])
        raise NotStartable(
            f"the delta {_told(delta)} cannot be written as arguments of {stack.name}: {told}; "
            "write a stack of its own for this arm"
        )


def _is_the_same(each: Compared) -> bool:
    """Whether both sides ask for the same; what run time decides, and a secret, is the same where it is written alike."""
    if each.group in LEAVES_NO_DIFFERENCE or each.class_ is Class.SECRET:
        return True
    written = [side.declared if side else None for side in (each.parent, each.candidate)]
    return each.group is Group.UNKNOWN and written[0] == written[1]


def _told(delta: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in delta.items()) or "of nothing"


def _refuse_another_port(effective: Effective, role: str, host: Host, name: str) -> None:
    """A server is asked where the trial listens, and nowhere else."""
    port = effective.settings.get(f"{role}.port")
    if port is not None and port.known and port.value != str(host.port):
        raise NotStartable(
            f"the stack {name} listens on port {port.value}, and the trial is on port {host.port}: "
            'write ["--port", "${port}"] in the stack'
        )


def _refuse_another_host(effective: Effective, role: str, host: Host, name: str) -> None:
    """An experiment opens a server to nobody else: who may reach it is a matter of the site and of approvals."""
    asked = effective.settings.get(f"{role}.host")
    if asked is not None and asked.known and host.place.host and asked.value != host.place.host:
        raise NotStartable(
            f"an arm of the stack {name} listens on {asked.value}, and the site says {host.place.host}: "
            'write ["--host", "${host}"] in the stack, and leave host out of the arm'
        )


def _refuse_missing_files(effective: Effective, host: Host, name: str, engine: str) -> None:
    """Refuse a model that is not there: of llama-server a file, of others also a folder of files. Raises NotStartable."""
    is_there, kind = (os.path.isfile, "no file") if engine == LLAMA else (os.path.exists, "not")
    for each in effective.settings.values():
        path = each.declared
        if each.class_ is Class.ARTIFACT and path.startswith("/") and not is_there(path):
            raise NotStartable(
                f"{path}, the {each.factor} of the stack {name}, is {kind} here: "
                f"put it there, or correct the paths in manifests/sites/{host.site.name}.yaml"
            )


def _stack(name: str, repo: Repo, service: str) -> Item:
    item = repo.find("stack/v1", name, service)
    if item is None or item.model is None:
        raise NotStartable(f"no readable stack of {service} is called {name}: write it, or correct the name")
    return item


def _only_process(stack: Item) -> tuple[str, Process]:
    processes = stack.model.processes
    if len(processes) != 1:
        raise NotStartable(
            f"the stack {stack.name} has the processes {', '.join(processes)}; hio run starts stacks of one process"
        )
    only: tuple[str, Process] = next(iter(processes.items()))
    return only


def _refuse_what_is_no_program(path: str, process: Process, site: Site) -> None:
    if not (os.access(path, os.X_OK) and Path(path).is_file()):
        named = process.build or process.engine
        raise NotStartable(f"{path}, the program of {named} at {site.name}, is no executable file here")


def _refuse_unreadable_secrets(made: Command, host: Host) -> None:
    for secret in secrets_in(made):
        try:
            value_of(secret, host.place.secrets.get(secret))
        except Unresolvable as error:
            raise NotStartable(str(error)) from None
