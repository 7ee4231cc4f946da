"""env: the variables that a stack sets, as one file for one reader."""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import compose, docker, shell
from hio_validate.render.launch import Launch
from hio_validate.render.reading import OWN_ENVIRONMENT_READER, refuse_difference, refuse_other_environment
from hio_validate.render.target import Asked, Draft, Target, below, nothing_more

DIALECTS = {
    "systemd": "environment",
    "docker": "docker.env",
    "compose": "compose.env",
    "sh": "environment.sh",
}
"""Who reads it -> the name of the file."""


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    if asked.dialect not in DIALECTS:
        raise CannotRender(f"the target env needs a dialect: {', '.join(DIALECTS)}")
    launch.secret_files()
    if launch.secret and asked.dialect != "sh":
        raise CannotRender(
            f"a file for {asked.dialect} holds values only, and {', '.join(launch.secret)} is a secret: render the whole "
            "service (--target systemd, compose), which names where it is kept, or --dialect sh"
        )
    name = DIALECTS[asked.dialect]
    return (Draft(name, f"env/{name}.j2", 0o600, below(asked.root, name)),)


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    ((name, text),) = texts.items()
    return {name: _READERS[asked.dialect or ""](name, text, launch)}


def _systemd(name: str, text: str, launch: Launch) -> str:
    refuse_other_environment(text, name, launch.said)
    return OWN_ENVIRONMENT_READER


def _docker(name: str, text: str, launch: Launch) -> str:
    refuse_difference(name, docker.env_file(text, name), launch.said)
    return docker.NAME


def _compose(name: str, text: str, launch: Launch) -> str:
    said, who = compose.env_file(text, name)
    refuse_difference(name, said, launch.said)
    return who


def _sh(name: str, text: str, launch: Launch) -> str:
    plain, read = shell.secrets(text)
    files = launch.secret_files()
    if read != {variable: files[secret] for variable, secret in launch.secret.items()}:
        raise CannotRender(f"{name} reads other secrets than the stack names")
    said, who = shell.variables(plain, name)
    refuse_difference(name, said, launch.said)
    return who


_READERS = {"systemd": _systemd, "docker": _docker, "compose": _compose, "sh": _sh}
TARGET = Target(_drafts, nothing_more, _read_back)
