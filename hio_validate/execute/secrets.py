"""Secrets of a command: named in every record, read when a process starts, and nowhere kept.

Invariant: a value goes from its file into the process that needs it; no document, journal or message has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hio_validate.command import Command, secrets_in
from hio_validate.settings.places import SECRET, filled_in

_FILE = "file:"


class Unresolvable(Exception):
    """A secret that cannot be read; says which and what to do, never its value."""


def value_of(name: str, where: str | None) -> str:
    """The value of a secret, without the line feed at its end. Raises Unresolvable."""
    if where is None or not where.startswith(_FILE):
        said = "nothing" if where is None else "another place"
        raise Unresolvable(
            f"where the secret {name} is kept: the site says {said}; expected file:/path/of/its/value"
        )
    try:
        value = Path(where.removeprefix(_FILE)).read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Unresolvable(f"the secret {name} cannot be read where the site says it is: {why}") from None
    if not value or "\n" in value or "\0" in value:
        raise Unresolvable(f"the secret {name} is empty or has several lines; expected one line")
    return value


def revealed(command: Command, places: Mapping[str, str]) -> Command:
    """The command with the values of its secrets, to be started and not kept. Raises Unresolvable."""
    names = secrets_in(command)
    if not names:
        return command
    known = {f"{SECRET}{name}": value_of(name, places.get(name)) for name in names}
    return replace(
        command,
        arguments=tuple(filled_in(each, known) for each in command.arguments),
        environment={name: filled_in(value, known) for name, value in command.environment.items()},
    )


def key_of(command: Command, places: Mapping[str, str]) -> str | None:
    """The key that a llama-server asks of its clients, where its command names one. Raises Unresolvable."""
    made = revealed(command, places)
    given = [value for flag, value in pairwise(made.arguments) if flag == "--api-key"]
    keys = given[-1] if given else made.environment.get("LLAMA_API_KEY")
    return keys.partition(",")[0] if keys else None
