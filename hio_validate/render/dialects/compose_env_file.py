"""env_file of compose: single quotes, in which compose 1 (python-dotenv) and compose 2 (compose-go) read the same.

Both take \\' for a quote. They differ in a doubled backslash, and compose 1 fills in `${...}` even in single quotes, so
no spelling of those means the same to both: they are refused. The file is read as text, which turns a carriage return
into a line feed.
"""

from __future__ import annotations

from hio_validate.render.carrying import CannotCarry, refuse_impossible
from hio_validate.render.dialects.compose import refuse_next_line


def quote(value: str) -> str:
    """The value as it stands behind NAME=. Raises CannotCarry."""
    refuse_impossible(value)
    refuse_next_line(value)
    if "${" in value:
        raise CannotCarry(
            "compose fills in ${...} in an env_file, and no quoting keeps it: use the target compose"
        )
    if "\\\\" in value or "\\'" in value or value.endswith("\\"):
        raise CannotCarry(
            "compose 1 and 2 read two backslashes, or one before a quote or at the end, differently in an env_file: "
            "use the target compose"
        )
    if "\r" in value:
        raise CannotCarry(
            "compose reads a carriage return in an env_file as a line feed: use the target compose"
        )
    return "'" + value.replace("'", "\\'") + "'"
