"""JSON objects of a result file, one after the other: a line each, one over many lines, in a list, or simply in a row.

Invariant: what is between two objects is nothing but blanks and the commas of one list. Any other line is refused, or
skipped and counted where whoever imports asked for that; no text is dropped silently, and no broken object is a log line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hio_validate.evidence.observed import Finding, Observation
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.names import Names
from hio_validate.importing.results.source import WHOLE, Source
from hio_validate.source.strict_json import strict_json

_WRITTEN = "import the file as the tool wrote it"
_BLANK = re.compile(r"[ \t\r\n]*")
_OPENS = re.compile(r"[ \t]*(?:\{|\[[ \t\r\n]*(?:\{|\]))")
"""How data begins; `[2026-01-02 ...` of a log does not."""


class Skipped:
    """The lines of a file that are no data."""

    def __init__(self, source: Source) -> None:
        self._source, self.count, self.first, self.text = source, 0, 0, ""

    def line(self, number: int, text: str) -> None:
        """A line that is no data. Raises CannotImport where skipping was not asked for."""
        shown = text.strip()[:60]
        if not self._source.skip_log_lines:
            help_ = "keep the log apart from the results, or skip such lines with --skip-log-lines"
            raise self._source.refuse(f"the line is no data: {shown!r}", help_, number)
        self.count += 1
        if self.count == 1:
            self.first, self.text = number, shown

    def finding(self) -> Finding:
        """How many there were, and the first one."""
        what = f"{self.count} line{'s are' if self.count > 1 else ' is'} no data and skipped"
        return Finding("skipped-lines", f"{what}, the first is line {self.first}: {self.text}", self.first)


def says(source: Source, *keys: str) -> bool:
    """Whether the head of a file names all these keys, as JSON does."""
    return all(f'"{key}"' in source.head for key in keys)


def objects(source: Source, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line it begins in, object). Lines are read in bounded memory; all else as one. Raises CannotImport."""
    if not _has_an_object_a_line(source):
        yield from _of_text(source, skipped)
        return
    for line, text in source.lines():
        if text.lstrip().startswith("{"):
            yield line, _object(source, source.value_of(text, line), line)
        else:
            skipped.line(line, text)


def records(
    source: Source,
    of: Callable[[dict[str, Any], int], Observation],
    rows: Callable[[Source, Skipped], Iterator[tuple[int, dict[str, Any]]]] = objects,
) -> Iterator[Observation]:
    """A record of each object or row, with a name of its own; what was skipped is told by the last one. Raises CannotImport."""
    skipped, names = Skipped(source), Names()
    held: Observation | None = None
    for line, values in rows(source, skipped):
        if held:
            yield held
        held = of(values, line)
        if (times := names.times(held.name)) > 1:
            held.name += f"-{times}"
    if held is None:
        raise source.refuse("it has no record", "run the benchmark again", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    yield held


def _has_an_object_a_line(source: Source) -> bool:
    """Whether the first line of data is an object of its own."""
    try:
        first = next((text for _, text in source.lines() if _OPENS.match(text)), None)
    except CannotImport:  # the line is too long for a line; perhaps not for a whole
        if source.size > WHOLE:
            raise
        return False
    try:
        return first is not None and isinstance(strict_json(first), dict)
    except (ValueError, RecursionError):
        return False


def _of_text(source: Source, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a text, alone or in lists. `line` is that of the character at `counted`."""
    text, at, line, counted, listed = source.text, 0, 1, 0, False
    if (alone := _alone(text)) is not None:
        yield 1 + text.count("\n", 0, text.index("{")), alone
        return
    while (at := _past_blanks(text, at)) < len(text):
        line, counted = line + text.count("\n", counted, at), at
        if listed and text[at] in ",]":
            listed, at = text[at] == ",", at + 1
        elif text[at] == "{":
            end = _end_of(source, text, at, line)
            yield line, _object(source, source.value_of(text[at:end], line), line)
            at = end
        elif not listed and _OPENS.match(text, at):
            listed, at = True, at + 1
        elif listed:
            raise source.refuse("no object and no end of the list", _WRITTEN, line)
        else:
            end = len(text) if (found := text.find("\n", at)) < 0 else found
            skipped.line(line, text[at:end])
            at = end
    if listed:
        raise source.refuse("the list does not end", _WRITTEN, line)


def _alone(text: str) -> dict[str, Any] | None:
    """The one object that a text is, in one pass; None where it is anything else, which is then told apart slowly."""
    if text[:1000].lstrip()[:1] != "{":
        return None
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _past_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _end_of(source: Source, text: str, at: int, line: int) -> int:
    import json  # only where a file is no object a line

    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        source.value_of(text[at:], line)  # says what is wrong, and where
        raise source.refuse("no JSON object", _WRITTEN, line) from None


def _object(source: Source, value: Any, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise source.refuse("a JSON object was expected", _WRITTEN, line)
    return value
