"""Changing a document that a person wrote: only the characters that must change, change.

Invariants: every line an edit does not touch stays byte-identical, comments and all; and an edit whose
result would not read back as the intended data raises instead of being written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hio_validate.diagnostic import Path
from hio_validate.source import characters
from hio_validate.source.construct import Span, construct
from hio_validate.source.dump import flow, flow_key
from hio_validate.source.fault import Malformed


@dataclass(frozen=True, slots=True)
class Set:
    """Give the value at `path` (a missing last key is added)."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Append:
    """Add an item to the list at `path`."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    """Take out the key or item at `path`."""

    path: Path


Edit = Set | Append | Remove


class CannotEdit(Exception):
    """The edit cannot be made without touching more than it must; the message says what stands in the way."""


def edit(raw: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply the edits in order. Raises CannotEdit, Malformed or Unreadable, and then nothing is changed."""
    text = characters.decode(raw)
    for each in edits:
        text = _apply(text, each)
    return raw[: len(raw) - len(raw.removeprefix(b"\xef\xbb\xbf"))] + text.encode()


def _apply(text: str, change: Edit) -> str:
    built = construct(text, spans=True)
    if built.faults:
        raise CannotEdit(f"the document has an error: {built.faults[0].message}")
    expected = _changed_data(_unshared(built.data), change)
    source = _Source(text, built.spans, built.data)
    match change:
        case Set(path, value):
            edited = source.set(path, value)
        case Append(path, value):
            edited = source.append(path, value)
        case Remove(path):
            edited = source.remove(path)
    if not _reads_as(edited, expected):
        raise CannotEdit(f"writing {_shown(change.path)} would change more than it must; edit it by hand")
    return edited


def _reads_as(text: str, expected: Any) -> bool:
    """Whether the text gives exactly this data: 1, 1.0 and true are three values."""
    try:
        built = construct(characters.decode(text.encode()))
    except (Malformed, characters.Unreadable):
        return False
    return not built.faults and json.dumps(built.data, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _unshared(data: Any) -> Any:
    """A copy in which an alias is a copy of its anchor, so that an edit of one is none of the other."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(value) for value in data] if isinstance(data, list) else data


def _shown(path: Path) -> str:
    return ".".join(str(part) for part in path)


def _value_at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _changed_data(data: Any, change: Edit) -> Any:
    try:
        match change:
            case Set(path, value):
                _value_at(data, path[:-1])[path[-1]] = value
            case Append(path, value):
                _value_at(data, path).append(value)
            case Remove(path):
                del _value_at(data, path[:-1])[path[-1]]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise CannotEdit(f"{_shown(change.path)} is not in the document") from error
    return data


class _Source:
    def __init__(self, text: str, spans: dict[Path, Span], data: Any) -> None:
        self.text, self.spans, self.data = text, spans, data

    def set(self, path: Path, value: Any) -> str:
        return self._replace(path, flow(value)) if path in self.spans else self._add_key(path, value)

    def append(self, path: Path, value: Any) -> str:
        span, items = self._span(path), _value_at(self.data, path)
        if span.flow or not items:
            return self._insert_in_flow(path, flow(value))
        first = self._span((*path, 0)).start
        dash = self.text.rfind("-", 0, first.index)
        indent = self.text[self._line_start(dash) : dash]
        if indent.strip():
            raise CannotEdit(f"{_shown(path)} starts in the middle of a line; edit it by hand")
        return self._insert_line(self._last_character(path), f"{indent}- {flow(value)}")

    def remove(self, path: Path) -> str:
        span, parent, siblings = self._span(path), self._span(path[:-1]), _value_at(self.data, path[:-1])
        if len(siblings) == 1:
            return self._replace(path[:-1], "{}" if isinstance(siblings, dict) else "[]")
        if parent.flow:
            return self._remove_from_flow(path)
        begin = self._line_start((span.key or span.start).index)
        lead = self.text[begin : (span.key or span.start).index].strip()
        if lead != ("" if isinstance(siblings, dict) else "-"):
            raise CannotEdit(f"{_shown(path)} shares its line with something else; edit it by hand")
        return self.text[:begin] + self.text[self._line_end(self._last_character(path)) + 1 :]

    def _replace(self, path: Path, new: str) -> str:
        span = self._span(path)
        start, end = span.start.index, max(self._last_character(path) + 1, span.start.index)
        if start and not (self.text[start - 1].isspace() or self.text[start - 1] in "[{,"):
            new = " " + new
        elif span.key and not span.flow and 0 <= span.start.column <= span.key.column:
            new = " " + new  # a list may stand under its key's first letter, what replaces it may not
        return self.text[:start] + new + self.text[end:]

    def _remove_from_flow(self, path: Path) -> str:
        """With its comma: the one behind it, or where it is the last on its line the one before it."""
        span = self._span(path)
        start, end = (span.key or span.start).index, self._last_character(path) + 1
        comma = end + len(self.text[end:]) - len(self.text[end:].lstrip(" "))
        last = self.text[comma : comma + 1] != ","
        end = end if last else comma + 1
        begin, stop = self._line_start(start), self._line_end(end)
        rest = self.text[end:stop].strip()
        if not self.text[begin:start].strip() and (not rest or rest.startswith("#")):
            return self.text[:begin] + self.text[stop + 1 :]
        if last:
            before = self.text.rfind(",", begin, start)
            start = before if before >= 0 else start
        else:
            end += len(self.text[end:]) - len(self.text[end:].lstrip(" "))
        return self.text[:start] + self.text[end:]

    def _add_key(self, path: Path, value: Any) -> str:
        parent, siblings = self._span(path[:-1]), _value_at(self.data, path[:-1])
        if not isinstance(siblings, dict) or parent.alias:
            raise CannotEdit(f"{_shown(path)} comes from an alias; edit it by hand")
        entry = f"{flow_key(str(path[-1]))}: {flow(value)}"
        if parent.flow or not siblings:
            return self._insert_in_flow(path[:-1], entry)
        column = min(span.key.column for span in self._children(path[:-1]) if span.key)
        return self._insert_line(self._last_character(path[:-1]), " " * column + entry)

    def _insert_in_flow(self, path: Path, entry: str) -> str:
        """Right behind the last entry, or behind the opening bracket where there is none."""
        span = self._span(path)
        ends = [child.end.index for child in self._children(path)]
        if ends:
            at = len(self.text[: max(ends)].rstrip())
            return f"{self.text[:at]}, {entry}{self.text[at:]}"
        at = (
            self.text.find("{" if isinstance(_value_at(self.data, path), dict) else "[", span.start.index) + 1
        )
        return self.text[:at] + entry + self.text[at:]

    def _insert_line(self, after: int, line: str) -> str:
        end = self._line_end(after)
        newline = "" if self.text[end : end + 1] == "\n" else "\n"
        return self.text[: end + 1] + newline + line + "\n" + self.text[end + 1 :]

    def _span(self, path: Path) -> Span:
        if path not in self.spans:
            raise CannotEdit(f"{_shown(path)} comes from an alias or is not in the document; edit it by hand")
        return self.spans[path]

    def _children(self, path: Path) -> list[Span]:
        return [span for at, span in self.spans.items() if at[:-1] == path and at]

    def _last_character(self, path: Path) -> int:
        """The offset of the last character that belongs to the node, without trailing comments or blanks."""
        ends = [
            span.end.index
            for other, span in self.spans.items()
            if other[: len(path)] == path and not span.block
        ]
        return len(self.text[: max(ends, default=self._span(path).end.index)].rstrip()) - 1

    def _line_start(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        end = self.text.find("\n", index)
        return len(self.text) if end < 0 else end
