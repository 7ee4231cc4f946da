"""libyaml's events become plain Python data, and, when asked, the position of every key and value.

Invariants: no tag is obeyed, no alias is expanded past a limit, nothing is nested past a limit, and a key
that stands twice is a fault at its second place that names the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import yaml

from hio_validate.diagnostic import Path
from hio_validate.source.fault import Fault, Malformed
from hio_validate.source.places import Placed, Places, Spot
from hio_validate.source.scalar import plain
from hio_validate.source.syntax import DEEPEST, syntax_fault

MOST_NODES = 200_000
"""Nodes after aliases are expanded; an alias bomb passes it at once, a captured process has about a thousand."""

# Where libyaml is missing, PyYAML's own parser gives the same events, about ten times slower.
_PARSER: Any = getattr(yaml.cyaml, "CParser", None) if yaml.__with_libyaml__ else yaml.SafeLoader


_BEGINS = 'a document begins with "hio: <kind>/v1"'


class Mark(Protocol):
    line: int
    column: int
    index: int


class Span:
    """Where a node stands in the text: character offsets, line and column from 0."""

    __slots__ = ("alias", "block", "end", "flow", "key", "start")

    def __init__(
        self, start: Mark, end: Mark, *, flow: bool = False, block: bool = False, alias: bool = False
    ) -> None:
        self.start, self.end, self.flow, self.block, self.alias = start, end, flow, block, alias
        self.key: Mark | None = None


class Construction:
    def __init__(self) -> None:
        self.data: Any = None
        self.faults: list[Fault] = []
        self.spans: dict[Path, Span] = {}


def construct(text: str, *, spans: bool = False) -> Construction:
    """Read one document. Raises Malformed where the text is not one well-formed YAML document."""
    if not text or text.isspace():
        raise Malformed(Fault("syntax-error", "the file is empty", _BEGINS, 1, 1))
    try:
        return _Reader(events(text), spans).document()
    except yaml.MarkedYAMLError as error:
        raise Malformed(syntax_fault(error, text, last_event(text))) from None
    except yaml.YAMLError as error:
        raise Malformed(Fault("syntax-error", f"not YAML: {error}", "", 1, 1)) from None


def places(text: str) -> Places:
    """The place of every key and value. Raises Malformed."""
    spans = construct(text, spans=True).spans
    return {
        path: Placed(_at(span.start), _at(span.key) if span.key else None) for path, span in spans.items()
    }


def events(text: str) -> Iterator[Any]:
    parser = _PARSER(text)
    try:
        next_event: Callable[[], Any] = parser.get_event
        while (event := next_event()) is not None:
            yield event
    finally:
        parser.dispose()


def last_event(text: str) -> Any:
    """The last event before the text stops being YAML."""
    last = None
    with suppress(yaml.YAMLError):
        for event in events(text):
            last = event
    return last


def _at(mark: Mark) -> Spot:
    return Spot(mark.line + 1, mark.column + 1)


class _Anchored(NamedTuple):
    value: Any
    nodes: int
    levels: int


class _Reader:
    def __init__(self, events: Iterator[Any], spans: bool) -> None:
        self._next = events.__next__
        self._keep_spans = spans
        self._anchors: dict[str, _Anchored | None] = {}
        self._nodes = 0
        self._deepest = 0
        self.result = Construction()

    def document(self) -> Construction:
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            raise Malformed(Fault("syntax-error", "the file holds nothing but comments", _BEGINS, 1, 1))
        if start.version or start.tags:
            raise malformed(
                "a %YAML or %TAG directive", "remove it; YAML 1.2 is understood", start.start_mark
            )
        self.result.data = self._node(self._next(), (), 0)
        self._next()
        more = self._next()
        if not isinstance(more, yaml.StreamEndEvent):
            raise malformed("a second document in the file", "one file holds one document", more.start_mark)
        return self.result

    def _node(self, event: Any, path: Path, depth: int) -> Any:
        self._count(1, event)
        if type(event) is yaml.AliasEvent:
            return self._alias(event, path, depth)
        if event.tag is not None:
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise malformed(f"the tag {shown}", "remove it; no tag is obeyed", event.start_mark)
        if event.anchor is not None:
            return self._anchored(event, path, depth)
        return self._value(event, path, depth)

    def _anchored(self, event: Any, path: Path, depth: int) -> Any:
        self._anchors[event.anchor] = None
        nodes, deepest = self._nodes, self._deepest
        self._deepest = depth
        value = self._value(event, path, depth)
        self._anchors[event.anchor] = _Anchored(value, self._nodes - nodes + 1, self._deepest - depth)
        self._deepest = max(deepest, self._deepest)
        return value

    def _value(self, event: Any, path: Path, depth: int) -> Any:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            if self._keep_spans:
                self.result.spans[path] = Span(event.start_mark, event.end_mark)
            return self._scalar(event)
        self._descend(depth + 1, event)
        read = self._mapping if kind is yaml.MappingStartEvent else self._sequence
        value, end = read(event, path, depth + 1)
        if self._keep_spans:
            self.result.spans[path] = Span(
                event.start_mark, end.end_mark, flow=bool(event.flow_style), block=not event.flow_style
            )
        return value

    def _scalar(self, event: Any) -> Any:
        if not event.implicit[0] or event.style:
            return event.value
        value, ambiguous = plain(event.value)
        if ambiguous:
            self._fault("ambiguous-scalar", ambiguous, event.start_mark)
        return value

    def _sequence(self, _: Any, path: Path, depth: int) -> tuple[list[Any], Any]:
        items: list[Any] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            items.append(self._node(event, (*path, len(items)), depth))
        return items, event

    def _mapping(self, _: Any, path: Path, depth: int) -> tuple[dict[str, Any], Any]:
        items: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        places: dict[str, Mark] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            key, is_merge = self._key(event)
            if key in places:
                self._duplicate(key, event.start_mark, places[key])
                self._node(self._next(), (*path, key, "(again)"), depth)
                continue
            places[key] = event.start_mark
            value_event = self._next()
            value = self._node(value_event, (*path, key), depth)
            if is_merge:
                merged += self._merge_sources(value, event)
            else:
                items[key] = value
            if self._keep_spans:
                self.result.spans[(*path, key)].key = event.start_mark
        for source in merged:
            for key, value in source.items():
                items.setdefault(key, value)
        return items, event

    def _key(self, event: Any) -> tuple[str, bool]:
        if type(event) is not yaml.ScalarEvent:
            raise malformed(
                "a key that is not plain text", "a key is one word or a quoted text", event.start_mark
            )
        if event.tag is not None or event.anchor is not None:
            raise malformed("a tag or an anchor on a key", "put it on the value", event.start_mark)
        self._count(1, event)
        key = self._scalar(event)
        if isinstance(key, str):
            return key, key == "<<" and not event.style
        shown = event.value or "(empty)"
        raise malformed(f"the key {shown} is no text", f'quote it: "{event.value}"', event.start_mark)

    def _merge_sources(self, value: Any, event: Any) -> list[dict[str, Any]]:
        sources = value if isinstance(value, list) else [value]
        if not sources or not all(isinstance(source, dict) for source in sources):
            raise malformed(
                "<< merges something that is no mapping", "merge an alias: <<: *name", event.start_mark
            )
        for source in sources:
            self._count(len(source), event)
        return sources

    def _alias(self, event: Any, path: Path, depth: int) -> Any:
        if event.anchor not in self._anchors:
            raise malformed(
                f"the alias *{event.anchor} has no anchor above it",
                "define the anchor (&name) before its alias (*name)",
                event.start_mark,
            )
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise malformed(
                f"the alias *{event.anchor} stands inside itself", "write the values out", event.start_mark
            )
        self._count(anchored.nodes, event)
        self._descend(depth + anchored.levels, event)
        if self._keep_spans:
            self.result.spans[path] = Span(event.start_mark, event.end_mark, alias=True)
        return anchored.value

    def _descend(self, level: int, event: Any) -> None:
        if level > DEEPEST:
            raise malformed(f"nested deeper than {DEEPEST} levels", "flatten it", event.start_mark)
        if level > self._deepest:
            self._deepest = level

    def _count(self, nodes: int, event: Any) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise malformed(
                f"more than {MOST_NODES:,} values, aliases counted in full",
                "an alias that repeats an alias grows like a bomb; write the values out",
                event.start_mark,
            )

    def _duplicate(self, key: str, here: Mark, first: Mark) -> None:
        line, column = _at(here)
        self.result.faults.append(
            Fault(
                "duplicate-key",
                f'the key "{key}" stands twice',
                "keep one of the two; readers disagree which one counts",
                line,
                column,
                _at(first),
            )
        )

    def _fault(self, rule: str, message: str, mark: Mark) -> None:
        line, column = _at(mark)
        self.result.faults.append(Fault(rule, message, "", line, column))


def malformed(message: str, help: str, mark: Any) -> Malformed:
    line, column = _at(mark)
    return Malformed(Fault("syntax-error", message, help, line, column))
