"""A capture read as a stack: what its processes were started with."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hio_validate.models import reader
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.stack import Stack
from hio_validate.settings.secrets import WITHHELD, says_secret

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A variable a stack can set; a process may have inherited stranger ones."""


def stack_of(capture: Capture, name: str | None = None) -> Stack:
    """The stack that a capture shows: its arguments without the program, and the environment that was kept."""
    return as_stack(capture.processes, name or capture.name)


def as_stack(captured: Mapping[str, CapturedProcess], name: str) -> Stack:
    """The same of processes that are in no capture yet."""
    processes = {}
    for role, process in captured.items():
        words = process.argv.value or []
        processes[role] = {
            "engine": process.family,
            **({"build": process.build} if process.build else {}),
            "argv": _without_program(words),
            "env": _environment(process),
        }
    stack: Stack = reader("stack/v1").validate_python(
        {"hio": "stack/v1", "name": name, "processes": processes}
    )
    return stack


def _environment(process: CapturedProcess) -> dict[str, str]:
    """The settings of an environment; a secret one was set too, and its value is unknown (class secret)."""
    secret = {name: WITHHELD for name in process.environ.withheld if says_secret(name)}
    return {name: value for name, value in (secret | process.environ.values).items() if _NAME.fullmatch(name)}


def _without_program(lines: list[list[str]]) -> list[list[str]]:
    if not lines:
        return []
    first, *rest = lines
    return [first[1:], *rest] if len(first) > 1 else rest
