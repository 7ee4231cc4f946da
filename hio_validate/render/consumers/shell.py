"""Files of assignments that a shell reads with `.`, and the words of a command: read by sh itself.

Before sh sees a file, a reader of ours has found in it nothing but comments and `NAME='...'`: sh carries out what it
reads, and a template can be anybody's.
"""

from __future__ import annotations

import os
import re
from functools import cache

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs

_ASSIGNMENT = re.compile(r"(?:export )?([A-Za-z_][A-Za-z0-9_]*)=((?:'[^']*'|\\')*)(?:\n|\Z)")
_SKIPPED = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_PIECE = re.compile(r"'([^']*)'|\\(')")


def assignments(text: str, file: str) -> dict[str, str]:
    """The variables of a file of assignments, by our own reader. Raises CannotRender for anything else in it."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _ASSIGNMENT.match(text, at)
        if match:
            found[match[1]] = unquoted(match[2])
        else:
            match = _SKIPPED.match(text, at)
        if match is None or match.end() == at:
            line = text.count("\n", 0, at) + 1
            raise CannotRender(f"{file}:{line}: neither a comment nor NAME='...': sh would carry it out")
        at = match.end()
    return found


def unquoted(word: str) -> str:
    """What a word of single quotes means."""
    return "".join(match[1] or match[2] or "" for match in _PIECE.finditer(word))


def variables(text: str, file: str) -> tuple[dict[str, str], str]:
    """The variables that sh takes from a file of assignments, and which sh it was. Raises CannotRender.

    They are printed by sh itself: a program that it starts would already run under them (LD_PRELOAD).
    """
    own = assignments(text, file)
    shell = programs.path_of("sh")
    if shell is None or not own:
        return own, "hio's own reader of assignments in sh"
    words = " ".join(f'"${name}"' for name in own)
    said = programs.run([shell, "-c", f". /dev/stdin; printf '%s\\0' {words}"], given=text.encode())
    if said.returncode:
        raise CannotRender(f"{file}: sh refuses it: {said.stderr.decode(errors='replace').strip()[:200]}")
    values = said.stdout.decode().split("\0")[:-1]
    return dict(zip(own, values, strict=True)), name_of_shell()


@cache
def name_of_shell() -> str:
    """Which shell sh is, as far as its file says."""
    return f"sh ({os.path.basename(os.path.realpath(programs.path_of('sh') or 'sh'))})"


def refuse_syntax(text: str, file: str) -> str:
    """Which sh accepts the syntax of a script; nothing of it is carried out. Raises CannotRender."""
    shell = programs.path_of("sh")
    if shell is None:
        raise CannotRender(f"{file}: sh is not installed, so nobody can read it")
    said = programs.run([shell, "-n"], given=text.encode())
    if said.returncode:
        raise CannotRender(f"{file}: sh refuses it: {said.stderr.decode(errors='replace').strip()[:200]}")
    return f"{name_of_shell()} -n"
