"""How a value is written so that its consumer reads exactly that value: one dialect a file.

Invariant: `quote(value)` gives text from which the dialect's consumer reads back `value`, or raises CannotCarry; what
a value holds never becomes a directive, a section, a shell word or a tag.
"""

from __future__ import annotations

from collections.abc import Callable

from hio_validate.render.dialects import environment_file, shell

DIALECTS: dict[str, Callable[[str], str]] = {
    "environment_file": environment_file.quote,
    "sh": shell.quote,
}
"""Name of a filter in the templates -> the dialect that quotes."""
