"""launch.json: the command of a service as hio's own backend starts it, a vector of words, its secrets only named.

Who renders it reads it back here, and who starts the service from it reads it here, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hio_validate.command import Command

NAME = "launch.json"
VERSION = 1


class Unlaunchable(Exception):
    """A launch file that starts nothing; one sentence."""


@dataclass(frozen=True)
class LaunchFile:
    """A command, and where the values of the secrets that it names are kept."""

    command: Command
    secrets: Mapping[str, str]


def read(content: bytes, file: str) -> LaunchFile:
    """What a launch file starts; `file` names it in the sentence. Raises Unlaunchable."""
    try:
        data = json.loads(content)
        if data["version"] != VERSION:
            raise Unlaunchable(f"{file} has version {data['version']}; this hio reads {VERSION}")
        command = Command(
            _text(data["program"]),
            tuple(_text(each) for each in _list(data["arguments"])),
            _texts(data["environment"]),
            _text(data["folder"]),
        )
        return LaunchFile(command, _texts(data["secrets"]))
    except KeyError as error:
        raise Unlaunchable(f"{file} is no launch file: {error} is missing") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise Unlaunchable(f"{file} is no launch file: {error}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {json.dumps(value)[:40]}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list of words, got {json.dumps(value)[:40]}")
    return value


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise TypeError(f"expected names with their texts, got {json.dumps(value)[:40]}")
    return {name: _text(each) for name, each in value.items()}
