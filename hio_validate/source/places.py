"""Where the keys and values of a plain document stand: its data tells what each of its lines holds.

Invariant: a text that fast.read_plainly takes has the places here that construct.places finds in it
(tests/source/test_fast.py). Nothing but a finding asks for places, so the quick reader keeps none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.source.fast import entries_in, items_in, lines_in


class Spot(NamedTuple):
    """Line and column, in characters from 1."""

    line: int
    column: int


class Placed(NamedTuple):
    """Where a value begins, and its key where it has one."""

    value: Spot
    key: Spot | None = None


Places = dict[Path, Placed]


def places_in(text: str, data: dict[str, Any]) -> Places:
    """The places of everything in a plain text, of which the data was read."""
    walk = _Walk(list(_parts(text)))
    walk.value(data, (), None)
    return walk.found


class _Part(NamedTuple):
    """A dash, a key (with the place behind its colon) or a value of one line, in the order of the text."""

    spot: Spot
    text: str = ""
    """Of a value."""
    behind: Spot | None = None
    """Of a key: where an empty value would stand."""


def _parts(text: str) -> Iterator[_Part]:
    for number, line in enumerate(lines_in(text), 1):
        first = line.start()
        _, dash, key, value = line.groups()
        if dash:
            yield _Part(Spot(number, line.start(2) - first + 1))
        if key:
            behind = Spot(number, line.end(3) - first + 2)
            yield _Part(Spot(number, line.start(3) - first + 1), behind=behind)
        if value:
            yield _Part(Spot(number, line.start(4) - first + 1), value)


class _Walk:
    """Through the data in the order of the text, taking the parts as they come."""

    def __init__(self, parts: list[_Part]) -> None:
        self.parts, self.at = parts, 0
        self.found: Places = {}

    def value(self, data: Any, path: Path, key: Spot | None) -> None:
        part = self.parts[self.at]
        self.found[path] = Placed(part.spot, key)
        if part.text:
            self.at += 1
            self._flow(part.text, part.spot, path)
        elif part.behind:
            self._mapping(data, path)
        else:
            self._items(data, path)

    def _items(self, items: list[Any], path: Path) -> None:
        for index, item in enumerate(items):
            self.at += 1
            self.value(item, (*path, index), None)

    def _mapping(self, items: dict[str, Any], path: Path) -> None:
        for name, item in items.items():
            key = self.parts[self.at]
            self.at += 1
            if item is None and key.behind and not self._has_text():
                self.found[(*path, name)] = Placed(key.behind, key.spot)
            else:
                self.value(item, (*path, name), key.spot)

    def _has_text(self) -> bool:
        """Whether a value is written next: `null` is, an empty one is not."""
        return self.at < len(self.parts) and bool(self.parts[self.at].text)

    def _flow(self, text: str, begin: Spot, path: Path) -> None:
        """The items of `[a, b]` or `{a: [b]}`, which stand on the line of the whole."""
        line, first = begin
        if text.startswith("["):
            for index, item in enumerate(items_in(text)):
                self.found[(*path, index)] = Placed(Spot(line, first + item.start(1)))
        elif text.startswith("{"):
            for name, entry in entries_in(text):
                key, value = Spot(line, first + entry.start(1)), Spot(line, first + entry.start(2))
                self.found[(*path, name)] = Placed(value, key)
                self._flow(entry[2], value, (*path, name))
