"""Plain documents read line by line: one key or item a line, quotes without escapes, flat lists and rows of these.

Invariant: what is read here is exactly what construct.construct reads, without a fault; whatever could mean
anything else there (anchors, aliases, tags, block scalars, values of several lines, deeper flow, a key that
stands twice, odd indentation, an ambiguous number) is left to it: the answer is None, and it is the law.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hio_validate.source.scalar import plain

LONGEST = 200_000
"""Characters. No text up to this length can have more nodes than construct.MOST_NODES."""
DEEPEST = 32
"""Open collections; fewer than construct.DEEPEST, whose fault tells where."""

_FIRST = r"[A-Za-z/_$(]|--?[A-Za-z]|-?[0-9]|\.[0-9A-Za-z/]"
_KEY = r"[A-Za-z0-9/_$.][A-Za-z0-9/_$.+@%=~^()-]{0,199}|\"[^\"\\\n]{1,200}\""
# In a plain text a colon needs a word after it, and "#" is never read here.
_COLON = r":[A-Za-z0-9/@_.$-]"
_PLAIN = rf"(?:{_FIRST})[^\n:#]*(?:{_COLON}[^\n:#]*)*"
_FLOW_PLAIN = rf"(?:{_FIRST})[^\n:#,\[\]{{}}\"']*(?:{_COLON}[^\n:#,\[\]{{}}\"']*)*"
_VALUE = rf"\"[^\"\\\n]*\"|'[^'\n]*'|\[[^\n#]*\]|\{{[^\n#]*\}}|{_PLAIN}"
_LINE = re.compile(
    rf"^(?:( *)(- )?(?:({_KEY}):(?=[ \n]) *)?({_VALUE})?(?: +#[^\n]*| *)| *#[^\n]*)\n", re.MULTILINE
)
_ITEM = rf"\"[^\"\\\n]*\"|'[^'\n]*'|{_FLOW_PLAIN}"
_FLAT_LIST = rf"\[(?:(?:{_ITEM})(?:, (?:{_ITEM}))*)?\]"
_ITEM_AND_COMMA = re.compile(rf"({_ITEM})(?:, |$)")
_ENTRY_AND_COMMA = re.compile(rf"({_KEY}): ({_ITEM}|{_FLAT_LIST})(?:, |$)")
_CERTAIN = frozenset("ABCDEGHIJKLMOPQRSUVWXYZabcdeghijklmopqrsuvwxyz/_$(")
"""A plain scalar that begins so is text: no number, null, true or false does."""


class _Unsure(Exception):
    """Something that construct must read."""


def read_plainly(text: str) -> dict[str, Any] | None:
    """The data of a plain document, None where it is not plain enough to be sure."""
    if len(text) > LONGEST or "\t" in text:
        return None
    if not text.endswith("\n"):
        text += "\n"
    lines = _LINE.findall(text)
    if len(lines) != text.count("\n"):
        return None
    try:
        return _Reader().read(lines)
    except _Unsure:
        return None


def lines_in(text: str) -> Iterator[re.Match[str]]:
    """The lines of a plain text: indentation, dash, key and value are groups 1 to 4."""
    return _LINE.finditer(text if text.endswith("\n") else text + "\n")


def items_in(text: str) -> Iterator[re.Match[str]]:
    """The items of a list as it is written; group 1 is the item."""
    return _ITEM_AND_COMMA.finditer(text, 1, len(text) - 1)


def entries_in(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The keys of a row as it is written, each with its entry; groups 1 and 2 are key and value."""
    return ((_key(entry[1]), entry) for entry in _ENTRY_AND_COMMA.finditer(text, 1, len(text) - 1))


class _Reader:
    """Keys and items, put into the collections that their columns open, continue or close."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self.open: list[tuple[int, Any]] = [(0, self.root)]
        """Column and collection, the innermost last."""

    def read(self, lines: list[tuple[str, str, str, str]]) -> dict[str, Any] | None:
        here, node = self.open[-1]
        waiting = ""  # the key of `node` whose value, if it has one, begins on the next line
        for indent, dash, key, value in lines:
            column = len(indent)
            if not key or dash or waiting or column != here or type(node) is not dict:
                if not (dash or key):
                    if value:
                        raise _Unsure
                    continue
                here, node = self._place(column, bool(dash), waiting)
                if dash and not key:
                    node.append(_value(value))
                    waiting = ""
                    continue
                if dash:
                    here, node = self._item(here, node)
            name = key if key[0] in _CERTAIN else _key(key)
            if name in node:
                raise _Unsure
            if value:
                node[name] = value if value[0] in _CERTAIN and value[-1] != " " else _value(value)
                waiting = ""
            else:
                node[name] = None
                waiting = name
        return self.root or None

    def _place(self, column: int, is_item: bool, waiting: str) -> tuple[int, Any]:
        """The collection that a line at this column belongs to; the ones that end before it are left."""
        here, node = self.open[-1]
        if waiting and (column > here or (is_item and column == here)):
            node[waiting] = [] if is_item else {}
            return self._begin(column, node[waiting])
        while here > column or (here == column and not is_item and type(node) is list):
            self.open.pop()
            here, node = self.open[-1]
        if here != column or (type(node) is list) is not is_item:
            raise _Unsure
        return here, node

    def _item(self, column: int, items: list[Any]) -> tuple[int, Any]:
        items.append({})
        return self._begin(column + 2, items[-1])

    def _begin(self, column: int, node: Any) -> tuple[int, Any]:
        if len(self.open) >= DEEPEST:
            raise _Unsure
        self.open.append((column, node))
        return column, node


def _key(text: str) -> str:
    if text[0] == '"':
        return text[1:-1]
    name = _scalar(text)
    if not isinstance(name, str):
        raise _Unsure
    return name


def _value(text: str) -> Any:
    first = text[:1]
    if first == "[":
        return _list(text)
    if first == "{":
        return _row(text)
    return _scalar(text)


@lru_cache(maxsize=4096)
def _scalar(text: str) -> str | int | float | bool | None:
    first = text[:1]
    if first == '"' or first == "'":
        return text[1:-1]
    value, ambiguous = plain(text.rstrip(" "))
    if ambiguous or (value is None and not text):
        raise _Unsure
    return value


def _list(text: str) -> list[Any]:
    inner = text[1:-1]
    items = _ITEM_AND_COMMA.findall(inner)
    # Every character between the brackets is an item's or one of the separators between them.
    if len(inner) != sum(map(len, items)) + 2 * max(len(items) - 1, 0):
        raise _Unsure
    return [_scalar(item) for item in items]


def _row(text: str) -> dict[str, Any]:
    inner = text[1:-1]
    entries = _ENTRY_AND_COMMA.findall(inner)
    if len(inner) != sum(len(key) + len(value) for key, value in entries) + max(4 * len(entries) - 2, 0):
        raise _Unsure
    row = {_key(key): _list(value) if value[0] == "[" else _scalar(value) for key, value in entries}
    if len(row) != len(entries):
        raise _Unsure
    return row
