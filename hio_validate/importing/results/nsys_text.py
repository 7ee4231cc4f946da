"""Tables that `nsys stats` and `nsys profile --stats=true` print for people, cut into cells by the rule below their heads.

Formats: column (the default: a rule of dashes, two blanks between columns) and table (`+---+`, `|` between columns), 2020 to
2026. A name longer than 100 characters ends in an ellipsis there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from hio_validate.importing.results.source import Source

CUT_NAME = "…"
HEAD = re.compile(r"^[\s|#]*Time ?\(%\)[\s|]+Total Time\b")
_RULE = re.compile(r"[\s#]*(?:-+(?:\s+-+)+|\+-+(?:\+-+)+\+)\s*")
_ROW = re.compile(r"[\s|#]*\d")


class _Columns(NamedTuple):
    """(first, behind the last) character of each column; the last one has no end where nothing closes it."""

    spans: list[tuple[int, int | None]]

    def cells(self, text: str) -> list[str]:
        """The cells of a line; where words stand across columns, its words, so that their number tells it."""
        between = [text[end:begin] for (_, end), (begin, _) in pairwise(self.spans)]
        if all(not part.strip(" |") for part in between):
            return [text[begin:end].strip() for begin, end in self.spans]
        return re.split(r"\s{2,}", text.strip())


def _columns(rule: str) -> _Columns:
    if "+" in rule:
        marks = [mark.start() for mark in re.finditer(r"\+", rule)]
        return _Columns([(begin + 1, end) for begin, end in pairwise(marks)])
    found = [(run.start(), run.end()) for run in re.finditer("-+", rule)]
    return _Columns([*found[:-1], (found[-1][0], None)])


def text_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of heads and rows of tables that begin with a share of the time. Raises CannotImport."""
    head: tuple[int, str] | None = None
    columns: _Columns | None = None
    for line, text in source.lines(replaced=True):
        if _RULE.fullmatch(text):
            if head is not None:
                columns = _columns(text)
                yield head[0], columns.cells(head[1])
                head = None
        elif HEAD.match(text):
            head, columns = (line, text), None
        elif columns is not None and _ROW.match(text):
            yield line, columns.cells(text)
        else:
            head = columns = None
