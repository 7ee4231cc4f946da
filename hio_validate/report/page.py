"""A page of headings, sentences, lists and tables of changes, as Markdown or as text for a terminal.

Invariant: words that come from documents stay words: no markup, HTML, table cell, mention, quick action or
control character of theirs reaches a reader, and none of them begins a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hio_validate.report.markdown import escaped
from hio_validate.report.visible import columns, visible

LONGEST_VALUE, LONGEST_SENTENCE = 120, 600
"""Characters of one value, and of one piece of a sentence, that a page shows; the JSON answer has all of it."""


class Code(str):
    """A name or a value, set apart from the sentence around it."""

    __slots__ = ()


class Strong(str):
    """Words that a hurried reader must not miss."""

    __slots__ = ()


Line = Sequence[str]
"""A sentence in pieces: plain words, Code, Strong."""


class Heading(NamedTuple):
    """The title of what follows; level 1 is the page."""

    level: int
    line: Line


class Paragraph(NamedTuple):
    """One sentence or a few."""

    line: Line


class Items(NamedTuple):
    """A list."""

    items: tuple[Line, ...]


class Change(NamedTuple):
    """One row of a table: what, before, after, and a remark."""

    what: str
    before: str
    after: str
    remark: Line = ()


class Changes(NamedTuple):
    """A table of changes in groups; a group's name may be empty."""

    head: tuple[str, str, str, str]
    groups: tuple[tuple[str, tuple[Change, ...]], ...]


Part = Heading | Paragraph | Items | Changes


def as_markdown(parts: Sequence[Part]) -> str:
    """The page for a pull request, as GitHub and GitLab render it."""
    return "\n".join(map(markdown, parts))


def markdown(part: Part) -> str:
    """One part, with a line end; an empty line belongs between two."""
    return _markdown(part) + "\n"


def _markdown(part: Part) -> str:
    match part:
        case Heading():
            return f"{'#' * (part.level + 1)} {_marked(part.line)}"
        case Paragraph():
            return _marked(part.line)
        case Items():
            return "\n".join(f"- {_marked(item)}" for item in part.items)
        case Changes():
            return "\n".join(_markdown_table(part))


def _markdown_table(table: Changes) -> list[str]:
    lines = [_cells([[word] for word in table.head]), "| --- | --- | --- | --- |"]
    for name, changes in table.groups:
        if name:
            lines.append(_cells([[Strong(name)], [], [], []]))
        lines += [
            _cells([[Code(each.what)], _value(each.before), _value(each.after), each.remark])
            for each in changes
        ]
    return lines


def _value(text: str) -> Line:
    return [Code(text)] if text else []


def _cells(cells: Sequence[Line]) -> str:
    return f"| {' | '.join(_marked(cell) for cell in cells)} |"


def _marked(line: Line) -> str:
    return "".join(_marked_piece(piece) for piece in line)


def _marked_piece(piece: str) -> str:
    text = escaped(short(piece))
    match piece:
        case Code():
            # Not backticks: inside them nothing can be escaped.
            return f"<code>{text}</code>" if text else ""
        case Strong():
            # Markers beside a blank are no markers.
            return text.replace(text.strip(" "), f"**{text.strip(' ')}**", 1) if text.strip(" ") else text
    return text


def short(text: str) -> str:
    """A value or a sentence no longer than a person reads."""
    most = LONGEST_VALUE if isinstance(text, Code) else LONGEST_SENTENCE
    return text if len(text) <= most else text[: most - 1] + "…"


def as_text(parts: Sequence[Part], width: int = 80, color: bool = False) -> str:
    """The page for a terminal of some columns."""
    return "\n".join(text(part, width, color) for part in parts)


def text(part: Part, width: int = 80, color: bool = False) -> str:
    """One part, with a line end; an empty line belongs between two."""
    match part:
        case Heading():
            return _heading(part, width, color)
        case Paragraph():
            return _wrapped(_pieces(part.line), "", "", width, color)
        case Items():
            return "".join(_wrapped(_pieces(item), "- ", "  ", width, color) for item in part.items)
        case Changes():
            return "".join(_text_group(name, rows, width, color) for name, rows in part.groups)


def _heading(heading: Heading, width: int, color: bool) -> str:
    lines = _wrapped([(text, True) for text, _ in _pieces(heading.line)], "", "", width, color)
    plain = _wrapped(_pieces(heading.line), "", "", width, False)
    under = {1: "=", 2: "-"}.get(heading.level)
    return lines + (under * min(width, max(map(columns, plain.splitlines()))) + "\n" if under else "")


_WIDEST_NAME = 32


def _text_group(name: str, changes: Sequence[Change], width: int, color: bool) -> str:
    """The group's name, then `what  before -> after` with the remark on the next line."""
    most = min(_WIDEST_NAME, width // 2, max((columns(visible(each.what)) for each in changes), default=0))
    lines = [_painted(visible(name), color) + "\n"] if name else []
    for each in changes:
        what = visible(each.what)
        start = f"  {what}{' ' * max(0, most - columns(what))}  "
        both = [short(Code(value)) for value in dict.fromkeys((each.before, each.after)) if value]
        values = " -> ".join(both)
        lines.append(_wrapped([(visible(values), False)], start, "      ", width, color))
        if any(each.remark):
            lines.append(_wrapped(_pieces(each.remark), "      ", "      ", width, color))
    return "".join(lines)


def _pieces(line: Line) -> list[tuple[str, bool]]:
    """Visible text, and whether it is to be painted."""
    return [(visible(short(piece)), isinstance(piece, Strong)) for piece in line]


def _wrapped(pieces: Sequence[tuple[str, bool]], first: str, next_: str, width: int, color: bool) -> str:
    """Words in lines of at most `width` columns, each with its line end; a word is never broken."""
    words = _words(pieces)
    lines, line, room = [], first, width - columns(first)
    empty = True
    for text, painted in words:
        size = columns(text)
        if not empty and size + 1 > room:
            lines.append(line.rstrip())
            line, room, empty = next_, width - columns(next_), True
        line += ("" if empty else " ") + _painted(text, color and painted)
        room -= size + (0 if empty else 1)
        empty = False
    return "\n".join([*lines, line.rstrip()]) + "\n"


def _words(pieces: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The words of all pieces; where two pieces meet without a blank, they are one word."""
    words: list[tuple[str, bool]] = []
    joined = False
    for text, painted in (piece for piece in pieces if piece[0]):
        for number, word in enumerate(text.split(" ")):
            if number == 0 and joined and words:
                words[-1] = (words[-1][0] + word, words[-1][1] or painted)
            elif word:
                words.append((word, painted))
        joined = not text.endswith(" ")
    return words


def _painted(text: str, color: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if color and text else text
