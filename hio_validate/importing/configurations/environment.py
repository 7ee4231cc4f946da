"""An environment file: NAME=value lines as systemd reads them; other readers may read quotes otherwise, which is told."""

from __future__ import annotations

import re

from hio_validate.importing.configurations.found import Found, Source, Started
from hio_validate.observe.environment_file import environment_file
from hio_validate.settings.family import recognised

_LINE = re.compile(r"\s*(?:export\s+)?[A-Za-z_]\w*\s*=")

_UPPER = re.compile(r"\s*(?:export\s+)?[A-Z_][A-Z0-9_]*\s*=")


def is_environment(text: str) -> bool:
    """Whether every line that says something is NAME=value, most names as variables are written: in capitals."""
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith(("#", ";"))]
    begun = _starts(lines)
    if any(recognised([word]) for line in begun for word in line.partition("=")[2].split()[1:]):
        return False
    upper = sum(_UPPER.match(line) is not None for line in begun)
    return bool(lines) and all(_LINE.match(line) for line in begun) and upper * 2 > len(begun)


def _starts(lines: list[str]) -> list[str]:
    """Lines that do not continue the one before."""
    return [line for before, line in zip(["", *lines], lines, strict=False) if not before.endswith("\\")]


def read(source: Source) -> list[Found]:
    """One process of which only the environment is known."""
    found = Found(source.stem, source.file, 1)
    env = variables(source.text, source.file, found)
    found.processes["server"] = Started(env=env)
    found.leave_open(
        0, "an environment file names no program: what reads these variables is unknown (--engine says it)"
    )
    return [found]


def variables(text: str, file: str, found: Found, *, export: bool = False) -> dict[str, str]:
    """The variables of a file; what readers read differently is listed."""
    refused: list[str] = []
    env = environment_file(re.sub(r"(?m)^(\s*)export\s+", r"\1", text), file, refused)
    for said in refused:
        place, _, what = said.partition(": ")
        number = place.rpartition(":")[2]
        line = int(number) if number.isdecimal() else 0
        found.leave_open(line, f"a line that is no NAME=value: {what.split(':')[0]}")
    for name, value in env.items():
        if "$" in value:
            line = _line_of(name, text)
            found.leave_open(
                line, f"{name} has a $ in it: systemd leaves it, a shell or docker compose fills it in"
            )
    return env


def _line_of(name: str, text: str) -> int:
    match = re.search(rf"(?m)^\s*(?:export\s+)?{re.escape(name)}\s*=", text)
    return text.count("\n", 0, match.start()) + 1 if match else 0
