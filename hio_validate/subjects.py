"""What `hio diff` can compare: a stack, a capture, a live process, a unit, a command line, as one thing.

Invariant: whatever is named becomes the same shape, so that any two can be compared, with or without a
repository around. What a stack and a process started from it make of each other says drift.py.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hio_validate.models import reader
from hio_validate.models.capture import Capture
from hio_validate.models.stack import Stack
from hio_validate.observe.asked import Asked
from hio_validate.observe.privacy import keep
from hio_validate.repo import ENDINGS, Item, Repo, item_of
from hio_validate.settings import family as families
from hio_validate.settings.captured import stack_of
from hio_validate.settings.catalogue import Catalogue, UnreadableHelp
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.places import filled, place_of, values
from hio_validate.settings.resolve import resolve
from hio_validate.settings.secrets import WITHHELD
from hio_validate.settings.setting import Effective, Knowledge
from hio_validate.source import read

Progress = Callable[[int, int], None]


class NoSubject(Exception):
    """What was named is nothing that can be compared; says why."""


@dataclass(frozen=True)
class Subject:
    """One side of a comparison."""

    label: str
    effective: Effective
    notes: tuple[str, ...] = ()
    stack: Stack | None = None
    """Where a stack document was named: it, with the place-holders filled that its site defines."""
    capture: Capture | None = None
    """Where a process was observed, now or then."""


@dataclass(frozen=True)
class Surroundings:
    """Where names are looked up, and how a wait is shown."""

    repo: Repo
    settings: Settings
    service: str | None = None
    progress: Progress | None = None
    asked: Asked = field(default_factory=Asked)
    """What this host was asked, by whichever side."""


def subject(named: str, around: Surroundings) -> Subject:
    """The thing a word names. Raises NoSubject, and Unobservable for a process that cannot be observed."""
    if named.isdecimal():
        return _process(int(named), around)
    if named.endswith(".service"):
        return _unit(Path(named), around)
    if named.endswith(ENDINGS) and os.path.isfile(named):
        return _document(item_of(read(_bytes(named), named)), around)
    if any(character.isspace() for character in named):
        return command_line(_words(named), around)
    if "/" in named and Path(named).is_file():
        return command_line([named], around)
    for kind in ("stack/v1", "capture/v1"):
        found = around.repo.meant(kind, named, around.service)
        if len(found) > 1:
            names = " or ".join(item.full_name for item in found)
            raise NoSubject(f"{named} is the name of several: say {names}, or give --service")
        if found:
            return _document(found[0], around)
    raise NoSubject(
        f"{named} is no stack or capture of this repository, no file, no pid and no unit; "
        'a command line goes in quotes or after "--"'
    )


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise NoSubject(f"{file} cannot be read: {error.strerror}") from None


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise NoSubject(f"{text} is no command line: {str(error).lower()}") from None


def command_line(words: Sequence[str], around: Surroundings) -> Subject:
    """A command line, whose program's own --help gives the defaults where it is an executable here.

    `NAME=value` words before the program are its environment, as in a shell.
    """
    start = next((at for at, word in enumerate(words) if not _ASSIGNS.match(word)), len(words))
    env = dict(word.split("=", 1) for word in words[:start])
    begin = start + families.program_at(words[start:])
    env |= dict(word.split("=", 1) for word in words[start:begin] if _ASSIGNS.match(word))
    wrapped = [word for word in words[start:begin] if not _ASSIGNS.match(word)]
    argv = words[begin:]
    if not argv:
        raise NoSubject("the command line is empty")
    family = families.recognised(argv)
    program = shutil.which(argv[0])
    catalogue, notes = _learned(Path(program) if program else None, family, around)
    grammar = Grammar(around.settings.family(family) if family else None, catalogue)
    if wrapped and wrapped[-1].rpartition("/")[2] != "env":
        notes = (f"started through {' '.join(wrapped)}, which is not compared", *notes)
    return _given(_label(argv, env, grammar), argv[1:], env, family, catalogue, notes)


_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_LONGEST_LABEL = 60


def _label(argv: Sequence[str], env: Mapping[str, str], grammar: Grammar) -> str:
    """The command line as it may be shown: without secrets, and not longer than a person reads."""
    kept = keep(argv, env, grammar)
    shown = [f"{name}={WITHHELD if name in kept.environ_withheld else value}" for name, value in env.items()]
    text = " ".join([*shown, *(word for line in kept.argv for word in line)])
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _document(item: Item, around: Surroundings) -> Subject:
    if item.model is None:
        refused = [refusal.message for refusal in item.refused] or [
            fault.message for fault in item.document.faults
        ]
        raise NoSubject(f"{item.file} cannot be read: {refused[0] if refused else 'no document'}")
    if item.kind == "stack/v1":
        place = place_of(item.service or around.service, around.repo)
        stack = filled(item.model, values(place)) if place else item.model
        return Subject(item.name, around.settings.resolve_processes(stack, {}), stack=stack)
    if item.kind == "capture/v1":
        effective = around.settings.resolve_capture(stack_of(item.model), item.model)
        return Subject(item.name, effective, capture=item.model)
    raise NoSubject(f"{item.file} is a {item.kind}; expected a stack or a capture")


def _process(pid: int, around: Surroundings) -> Subject:
    # Imported here: only a live process needs the code that observes one.
    from hio_validate.observe.capture import capture
    from hio_validate.observe.recognise import recognised_process

    seen = recognised_process(pid, around.settings, progress=around.progress, asked=around.asked)
    observed = capture(f"pid-{pid}", {"server": seen.process})
    learned = {"server": seen.catalogue}
    effective = around.settings.resolve_capture(stack_of(observed), observed, learned)
    return Subject(f"pid {pid}", effective, seen.notes, capture=observed)


def _unit(path: Path, around: Surroundings) -> Subject:
    from hio_validate.observe.units import read_unit  # only for units

    if not path.exists():
        raise NoSubject(f"{path} does not exist; a unit is named by the path of its file")
    unit = read_unit(path)
    env, withheld = _without_secrets(unit.env)
    if unit.argv is None:
        return _given(path.name, (), env, None, None, (*unit.unresolved, *withheld))
    family = families.recognised(unit.argv)
    program = shutil.which(unit.argv[0])
    catalogue, notes = _learned(Path(program) if program else None, family, around)
    return _given(path.name, unit.argv[1:], env, family, catalogue, (*unit.unresolved, *withheld, *notes))


def _without_secrets(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables whose names say that they hold a secret are not shown, hence not compared."""
    from hio_validate.settings.secrets import says_secret  # only for units

    secret = sorted(name for name in env if says_secret(name))
    return {name: value for name, value in env.items() if name not in secret}, [
        f"{name} is a secret: withheld, not compared" for name in secret
    ]


