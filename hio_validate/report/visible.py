"""Shows text from documents so that a terminal, a log or an XML parser can only print it.

Invariant: what `visible` returns holds no control, format or surrogate character (no ESC, no bidirectional
override, no zero-width space), no line separator, and nothing that XML 1.0 or UTF-8 cannot carry.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NOT_IN_XML = "\ufffe\uffff"


def is_hidden(char: str) -> bool:
    """True for a character that a reader does not see, or that a terminal would obey."""
    return category(char) in _HIDDEN_CATEGORIES or char in _NOT_IN_XML


def visible(text: str) -> str:
    r"""The text with each hidden character written as its escape, e.g. ESC as \x1b and newline as \n."""
    if text.isprintable():
        return text
    return "".join(_escaped(char) if is_hidden(char) else char for char in text)


def visible_lines(text: str) -> list[str]:
    """The lines of a text that may have several, each of them made visible."""
    return [visible(line) for line in text.replace("\r\n", "\n").split("\n")]


def columns(text: str) -> int:
    """How many terminal columns a visible text takes: wide characters 2, combining marks 0."""
    if text.isascii():
        return len(text)
    return sum(_char_columns(char) for char in text)


def wrapped(text: str, width: int, further: str = "") -> list[str]:
    """Lines of at most `width` terminal columns, at least 2: broken at blanks, a word that is longer anywhere.

    further: what each line but the first begins with. textwrap counts characters, not columns.
    """
    lines, line, begin = [], "", ""
    for word in text.split():
        longer = f"{line} {word}" if line != begin else begin + word
        if columns(longer) <= width:
            line = longer
            continue
        if line != begin:
            lines.append(line)
            line = begin = further
        for char in word:
            if columns(line + char) > width:
                lines.append(line)
                line = begin = further
            line += char
    return [*lines, line] if line != begin else lines


def _char_columns(char: str) -> int:
    if category(char) in {"Mn", "Me"}:
        return 0
    return 2 if east_asian_width(char) in {"W", "F"} else 1


def _escaped(char: str) -> str:
    short = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}.get(char)
    if short:
        return short
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
