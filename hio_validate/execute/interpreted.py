"""Programs that are scripts: what the kernel starts for one, and with which words (execve(2), `#!`)."""

from __future__ import annotations

from pathlib import Path

from hio_validate.command import Command


def interpreter(path: str) -> list[str]:
    """The words after `#!`; none where the program is no script or cannot be read."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        return []
    return line[2:].decode(errors="replace").split(maxsplit=1) if line.startswith(b"#!") else []


def as_executed(command: Command) -> list[str]:
    """The words as the kernel passes them on: of a script, those of its first line come before it.

    Where that line goes through `env`, env is gone and what it looked up has come in its place.
    """
    words = interpreter(command.program)
    if words and Path(words[0]).name == "env":
        words = words[1:]
    return [*words, *command.argv]
