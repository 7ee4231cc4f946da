"""llama-swap: `cmd` is one text, split as sh splits words; macros `${...}` are filled in before, everywhere.

Lines that begin with `#` or end in a backslash are treated before the split, so no word may have a line feed
(internal/config of llama-swap: SanitizeCommand).
"""

from __future__ import annotations

import re

from hio_validate.render.carrying import CannotCarry, refuse_impossible
from hio_validate.render.dialects import shell, yaml11

_SAFE = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")


def word(value: str) -> str:
    """One word of `cmd`, as it stands within double quotes of YAML. Raises CannotCarry."""
    _refuse_macro(value)
    if "\n" in value or "\r" in value:
        raise CannotCarry(
            "llama-swap reads cmd line by line: an argument with a line feed cannot be given, use a file"
        )
    return value if _SAFE.fullmatch(value) else yaml11.inside(shell.quote(value))


def text(value: str) -> str:
    """Any other text of its configuration, as one scalar. Raises CannotCarry."""
    _refuse_macro(value)
    return yaml11.quote(value)


def _refuse_macro(value: str) -> None:
    refuse_impossible(value)
    if "${" in value:
        raise CannotCarry(
            "llama-swap fills in ${...} everywhere in its configuration, and has no way to write it as text"
        )
