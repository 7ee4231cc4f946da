"""A systemd service unit with its drop-ins and environment files (observe/units.py reads it)."""

from __future__ import annotations

import re
from pathlib import Path

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.command import unpack
from hio_validate.importing.configurations.found import Found, Source, Started
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.units import Unit, read_unit

_PLACED = re.compile(r"[^:]*?:(\d+)(?: and [^:]*:\d+)?: (.*)", re.DOTALL)


def is_unit(text: str) -> bool:
    """Whether a text has the sections of a unit."""
    return re.search(r"(?m)^\s*\[(Unit|Service|Install)\]\s*$", text) is not None


def read(source: Source, path: Path) -> list[Found]:
    """The process that a unit starts. Raises CannotImport."""
    found = Found(source.stem, source.file, 1)
    try:
        unit = read_unit(path, missing_is_open=True)
    except Unobservable as error:
        line, said = _placed(str(error).removeprefix(f"{path}: "))
        raise CannotImport(
            source.file, line, said, "expected a service unit that systemd would start"
        ) from None
    for said in unit.open_words:
        found.leave_open(*_placed(said))
    found.processes["server"] = _started(unit, found)
    return [found]


def _started(unit: Unit, found: Found) -> Started:
    started = Started(words=list(unit.words), env=dict(unit.env))
    unpack(started, found, unit.line)
    if unit.argv is None and not started.launcher and not started.words and not started.image:
        started.launcher = unit.words[0]
    return started


def _placed(said: str) -> tuple[int, str]:
    match = _PLACED.fullmatch(said if ": " in said else said + ": ")
    return (int(match[1]), match[2]) if match else (0, said)
