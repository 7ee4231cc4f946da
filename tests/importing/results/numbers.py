"""The numbers that stand in a file, so that a test can tell which ones an importer made up."""

from __future__ import annotations

import re

_NUMBER = re.compile(rb"[-+]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(rb"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")
_WHOLE = re.compile(rb"\d+")


def numbers_in(raw: bytes) -> frozenset[int | float]:
    """Every number that can be read anywhere in the bytes: with and without its sign, commas as thousands, fractions or ends."""
    found: set[int | float] = set()
    for match in _NUMBER.finditer(raw):
        text = match[0].decode()
        for spelt in {text, text.replace(",", ""), text.lstrip("+-"), *text.split(",")}:
            try:
                found.add(float(spelt))
                found.add(int(spelt))
            except ValueError:
                continue
    for match in _COMMA.finditer(raw):
        found.add(float(match[0].replace(b".", b"").replace(b",", b".")))
    found.update(int(match[0]) for match in _WHOLE.finditer(raw) if len(match[0]) < 4000)
    return frozenset(found)
