"""What a process's environment and command line give together, and where the two say different things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models.family import Family
from hio_validate.models.stack import Process
from hio_validate.settings.argv import Given, Misread, read_argv
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.environment import read_environment
from hio_validate.settings.setting import Class, class_of
from hio_validate.settings.value import normal


class Reading(NamedTuple):
    """The settings given, in order, and what is not understood or contradicts itself."""

    env: tuple[Given, ...]
    argv: tuple[Given, ...]
    misread: tuple[Misread, ...]


def read_process(process: Process, family: Family | None, catalogue: Catalogue | None, at: Path) -> Reading:
    """Read a process's environment and arguments; `at` is the symbolic path of the process."""
    env, wrong = read_environment(process.env, family, catalogue, (*at, "env"))
    argv, wrong_too = read_argv(process.argv, family, catalogue, (*at, "argv"))
    return Reading(tuple(env), tuple(argv), (*wrong, *wrong_too, *_conflicts(env, argv, family)))


def _conflicts(env: Sequence[Given], argv: Sequence[Given], family: Family | None) -> list[Misread]:
    """A setting given twice with different values: the last argument, or argv over environment, silently wins."""
    repeatable = set(family.repeatable) if family else set()
    found: list[Misread] = []
    seen: dict[str, Given] = {}
    for given in [*env, *argv]:
        before = seen.get(given.factor)
        value = normal(given.value, given.factor, given.option, family)
        if before is not None and given.factor not in repeatable:
            other = normal(before.value, before.factor, before.option, family)
            if other != value:
                found.append(_conflict(given, before, (other, value), class_of(given.factor, family)))
        seen[given.factor] = given
    return found


def _conflict(given: Given, before: Given, values: tuple[str, str], class_: Class) -> Misread:
    first, second = ("another value", "its own") if class_ is Class.SECRET else values
    last = "the last one" if before.spelling == given.spelling else given.spelling
    return Misread(
        "env-argv-conflict",
        f"{given.factor} is set twice: {before.spelling} gives {first}, {given.spelling} gives {second}",
        f"keep one; the engine takes {last}",
        given.path,
    )
