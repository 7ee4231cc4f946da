"""One finding as plain lines, for formats that have no place of their own for help and related places.

Invariant: every line is visible text; the first is the message.
"""

from __future__ import annotations

from hio_validate.diagnostic import Diagnostic
from hio_validate.report.visible import visible, visible_lines


def details(found: Diagnostic) -> list[str]:
    """The message, then `help: …` with its further lines, then a `note: …` per related place."""
    lines = [visible(found.message)]
    if found.help:
        first, *rest = visible_lines(found.help)
        lines += [f"help: {first}", *rest]
    lines += [f"note: {visible(other.message)} ({visible(str(other.location))})" for other in found.related]
    return lines
