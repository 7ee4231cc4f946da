"""systemd's EnvironmentFile= (src/basic/env-file.c): NAME="value", a backslash before `"`, `\\`, `` ` `` and `$`.

Nothing is expanded and a `%` is a `%`: doubling either would change the value. A line feed stands inside the quotes as
it is. systemd drops a variable that holds another control character (src/basic/env-util.c), so none is carried.
"""

from __future__ import annotations

import re

from hio_validate.render.carrying import CannotCarry, refuse_impossible

CONTROL = re.compile(r"[\x01-\x08\x0b-\x1f\x7f]")
"""Control characters other than tab and line feed."""


def quote(value: str) -> str:
    """The value as it stands behind NAME=. Raises CannotCarry."""
    refuse_impossible(value)
    refuse_control(value)
    return '"' + re.sub(r'(["\\`$])', r"\\\1", value) + '"'


def refuse_control(value: str) -> None:
    """Raises CannotCarry for a value that systemd drops."""
    found = CONTROL.search(value)
    if found:
        raise CannotCarry(
            f"systemd drops a variable that holds the control character U+{ord(found[0]):04X}: put the value into a file"
        )
