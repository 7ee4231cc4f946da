"""launch.json: the command of a service as the local backend starts it, a vector of words, secrets named and never written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hio_validate.command import Command
from hio_validate.execute.secrets import Unresolvable, revealed

NAME = "launch.json"


class Unlaunchable(Exception):
    """A launch file that starts nothing; one sentence."""


@dataclass(frozen=True)
class Launch:
    """A command, and where the values of the secrets that it names are kept."""

    command: Command
    secrets: Mapping[str, str]


def content(launch: Launch, stamp: Mapping[str, str]) -> bytes:
    """The bytes of a launch file; `stamp` says from which documents it was made."""
    command = launch.command
    data: dict[str, Any] = {
        "version": 1,
        "stamp": dict(stamp),
        "program": command.program,
        "arguments": list(command.arguments),
        "environment": dict(command.environment),
        "folder": command.folder,
        "secrets": dict(launch.secrets),
    }
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def read(file: Path) -> Launch:
    """What a launch file starts. Raises Unlaunchable."""
    try:
        data = json.loads(file.read_bytes())
        if data["version"] != 1:
            raise Unlaunchable(f"{file} has version {data['version']}; this hio reads 1")
        command = Command(
            str(data["program"]),
            tuple(map(str, data["arguments"])),
            {str(name): str(value) for name, value in data["environment"].items()},
            str(data["folder"]),
        )
        return Launch(command, dict(data["secrets"]))
    except OSError as error:
        raise Unlaunchable(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unlaunchable(f"{file} is no launch file ({type(error).__name__}: {error})") from None


def to_start(file: Path) -> Command:
    """The command with the values of its secrets, to be started and not kept. Raises Unlaunchable."""
    launch = read(file)
    try:
        return revealed(launch.command, launch.secrets)
    except Unresolvable as error:
        raise Unlaunchable(str(error)) from None
