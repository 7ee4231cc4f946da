"""Batch scripts: their directives and their one command by our own reader, and `sbatch --test-only` where a cluster answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs, shell

PROGRAM = "sbatch"
_DIRECTIVE = re.compile(r"#SBATCH --([a-z-]+)=([^\s\"'#\\]+)")


@dataclass(frozen=True)
class Script:
    """What a batch script says."""

    directives: dict[str, str]
    folder: str
    variables: dict[str, str]
    words: list[str]


def script(text: str, file: str) -> tuple[Script, str]:
    """What a batch script says, and who read it. Raises CannotRender for anything that is not of this form."""
    head, parted, body = text.partition("\nset -eu\ncd ")
    if not parted or not head.startswith("#!/bin/sh\n"):
        raise CannotRender(f"{file} is no script of directives, `set -eu`, `cd`, variables and one command")
    folder, _, body = body.partition("\n")
    assigned, command = shell.before_command(body, file)
    variables, _ = shell.variables(assigned, file)
    words, who = shell.words(command.removesuffix("\n"), file)
    return Script(
        _directives(head, file), shell.unquoted(folder), variables, words
    ), f"{_sbatch(text, file)}, {who}"


def _directives(head: str, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(head.split("\n"), 1):
        if not line.startswith("#"):
            raise CannotRender(f"{file}:{number}: a command stands before the last directive")
        if line.startswith("#SBATCH"):
            match = _DIRECTIVE.fullmatch(line)
            if match is None:
                raise CannotRender(f"{file}:{number}: no directive of the form #SBATCH --name=value")
            found[match[1]] = match[2]
    return found


def _sbatch(text: str, file: str) -> str:
    """Who looked at the directives; nothing is submitted."""
    own = "hio's own reader of sbatch directives"
    if programs.path_of(PROGRAM) is None:
        return f"{own} (sbatch is not installed)"
    if programs.run(["scontrol", "ping"]).returncode:
        return f"{own} (no cluster answers here)"
    said = programs.run([PROGRAM, "--test-only"], given=text.encode())
    if said.returncode:
        told = said.stderr.decode(errors="replace").strip()
        raise CannotRender(f"{file}: sbatch --test-only says: {told[:500]}")
    return f"{programs.version(PROGRAM, '--version')} --test-only"
