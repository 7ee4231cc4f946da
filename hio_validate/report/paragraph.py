"""A sentence over as many lines as a terminal needs; a path, a command or a digest is never cut."""

from __future__ import annotations

from textwrap import wrap

from hio_validate.report.visible import visible


def paragraph(sentence: str, width: int, deeper: int = 2) -> str:
    """The sentence, each line ended; its blanks at the beginning indent it all, further lines stand `deeper` still."""
    shown = visible(sentence)
    margin = len(shown) - len(shown.lstrip(" ")) + deeper
    lines = wrap(shown, width, subsequent_indent=" " * margin, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)
