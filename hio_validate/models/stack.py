"""stack/v1: WHAT shall run. No path, port, pid, list of hashes or result.

Written by hio_validate/compile.py from definitions/stack.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, KNOWN_SHA256, NAME, SCALAR, TEXT
from hio_validate.models.record import Record, field

ENVIRONMENT_NAME = {'type': 'str', 'max_length': 200, 'pattern': '^[A-Za-z_][A-Za-z0-9_]*$'}


class Launcher(Record):
    """A script between the unit and the engine; needed to deploy, not to compare."""

    file: str = field(TEXT, 'Path of the script in its own repository.')
    sha256: str = field(KNOWN_SHA256, 'SHA-256 of the script, or unknown.')


class Process(Record):
    """One process of the serving path."""

    engine: str = field(NAME, 'Engine family, i.e. which grammar reads argv; `unknown` where none does.')
    build: str | None = field({'type': 'nullable', 'schema': NAME}, 'Engine document whose --help gives the defaults.', default=None)
    launcher: Launcher | None = field({'type': 'nullable', 'schema': Launcher.core}, 'Script that turns an environment into this argv.', default=None)
    argv: list[list[str]] = field({'type': 'list', 'items_schema': {'type': 'list', 'items_schema': {'type': 'str'}}}, 'Arguments after the program, one flag with its values a line.', default_factory=list)
    env: dict[str, str] = field({'type': 'dict', 'keys_schema': ENVIRONMENT_NAME, 'values_schema': {'type': 'str'}}, 'Environment variables that set something; values are quoted text.', default_factory=dict)
    facts: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': SCALAR}, 'Settings known from elsewhere, for a process whose argv nobody kept.', default_factory=dict)


class Implicit(Record):
    """A setting in force without any flag."""

    value: str | bool | int | float = field(SCALAR, 'The value in force.')
    because: str = field(TEXT, 'What sets it: compiled in, a side effect of initialisation, a runbook.')


class Stack(Record):
    """What shall run: processes, engine family, arguments, environment, implicit facts."""

    hio: Literal['stack/v1'] = field({'type': 'literal', 'expected': ['stack/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    processes: dict[str, Process] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Process.core, 'min_length': 1}, 'The processes of the serving path, by role.')
    implicit: dict[str, Implicit] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': Implicit.core}, 'Settings in force without any flag, each with its source.', default_factory=dict)


DOCUMENT = Stack.core
