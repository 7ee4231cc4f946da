"""systemd units: the words of ExecStart= and the assignments of Environment= (systemd.service(5), systemd.exec(5)).

A word that is not plain stands in double quotes with C escapes. A `%` is doubled, for it begins a specifier; a `$` is doubled in
a command line, where it begins a variable, and not in Environment=, where it means nothing. The program's own path is
no variable's place either, and systemd refuses one with control characters.
"""

from __future__ import annotations

import re

from hio_validate.render.carrying import CannotCarry, refuse_impossible
from hio_validate.render.dialects.environment_file import CONTROL, refuse_control

_SAFE = re.compile(r"[A-Za-z0-9_./:=@+,-]+")
"""What needs no quotes."""
_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", '"': r"\"", "%": "%%"}


def word(value: str) -> str:
    """One argument of a command line. Raises CannotCarry."""
    refuse_impossible(value)
    return value if _SAFE.fullmatch(value) else _quoted(value).replace("$", "$$")


def program(value: str) -> str:
    """The path of the program that a command line begins with. Raises CannotCarry."""
    refuse_impossible(value)
    if not value.startswith("/") or CONTROL.search(value) or "\n" in value or "\t" in value:
        raise CannotCarry(
            f"systemd starts no program {value!r}: expected an absolute path of printable characters"
        )
    if "$" in value:
        raise CannotCarry(
            f"the program {value} has a $ in its path, which systemd takes for a variable in its name"
        )
    return value if _SAFE.fullmatch(value) else _quoted(value)


def assignment(name: str, value: str) -> str:
    """One `"NAME=value"` of Environment=. Raises CannotCarry."""
    refuse_impossible(value)
    refuse_control(value)
    return _quoted(f"{name}={value}")


def path(value: str) -> str:
    """A path in a setting that takes the rest of its line, e.g. EnvironmentFile=. Raises CannotCarry."""
    if (
        not value.startswith("/")
        or not value.isprintable()
        or value != value.strip()
        or any(c in value for c in "*?[\\")
    ):
        raise CannotCarry(
            f"systemd would read the path {value!r} otherwise: expected an absolute one without blanks at its ends, "
            "line feeds, backslashes and the patterns * ? ["
        )
    return value.replace("%", "%%")


def _quoted(value: str) -> str:
    return '"' + "".join(_NAMED.get(char) or _escaped(char) for char in value) + '"'


def _escaped(char: str) -> str:
    return f"\\x{ord(char):02x}" if CONTROL.match(char) else char
