"""Cuts a help text in the layout of Python's argparse into its options, each with the lines of its description.

Invariant: every line at option indentation is an option, or the text is refused. Source of the layout: CPython's
Lib/argparse.py (HelpFormatter).
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum, auto
from typing import NamedTuple

from hio_validate.settings.catalogue import UnreadableHelp

INDENT = 2
"""argparse's indent_increment: the column of every option, positional and group description."""


class _Part(Enum):
    """Where in the text a line stands."""

    FREE = auto()
    """The description of the program or the closing notes."""
    POSITIONALS = auto()
    ABOUT = auto()
    """The description of a group, before its first option."""
    OPTIONS = auto()


class Entry(NamedTuple):
    """One option or positional: its first line, and the lines indented deeper below it."""

    line: int
    first: str
    positional: bool
    below: list[str]


class Layout(NamedTuple):
    """The column where descriptions start and the length of the longest line of any description."""

    column: int
    width: int


class Scan:
    """Cuts the text after the usage into entries."""

    def __init__(self, lines: list[str], start: int) -> None:
        self._lines = lines
        self._start = start
        self._part = _Part.FREE
        self._entries: list[Entry] = []
        self.closed = False
        """Whether notes follow the last option, so that the list above them is whole."""

    def entries(self) -> list[Entry]:
        blank_before = True
        for index in range(self._start, len(self._lines)):
            line = self._lines[index]
            if line:
                self._take(index, line, blank_before)
            blank_before = not line
        return self._entries

    def _take(self, index: int, line: str, blank_before: bool) -> None:
        indent = len(line) - len(line.lstrip(" "))
        if "\t" in line[: indent + 1]:
            raise UnreadableHelp(index + 1, "a line is indented by a tab: expected spaces")
        if indent == 0:
            self._at_margin(index, line, blank_before)
        elif self._part is _Part.FREE:
            if _starts_option(line):
                raise UnreadableHelp(index + 1, f"an option outside any group: {line.strip()!r}")
        elif self._part is _Part.ABOUT:
            self._about(index, line, blank_before)
        elif indent == INDENT:
            self._entry(index, line)
        else:
            self._below(index, line, indent, blank_before)

    def _at_margin(self, index: int, line: str, blank_before: bool) -> None:
        if not blank_before and self._part is not _Part.FREE:
            raise UnreadableHelp(index + 1, f"expected an option or its description, got {line!r}")
        if blank_before and self._is_heading(index, line):
            self._part = _Part.POSITIONALS if line.lower() == "positional arguments:" else _Part.ABOUT
            self.closed = False
            return
        if self._part is not _Part.FREE:
            self.closed = self._is_note(index, line)
        self._part = _Part.FREE

    def _is_heading(self, index: int, line: str) -> bool:
        """A group's title; the line that it heads stands at option indentation, an example's deeper."""
        below = next((later for later in self._lines[index + 1 :] if later), "")
        return line.endswith(":") and bool(re.match(rf" {{{INDENT}}}\S", below))

    def _is_note(self, index: int, line: str) -> bool:
        """Closing words, and not a group's title that was cut off."""
        rest = self._lines[index + 1 :]
        return bool(self._entries and rest) and (not line.endswith(":") or any(rest))

    def _about(self, index: int, line: str, blank_before: bool) -> None:
        if not _starts_option(line):
            return
        above = self._lines[index - 1]
        if not blank_before and above.startswith(" "):
            raise UnreadableHelp(index, f"expected an option, got {above.strip()!r}")
        self._part = _Part.OPTIONS
        self._entry(index, line)

    def _entry(self, index: int, line: str) -> None:
        positional = self._part is _Part.POSITIONALS
        if positional == line.lstrip().startswith("-"):
            expected = "a positional argument" if positional else "an option"
            raise UnreadableHelp(index + 1, f"expected {expected}, got {line.strip()!r}")
        self._entries.append(Entry(index + 1, line, positional, []))

    def _below(self, index: int, line: str, indent: int, blank_before: bool) -> None:
        if indent < INDENT or blank_before:
            raise UnreadableHelp(index + 1, f"text that belongs to no option: {line.strip()!r}")
        self._entries[-1].below.append(line)


def _starts_option(line: str) -> bool:
    return bool(re.match(rf" {{{INDENT}}}--?[A-Za-z0-9]", line))


def layout_of(entries: list[Entry]) -> Layout:
    """The one column that argparse aligns every description to (HelpFormatter.format_help)."""
    starts = Counter(start for entry in entries for start in _starts(entry)[:1])
    column = starts.most_common(1)[0][0] if starts else 0
    described = [entry.first for entry in entries if beside(entry.first)]
    described += [line for entry in entries for line in entry.below]
    layout = Layout(column, max((len(line) - column for line in described), default=0))
    for entry in entries:
        _check_alignment(entry, layout)
    return layout


def _starts(entry: Entry) -> list[int]:
    """The columns where the lines of a description start."""
    first = beside(entry.first)
    below = [len(line) - len(line.lstrip()) for line in entry.below]
    return [len(entry.first) - len(first), *below] if first else below


def beside(first: str) -> str:
    """The description on the same line as the flags, at least two blanks after them."""
    parts = re.split(r" {2,}", first.strip(), maxsplit=1)
    return parts[1] if len(parts) == 2 else ""


def _check_alignment(entry: Entry, layout: Layout) -> None:
    """argparse puts a description beside the flags exactly where they leave two blanks before the column."""
    flags = re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0]
    starts = _starts(entry)
    fits = INDENT + len(flags) + 2 <= layout.column
    if starts and (
        bool(beside(entry.first)) != fits or starts[0] != layout.column or min(starts) < starts[0]
    ):
        raise UnreadableHelp(
            entry.line, f"{flags!r} does not line up with the descriptions in column {layout.column}"
        )
