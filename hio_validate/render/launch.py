"""What is rendered: one process of a stack at its site, with where its secrets are kept and when it is ready.

Invariants: nothing is read from this host, so that the same documents render the same bytes everywhere; a secret is
only named (contract 1.8), and never in an argument, which every user of a host can read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from hio_validate.command import Command, Unplaced, command_of, secrets_in
from hio_validate.models.site import Place, Site
from hio_validate.models.stack import Stack
from hio_validate.render.bundle import CannotRender
from hio_validate.render.carrying import CannotCarry, refuse_impossible, refuse_impossible_together
from hio_validate.repo import Item, Repo
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.literal import literals_of_site, literals_of_stack
from hio_validate.settings.places import filled, start_s, values
from hio_validate.settings.setting import Effective

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a service finds other programs; nothing is inherited from whoever starts it."""
ALWAYS = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/"}
"""What every service has in its environment, where its stack says nothing else."""
_SECRET_ALONE = re.compile(r"\$\{secret:([^${}]*)\}")
_FILE = "file:"
_KEPT_IN_A_FILE = re.compile(r"file:(/[A-Za-z0-9_.,@+-]+)+")
"""A path that means itself in every dialect."""
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "*": "127.0.0.1"}


@dataclass(frozen=True)
class Ready:
    """When a service is ready: its URL answers HTTP 200 within a time; 503 means that it still loads."""

    host: str
    """Where it is asked; an address of IPv6 is in brackets."""
    port: int
    path: str
    within_s: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}{self.path}"


@dataclass(frozen=True)
class Launch:
    """One process of a stack at its site."""

    service: str
    stack: Item
    site: Item
    place: Place
    role: str
    command: Command
    """Its environment is the whole one; secrets are still named."""
    secrets: Mapping[str, str]
    """Name of a secret that the command needs -> where it is kept, as the site says it."""
    ready: Ready

    @property
    def model_name(self) -> str:
        """The service without its site."""
        return self.service.partition("/")[2]

    def secret_files(self) -> dict[str, str]:
        """Name of a secret -> the absolute path of the file that holds its value. Raises CannotRender."""
        other = [name for name, where in self.secrets.items() if not _KEPT_IN_A_FILE.fullmatch(where)]
        if other:
            raise CannotRender(
                *(
                    f"the site {self.site.name} does not say in which file the secret {name} is kept: "
                    f"write secrets: {{{name}: file:/path/of/its/value}}, a path without blanks and signs"
                    for name in other
                )
            )
        return {name: where.removeprefix(_FILE) for name, where in self.secrets.items()}

    def words(self, paths: Mapping[str, str]) -> list[str]:
        """The words that start the process where no one else reads its secrets from the files `paths` (by secret).

        Without secrets they are its own; else sh reads each file, refuses an empty one, and becomes the process.
        """
        if not self.secret:
            return self.command.argv
        reads = "".join(
            f'{name}="$(cat "{paths[secret]}")"; test -n "${name}"; export {name}; '
            for name, secret in self.secret.items()
        )
        return ["/bin/sh", "-c", f'set -eu; {reads}exec "$@"', "hio", *self.command.argv]

    @property
    def plain(self) -> dict[str, str]:
        """The variables that are no secrets."""
        return {name: value for name, value in self.command.environment.items() if "${secret:" not in value}

    @property
    def said(self) -> dict[str, str]:
        """The variables that are no secrets and that the stack itself sets; an image has its own PATH."""
        names = self.stack.model.processes[self.role].env
        return {name: value for name, value in self.plain.items() if name in names}

    @property
    def mounts(self) -> list[str]:
        """The absolute paths of the site that the command names: what a container needs of its host."""
        texts = [*self.command.arguments, *self.command.environment.values()]
        paths = [path for path in self.place.paths.values() if path.startswith("/")]
        return sorted({path for path in paths if any(path in text for text in texts)})

    @property
    def secret(self) -> dict[str, str]:
        """Variable -> the name of the secret that is its value."""
        found = {name: _SECRET_ALONE.fullmatch(value) for name, value in self.command.environment.items()}
        return {name: match[1] for name, match in found.items() if match}


def launch_of(repo: Repo, stack: Item, service: str, settings: Settings | None = None) -> Launch:
    """How a stack serves at its site. Raises CannotRender with every reason."""
    site, place = _placed(repo, service)
    settings = settings or Settings(repo)
    role = _only_role(stack)
    try:
        made = command_of(stack.model, role, site.model, place)
    except Unplaced as error:
        raise CannotRender(str(error)) from None
    effective = settings.resolve_processes(filled(stack.model, values(place)), {})
    made = replace(made, environment={**ALWAYS, **made.environment})
    reasons = [
        *_stated_secrets(stack.model, site, settings),
        *_ill_placed_secrets(made, place, site.model),
        *_impossible(made),
        *_another_address(stack.name, role, place, effective),
    ]
    if reasons:
        raise CannotRender(*dict.fromkeys(reasons))
    secrets = {name: place.secrets[name] for name in secrets_in(made)}
    return Launch(service, stack, site, place, role, made, secrets, _ready(place, effective, role))


