"""The command of a stack's process at its place: program, words and environment, complete and in order.

Invariant: an argument vector stays a vector; nothing is read from this host, so that the same documents give the same
command everywhere. A secret stays named (`${secret:NAME}`); its value is nobody's business before a process starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hio_validate.models.site import Place, Site
from hio_validate.models.stack import Process, Stack
from hio_validate.settings.places import PLACE_HOLDER, SECRET, filled, values


class Unplaced(Exception):
    """A stack that has no command at a site; says what is missing and where to add it."""


@dataclass(frozen=True)
class Command:
    """A program with its arguments and its whole environment; nothing is inherited."""

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str = "/"

    @property
    def argv(self) -> list[str]:
        return [self.program, *self.arguments]


def command_of(stack: Stack, role: str, site: Site, place: Place, port: int | None = None) -> Command:
    """The command of one process at its place, its environment only what the stack says. Raises Unplaced.

    `port` stands in for the place's own, as a trial needs it.
    """
    known = values(place) | ({"port": str(port)} if port is not None else {})
    process = filled(stack, known).processes[role]
    made = Command(
        program=program_of(process, site),
        arguments=tuple(word for line in process.argv for word in line),
        environment=dict(process.env),
    )
    _refuse_unfilled(made, site, stack.name)
    return made


def program_of(process: Process, site: Site) -> str:
    """The absolute path of a process's program at a site. Raises Unplaced."""
    named = [each for each in (process.build, process.engine) if each]
    path = next((site.programs[each] for each in named if each in site.programs), None)
    example = f"programs: {{{named[0]}: /path/of/{process.engine}}}"
    if path is None:
        raise Unplaced(
            f"the site {site.name} does not say where the program of {named[0]} is: "
            f"add it to manifests/sites/{site.name}.yaml, e.g. {example}"
        )
    if not path.startswith("/"):
        raise Unplaced(
            f"the site {site.name} says that the program of {named[0]} is {path}, which is no absolute path: "
            f"correct it in manifests/sites/{site.name}.yaml, e.g. {example}"
        )
    return path


def secrets_in(command: Command) -> list[str]:
    """The names of the secrets that a command names, each once."""
    texts = [*command.arguments, *command.environment.values()]
    names = [name for text in texts for name in PLACE_HOLDER.findall(text)]
    return list(dict.fromkeys(name.removeprefix(SECRET) for name in names if name.startswith(SECRET)))


def _refuse_unfilled(made: Command, site: Site, name: str) -> None:
    texts = [*made.arguments, *made.environment.values()]
    open_names = {
        each for text in texts for each in PLACE_HOLDER.findall(text) if not each.startswith(SECRET)
    }
    if open_names:
        raise Unplaced(
            f"the stack {name} needs {', '.join(sorted(open_names))}, which the site {site.name} does not define: "
            f"add it under paths in manifests/sites/{site.name}.yaml"
        )