def _learned(
    program: Path | None, family: str | None, around: Surroundings
) -> tuple[Catalogue | None, tuple[str, ...]]:
    """The catalogue of a program that is here; else a borrowed one, and a note that says so."""
    from hio_validate.observe.help_text import is_the_program  # it looks at the program
    from hio_validate.observe.refusal import Unobservable

    table = around.settings.family(family) if family else None
    if table is None:
        return None, ("the program is of no family hio knows, so nothing is known of its defaults",)
    if program is not None and not is_the_program(program, table):
        why = f"{program.name} only starts it, so its defaults are unknown"
        return around.settings.borrowed(table.name), (why,)
    if program is None:
        return around.settings.borrowed(table.name), ("the program is not here, so its defaults are unknown",)
    try:
        return around.asked.catalogue(program, table), ()
    except (Unobservable, UnreadableHelp) as error:
        return around.settings.borrowed(table.name), (f"its defaults are unknown: {error}",)


def _given(
    label: str,
    words: Sequence[str],
    env: Mapping[str, str],
    family: str | None,
    catalogue: Catalogue | None,
    notes: tuple[str, ...],
) -> Subject:
    stack: Stack = reader("stack/v1").validate_python(
        {
            "hio": "stack/v1",
            "name": "given",
            "processes": {"server": {"engine": family or "unknown", "argv": [list(words)], "env": dict(env)}},
        }
    )
    known = Knowledge(families.packaged(family) if family else None, catalogue)
    return Subject(label, resolve(stack, {"server": known}), notes)