def _placed(repo: Repo, service: str) -> tuple[Item, Place]:
    name, _, model = service.partition("/")
    site = repo.find("site/v1", name)
    if site is None or site.model is None:
        raise CannotRender(f"no readable site is called {name}: write manifests/sites/{name}.yaml")
    said: Site = site.model
    place = said.services.get(model)
    if place is None or place.port is None:
        missing = "service" if place is None else "port of the service"
        raise CannotRender(
            f"the site {name} does not know the {missing} {model}: "
            f"write services: {{{model}: {{host: 127.0.0.1, port: 8080}}}} in manifests/sites/{name}.yaml"
        )
    return site, place


def _only_role(stack: Item) -> str:
    roles = list(stack.model.processes)
    if len(roles) != 1:
        raise CannotRender(
            f"the stack {stack.name} has the processes {', '.join(roles)}; hio renders stacks of one process"
        )
    return str(roles[0])


def _stated_secrets(stack: Stack, site: Item, settings: Settings) -> list[str]:
    known = settings.knowledge(stack, {})
    grammars = {role: Grammar(each.family, each.catalogue) for role, each in known.items()}
    found = [
        *((f"the stack {stack.name}", each) for each in literals_of_stack(stack, grammars)),
        *((f"the site {site.name}", each) for each in literals_of_site(site.model)),
    ]
    return [
        f"{where}: {each.name} states a secret (literal-secret): change the secret where it is used, and write "
        "${secret:NAME} in its place"
        for where, each in found
    ]


def _ill_placed_secrets(made: Command, place: Place, site: Site) -> list[str]:
    reasons = [
        f"the argument {_flag_of(word, before)} is a secret, and every user of a host can read "
        "the arguments of a process: give it as a variable of env, or as a file"
        for before, word in pairwise(("", *made.arguments))
        if "${secret:" in word
    ]
    for name, value in made.environment.items():
        if "${secret:" in value and not _SECRET_ALONE.fullmatch(value):
            reasons.append(
                f"{name} holds more than one secret's name: write exactly ${{secret:NAME}}, the rest belongs into its file"
            )
    reasons += [
        f"the site {site.name} does not say where the secret {secret} is kept: "
        f"write secrets: {{{secret}: file:/path/of/its/value}}"
        for secret in secrets_in(made)
        if secret not in place.secrets
    ]
    return reasons


def _flag_of(word: str, before: str) -> str:
    """How a person finds an argument: by its flag, where it has one."""
    if word.startswith("-") and "=" in word:
        return word.partition("=")[0]
    return f"after {before}" if before.startswith("-") else word


def _impossible(made: Command) -> list[str]:
    """What no process can be given, in whatever dialect."""
    texts = [
        ("the program", made.program),
        *((f"the argument {word[:40]!r}", word) for word in made.arguments),
    ]
    texts += [(name, f"{name}={value}") for name, value in made.environment.items()]
    reasons = []
    for what, each in texts:
        try:
            refuse_impossible(each)
        except CannotCarry as error:
            reasons.append(f"{what}: {error}")
    try:
        refuse_impossible_together(each for _, each in texts)
    except CannotCarry as error:
        reasons.append(str(error))
    return reasons


def _another_address(name: str, role: str, place: Place, effective: Effective) -> list[str]:
    """A service listens where its site says; elsewhere its probes would ask somebody else."""
    reasons = []
    for factor, said in (("port", str(place.port)), ("host", place.host)):
        found = effective.settings.get(f"{role}.{factor}")
        if found is not None and found.known and said is not None and found.value != said:
            reasons.append(
                f"the stack {name} listens on {factor} {found.value[:60]}, and its site says {said}: "
                f'write ["--{factor}", "${{{factor}}}"] in the stack'
            )
    return reasons


def _ready(place: Place, effective: Effective, role: str) -> Ready:
    host = place.host or "127.0.0.1"
    asked = _EVERY_ADDRESS.get(host, f"[{host}]" if ":" in host else host)
    prefix = effective.settings.get(f"{role}.api-prefix")
    under = prefix.declared.strip("/") if prefix is not None and prefix.set_by_a_person else ""
    assert place.port is not None, "a place without a port is refused before"
    return Ready(asked, place.port, f"/{under}/health" if under else "/health", _start_s(place))


def _start_s(place: Place) -> int:
    try:
        return ceil(start_s(place))
    except ValueError as error:
        raise CannotRender(str(error)) from None
