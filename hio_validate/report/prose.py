"""Markdown that a person also reads as plain text: sentences of 80 columns, tables, commands.

Invariant: text from a document stays text. A plain word is left as it is, since `decode\\_tps` is read by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from hio_validate.report.markdown import escaped
from hio_validate.report.visible import columns, visible

WIDTH = 80
_PLAIN = re.compile(r"\(?[+-]?[A-Za-z0-9]+(?:[_./:,@+-]+[A-Za-z0-9]+)*\)?[.,:;]?|->")
_BEGINS_A_BLOCK = re.compile(r"[-+=]+|[0-9]+[.)]")
"""Words that begin a list, a heading or a rule where a line begins with them."""


def text(said: str) -> str:
    """Words of a document or a sentence about them, as Markdown that shows them."""
    return " ".join(_word(word) for word in said.split(" "))


def cell(said: str) -> str:
    """The same for a cell of a table, where no word begins a line."""
    return " ".join(_in_a_line(word) for word in said.split(" "))


def _word(word: str) -> str:
    if _BEGINS_A_BLOCK.fullmatch(word):
        return f"{word[:-1]}\\{word[-1]}" if word[0].isdigit() else f"\\{word}"
    return _in_a_line(word)


def _in_a_line(word: str) -> str:
    return word if _PLAIN.fullmatch(word) and "://" not in word else escaped(word)


def paragraph(said: str) -> str:
    """Markdown over lines of 80 columns; no word is cut."""
    return "\n".join(_wrapped(said, ""))


def bullets(sentences: Iterable[str]) -> str:
    """A list; each sentence is Markdown."""
    return "\n".join(line for said in sentences for line in _wrapped(f"- {said}", "  "))


def _wrapped(said: str, indent: str) -> list[str]:
    return wrap(said, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its columns aligned for who reads the text; cells are Markdown."""
    lines = [head, *rows]
    widths = [max(3, *(columns(row[column]) for row in lines)) for column in range(len(head))]
    shown = [
        " | ".join(cell + " " * (size - columns(cell)) for cell, size in zip(row, widths, strict=True))
        for row in lines
    ]
    rule = " | ".join("-" * size for size in widths)
    return "\n".join(f"| {line} |" for line in [shown[0], rule, *shown[1:]])


def fitted(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table where it fits the page; else a list with an item for each row, since a row of Markdown cannot wrap."""
    kept = list(rows)
    made = grid(head, kept)
    if max(map(columns, made.split("\n"))) <= WIDTH:
        return made
    return bullets(_item(head, row) for row in kept)


def _item(head: Sequence[str], row: Sequence[str]) -> str:
    """A row as a sentence: its first cell, then every other one that says something behind its heading."""
    named = [f"{name} {cell}".strip() for name, cell in zip(head[1:], row[1:], strict=True) if cell]
    return f"{head[0]} {row[0]}: {'; '.join(named)}".strip()


def command(*lines: str) -> str:
    """Commands to copy."""
    return "\n".join(["```console", *(visible(line).replace("```", "` ` `") for line in lines), "```"])
