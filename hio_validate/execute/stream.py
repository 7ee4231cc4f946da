"""Reads an event stream (text/event-stream) from bytes as they arrive.

Invariant: what comes out does not depend on where the bytes were cut, not even inside a character.
Source: WHATWG HTML, server-sent events; llama.cpp also writes `error: {...}` lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

DONE = "[DONE]"
_LONGEST_LINE = 16 << 20


class MalformedStream(ValueError):
    """Bytes that are no event stream, or an event that is no JSON object; says which."""


class Event(NamedTuple):
    """One event: the JSON object it carries; None for the end mark of the OpenAI dialect."""

    data: dict[str, Any] | None
    is_error: bool = False


class Events:
    """The events of one answer."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []
        self._is_error = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that these bytes complete. Raises MalformedStream."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            raise MalformedStream(f"a line of more than {_LONGEST_LINE >> 20} MiB")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    @property
    def is_between_events(self) -> bool:
        """Whether nothing of an event is waiting for its end."""
        return not self._rest and not self._data

    def _line(self, line: bytes) -> Iterator[Event]:
        if not line:
            if self._data:
                yield self._event()
            return
        try:
            name, _, value = line.decode("utf-8").partition(":")
        except UnicodeDecodeError:
            raise MalformedStream("a line that is not UTF-8") from None
        if name in ("data", "error"):
            self._data.append(value.removeprefix(" "))
            self._is_error = self._is_error or name == "error"
        elif name not in ("", "event", "id", "retry"):
            raise MalformedStream(f"a line that begins with {name[:40]!r}")

    def _event(self) -> Event:
        text, is_error = "\n".join(self._data), self._is_error
        self._data, self._is_error = [], False
        if text == DONE:
            return Event(None)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedStream(f"an event that is no JSON: {text[:80]!r}") from None
        if not isinstance(data, dict):
            raise MalformedStream(f"an event that is no JSON object: {text[:80]!r}")
        return Event(data, is_error or "error" in data)
