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
_SECRET = re.compile(
    r'([A-Za-z_][A-Za-z0-9_]*)="\$\(cat "((?:/[A-Za-z0-9_.,@+-]+)+)"\)" && test -n "\$\1" && export \1 \|\| return 1\n'
)
"""A variable that is read from the file of a secret."""
_WORD = re.compile(r"(?:[A-Za-z0-9_./:=@%+,-]|'[^']*'|\\')+")
_PIECE = re.compile(r"'([^']*)'|\\(')|([^'\\]+)")


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
    return "".join(match[1] or match[2] or match[3] or "" for match in _PIECE.finditer(word))


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


def secrets(text: str) -> tuple[str, dict[str, str]]:
    """A file of assignments without the lines that read secrets, and variable -> file of those."""
    return _SECRET.sub("", text), {match[1]: match[2] for match in _SECRET.finditer(text)}


def words(command: str, file: str) -> tuple[list[str], str]:
    """The words of one simple command as sh takes them, and which sh it was. Raises CannotRender.

    `\\` before a line feed goes on; anything but plain and quoted words is refused before sh sees it.
    """
    own: list[str] = []
    at, line = 0, command.replace(" \\\n", " ")
    while at < len(line):
        match = _WORD.match(line, at)
        if match is None:
            raise CannotRender(
                f"{file}: in its command stands more than plain and quoted words: {line[at : at + 20]!r}"
            )
        own.append(unquoted(match[0]))
        at = match.end()
        blank = re.compile(r" +|\Z").match(line, at)
        if blank is None:
            raise CannotRender(
                f"{file}: in its command stands more than plain and quoted words: {line[at : at + 20]!r}"
            )
        at = blank.end()
    shell = programs.path_of("sh")
    if shell is None:
        return own, "hio's own reader of commands in sh"
    said = programs.run([shell], given=f"printf '%s\\0' {command}\n".encode())
    return said.stdout.decode().split("\0")[:-1], name_of_shell()


def refuse_syntax(text: str, file: str) -> str:
    """Which sh accepts the syntax of a script; nothing of it is carried out. Raises CannotRender."""
    shell = programs.path_of("sh")
    if shell is None:
        raise CannotRender(f"{file}: sh is not installed, so nobody can read it")
    said = programs.run([shell, "-n"], given=text.encode())
    if said.returncode:
        raise CannotRender(f"{file}: sh refuses it: {said.stderr.decode(errors='replace').strip()[:200]}")
    return f"{name_of_shell()} -n"
