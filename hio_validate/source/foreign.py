"""Reads the YAML of other programs: several documents in a file, anchors, merges; what is written, not what it means.

Invariants: every scalar is kept as the text that stands there, with its line, since who reads it decides whether `1` is a
number and `n` a truth; no tag is obeyed, no alias is expanded past a limit, and a key that stands twice is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from hio_validate.source.construct import MOST_NODES, events, last_event, malformed
from hio_validate.source.fault import Fault, Malformed
from hio_validate.source.syntax import DEEPEST, syntax_fault


@dataclass(frozen=True, slots=True)
class Node:
    """One value: a text, a list or a mapping; exactly one of the three is not None, none for an empty value."""

    line: int
    """From 1; of a block text the line of its indicator."""
    text: str | None = None
    items: tuple[Node, ...] | None = None
    entries: Mapping[str, Node] | None = None
    plain: bool = False
    """A text without quotes, which a reader may take for a number, a truth or nothing."""
    tag: str | None = None

    def get(self, *keys: str) -> Node | None:
        """The value under some keys, one below the other; None where there is none."""
        found: Node | None = self
        for key in keys:
            found = found.entries.get(key) if found is not None and found.entries is not None else None
        return found

    def words(self) -> list[Node]:
        """The texts of a list, or the one text."""
        if self.items is not None:
            return [each for each in self.items if each.text is not None]
        return [self] if self.text is not None else []

    def pairs(self) -> Iterator[tuple[str, Node]]:
        yield from (self.entries or {}).items()


@dataclass
class _Reading:
    events: Iterator[Any]
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    count: int = 0


def documents(text: str) -> list[Node]:
    """Every document of a stream. Raises Malformed."""
    try:
        return list(_documents(_Reading(events(text))))
    except yaml.MarkedYAMLError as error:
        raise Malformed(syntax_fault(error, text, last_event(text))) from None
    except yaml.YAMLError as error:
        raise Malformed(Fault("syntax-error", f"not YAML: {error}", "", 1, 1)) from None


def _documents(reading: _Reading) -> Iterator[Node]:
    for event in reading.events:
        if isinstance(event, yaml.DocumentStartEvent):
            reading.anchors.clear()
            yield _node(next(reading.events), reading, 0)


def _node(event: Any, reading: _Reading, depth: int) -> Node:
    _count(1, reading, event)
    if depth > DEEPEST:
        raise malformed(f"nested deeper than {DEEPEST} levels", "flatten it", event.start_mark)
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in reading.anchors:
            message = f"the alias *{event.anchor} has no anchor above it, or stands inside it"
            raise malformed(message, "define the anchor (&name) before its alias (*name)", event.start_mark)
        node, size = reading.anchors[event.anchor]
        _count(size, reading, event)
        return node
    before = reading.count
    node = _value(event, reading, depth)
    if event.anchor is not None:
        reading.anchors[event.anchor] = node, reading.count - before + 1
    return node


def _value(event: Any, reading: _Reading, depth: int) -> Node:
    line = event.start_mark.line + 1
    if isinstance(event, yaml.ScalarEvent):
        plain = bool(event.implicit[0]) and not event.style
        if plain and event.value in ("", "~", "null", "Null", "NULL"):
            return Node(line, plain=True)
        return Node(line, text=event.value, plain=plain, tag=event.tag)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(each := next(reading.events), yaml.SequenceEndEvent):
            items.append(_node(each, reading, depth + 1))
        return Node(line, items=tuple(items), tag=event.tag)
    return Node(line, entries=_entries(reading, depth), tag=event.tag)


def _entries(reading: _Reading, depth: int) -> dict[str, Node]:
    entries: dict[str, Node] = {}
    merged: dict[str, Node] = {}
    while not isinstance(event := next(reading.events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise malformed("a key that is not plain text", "write the key as one text", event.start_mark)
        value = _node(next(reading.events), reading, depth + 1)
        if event.value == "<<" and not event.style:
            for source in value.items if value.items is not None else (value,):
                if source.entries is None:
                    raise malformed(
                        "<< merges something that is no mapping", "merge an alias", event.start_mark
                    )
                _count(len(source.entries), reading, event)
                merged = {**source.entries, **merged}
        elif event.value in entries:
            first = entries[event.value].line
            message = f'the key "{event.value}" stands twice, first on line {first}'
            raise malformed(
                message, "keep one of the two; readers disagree which one counts", event.start_mark
            )
        else:
            entries[event.value] = value
    return {**merged, **entries}


def _count(nodes: int, reading: _Reading, event: Any) -> None:
    reading.count += nodes
    if reading.count > MOST_NODES:
        message = f"more than {MOST_NODES:,} values, aliases counted in full"
        raise malformed(message, "an alias that repeats an alias grows like a bomb", event.start_mark)
