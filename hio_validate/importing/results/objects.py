"""JSON objects of a result file, one after the other: a line each, one over many lines, in a list, or simply in a row.

Invariant: what is between two objects is nothing but blanks and the commas of one list; anything else is refused with its
line, so that no text is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.source import WHOLE, Source, strict_json

_BLANK = " \t\r\n"


def says(source: Source, *keys: str) -> bool:
    """Whether the head of a file names all these keys, as JSON does."""
    return all(f'"{key}"' in source.head for key in keys)


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line it begins in, object). Lines are read in bounded memory; all else as one. Raises CannotImport."""
    if not _has_an_object_a_line(source):
        yield from _of_text(source)
        return
    for line, text in source.lines():
        yield line, _object(source, source.value_of(text, line), line)


def _has_an_object_a_line(source: Source) -> bool:
    try:
        first = next(source.lines(), None)
    except CannotImport:  # the line is too long for a line; perhaps not for a whole
        if source.size > WHOLE:
            raise
        return False
    if first is None:
        raise source.refuse("it is empty", "import the file as the tool wrote it")
    try:
        return isinstance(strict_json(first[1]), dict)
    except (ValueError, RecursionError):
        return False


def _of_text(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    text = source.text
    at = _past(text, 0, _BLANK)
    listed = text.startswith("[", at)
    at = _past(text, at + 1, _BLANK) if listed else at
    line, counted = 1 + text.count("\n", 0, at), at
    while at < len(text) and not (listed and text[at] == "]"):
        line, counted = line + text.count("\n", counted, at), at
        end = _end_of(source, text, at, line)
        yield line, _object(source, source.value_of(text[at:end], line), line)
        at = _past(text, end, _BLANK)
        if listed:
            at = _past(text, _comma(source, text, at), _BLANK)
    if listed and (at >= len(text) or _past(text, at + 1, _BLANK) < len(text)):
        rest = "the list does not end" if at >= len(text) else "something follows the list"
        raise source.refuse(rest, "import the file as the tool wrote it", 1 + text.count("\n", 0, at))


def _past(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _comma(source: Source, text: str, at: int) -> int:
    if at < len(text) and text[at] not in ",]":
        line = 1 + text.count("\n", 0, at)
        raise source.refuse("no comma between two objects", "import the file as the tool wrote it", line)
    return at + (text[at : at + 1] == ",")


def _end_of(source: Source, text: str, at: int, line: int) -> int:
    import json  # only where a file is no object a line

    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        source.value_of(text[at:], line)  # says what is wrong, and where
        raise source.refuse("no JSON object", "import the file as the tool wrote it", line) from None


def _object(source: Source, value: Any, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise source.refuse("a JSON object was expected", "import the file as the tool wrote it", line)
    return value
