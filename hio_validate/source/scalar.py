"""What a plain (unquoted) scalar means: YAML 1.2 core, and stricter (docs/adr/0004-reading-yaml.md).

Invariant: a scalar that two readers would understand differently is text here, and where a person would
too, it is also a fault ("quote it"). `no`, `off`, `yes`, `1_000`, `12:30:45`, timestamps are plain text.
"""

from __future__ import annotations

import re

LARGEST_INTEGER = 2**53
"""Beyond this, JSON readers and spreadsheets lose digits; such numbers are kept as text."""

_CONSTANTS: dict[str, bool | float | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    ".nan": float("nan"),
    ".NaN": float("nan"),
    ".NAN": float("nan"),
    ".inf": float("inf"),
    ".Inf": float("inf"),
    ".INF": float("inf"),
    "+.inf": float("inf"),
    "+.Inf": float("inf"),
    "+.INF": float("inf"),
    "-.inf": float("-inf"),
    "-.Inf": float("-inf"),
    "-.INF": float("-inf"),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+][0-9]+")
_HASH_LIKE = re.compile(r"[-+]?[0-9]+[eE][0-9]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_NUMBER_STARTS = frozenset("-+.0123456789")

Plain = str | int | float | bool | None


def plain(text: str) -> tuple[Plain, str]:
    """The value of a plain scalar, and why it is ambiguous ("" where it is not)."""
    if text in _CONSTANTS:
        return _CONSTANTS[text], ""
    if text[0] not in _NUMBER_STARTS:
        return text, ""
    if _INTEGER.fullmatch(text):
        return _integer(text, 10)
    if _FLOAT.fullmatch(text):
        return float(text), ""
    if _BASED.fullmatch(text):
        return _integer(text, 0)
    if _HASH_LIKE.fullmatch(text):
        return (
            text,
            f"{_shown(text)} is text here and a number elsewhere: write {_quoted(text)} or {_decimal(text)}",
        )
    if _LEADING_ZERO.fullmatch(text):
        sign = "-" if text[0] == "-" else ""
        stripped = sign + (text.lstrip("+-0") or "0")
        return (
            text,
            f"{_shown(text)} loses its leading zero elsewhere: write {_quoted(text)} or {_shown(stripped)}",
        )
    return text, ""


def _integer(text: str, base: int) -> tuple[Plain, str]:
    # The length comes first: Python refuses to convert decimals of thousands of digits.
    if len(text) <= _LONGEST_INTEGER and abs(number := int(text, base)) <= LARGEST_INTEGER:
        return number, ""
    return text, f"{_shown(text)} is beyond 2^53, where readers lose digits: write {_quoted(text)}"


_LONGEST_INTEGER = 1000
_LONGEST_SHOWN = 40


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _quoted(text: str) -> str:
    return f'"{text}"' if len(text) <= _LONGEST_SHOWN else "it in quotes"


def _decimal(text: str) -> str:
    mantissa, exponent = re.split("[eE]", text)
    return f"{_shown(mantissa)}.0e+{_shown(exponent)}"


def needs_quotes(text: str) -> bool:
    """Whether a string written plainly would come back as something else, here or in a YAML 1.1 reader."""
    value, why = plain(text)
    if why or not isinstance(value, str) or text.startswith(("---", "...")):
        return True
    return text in _FOREIGN_BOOLEANS or bool(re.fullmatch(_FOREIGN, text))


_FOREIGN = (
    r"[-+]?(?:0[bBoOxX][0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"
)
"""Binary, underscores, base 60 and timestamps: text here, numbers and times in YAML 1.1."""
_FOREIGN_BOOLEANS = frozenset(
    word for base in ("yes", "no", "on", "off", "y", "n") for word in (base, base.title(), base.upper())
)
