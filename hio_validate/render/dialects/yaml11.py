"""YAML that a reader of 1.1 and one of 1.2 read alike: plain words where both take them for text, else double quotes.

Compose 1, kubectl's older readers and PyYAML follow YAML 1.1, where `no`, `012`, `1:30`, `1e3` and `~` are no text.
"""

from __future__ import annotations

import re

from hio_validate.render.carrying import refuse_impossible

_PLAIN = re.compile(r"(?:--?)?[A-Za-z/][A-Za-z0-9_./@-]*")
_RETYPED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"])
_NAMED = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


def quote(value: str) -> str:
    """The value as one scalar. Raises CannotCarry."""
    refuse_impossible(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _RETYPED and len(value) < 100:
        return value
    return '"' + inside(value) + '"'


def inside(value: str) -> str:
    """The value as it stands between double quotes; whatever is not printable is escaped."""
    return "".join(_NAMED.get(char) or _escaped(char) for char in value)


def _escaped(char: str) -> str:
    code = ord(char)
    if char.isprintable() and code != 0xFEFF:
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
