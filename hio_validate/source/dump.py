"""New documents as YAML text: one setting a line, quotes only where a reader needs them.

Invariant: `read(dump(data))` gives `data` back, and no line is wrapped. One exception: an integer beyond 2^53
comes back as text, because other readers would lose its digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.source.scalar import LARGEST_INTEGER, needs_quotes

WIDEST_FLOW = 100
"""A list or row of single values stays on one line up to this many characters."""

_LONGEST_KEY = 1000
"""YAML wants the colon of a key within 1,024 characters; a longer key needs a question mark."""

_SAFE_PLAIN = re.compile(r"[A-Za-z0-9_./$+][A-Za-z0-9_./$+@%=~^()-]*(?:[ :;!][A-Za-z0-9_./$+@%=~^()-]+)*")
_COLON_END = re.compile(r":(?:\s|$)")


class Row(dict[str, Any]):
    """A mapping that is written on one line, e.g. a row of a matrix."""


def dump(data: Mapping[str, Any], *, head: str = "") -> bytes:
    """The document as UTF-8 bytes; `head` are comment lines put first, each written with its `# `."""
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    lines += [flow(data)] if _in_one_flow(data) else _block(data, "")
    return ("\n".join(lines) + "\n").encode()


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow_key(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def flow_key(key: str) -> str:
    """A key inside braces, to be followed by its colon."""
    written = scalar(key)
    return written if len(written) <= _LONGEST_KEY else f"? {written} "


def _in_one_flow(data: Mapping[str, Any]) -> bool:
    """Whether only braces can hold it: nothing in it, or a key too long to stand before its colon on a line."""
    return not data or any(len(key) * 6 > _LONGEST_KEY < len(scalar(key)) for key in data)


def scalar(value: Any) -> str:
    """A single value: plain where every reader agrees, double-quoted elsewhere."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    text = str(value)
    if _SAFE_PLAIN.fullmatch(text) and not _COLON_END.search(text) and not needs_quotes(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """A double-quoted scalar; JSON's escapes are YAML's."""
    import json  # only where something is written or proposed

    shown = json.dumps(text, ensure_ascii=False)
    return re.sub(
        r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        shown,
    )


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return str(value) if abs(value) <= LARGEST_INTEGER else f'"{value}"'
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    point = "" if "." in mantissa else ".0"  # YAML 1.1 wants both the point and the sign
    return f"{mantissa}{point}e{exponent if exponent[0] in '+-' else '+' + exponent}"


def _block(value: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        name = f"{indent}{scalar(key)}:"
        if _on_one_line(item, len(name)):
            lines.append(f"{name} {flow(item)}")
        elif isinstance(item, Mapping):
            lines += [name, *_block(item, indent + "  ")]
        else:
            lines += [name, *_items(item, indent + "  ")]
    return lines


def _items(items: Sequence[Any], indent: str) -> list[str]:
    lines: list[str] = []
    for item in items:
        if isinstance(item, Mapping) and item and not _on_one_line(item, len(indent) + 2):
            nested = _block(item, indent + "  ")
            lines += [f"{indent}- {nested[0].lstrip()}", *nested[1:]]
        else:
            lines.append(f"{indent}- {flow(item)}")
    return lines


def _on_one_line(item: Any, used: int) -> bool:
    if isinstance(item, Mapping):
        return isinstance(item, Row) or _in_one_flow(item)
    if isinstance(item, Sequence) and not isinstance(item, str):
        single = all(
            not isinstance(each, Mapping) and (isinstance(each, str) or not isinstance(each, Sequence))
            for each in item
        )
        return not item or (single and used + 1 + len(flow(item)) <= WIDEST_FLOW)
    return True
