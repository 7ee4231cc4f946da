"""The numbers that stand in a file, so that a test can tell which ones an importer made up."""

from __future__ import annotations

import re

_NUMBER = re.compile(rb"[-+]?(?:\d[\d_,.']*|\.\d+)(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(rb"\d+")


def _spellings(text: str) -> set[str]:
    """As it stands, with commas or points as thousands, and the parts that commas keep apart."""
    plain = text.rstrip(",.'")
    read = {plain, plain.replace(",", ""), plain.replace(".", "").replace(",", "."), plain.replace("'", "")}
    return {
        each for whole in (read, set(text.split(","))) for one in whole for each in (one, one.lstrip("+-"))
    }


def numbers_in(raw: bytes) -> frozenset[int | float]:
    """Every number that can be read anywhere in the bytes: with and without its sign, commas as thousands or as ends."""
    found: set[int | float] = set()
    for match in _NUMBER.finditer(raw):
        text = match[0].decode()
        for spelt in _spellings(text):
            try:
                found.add(float(spelt))
                found.add(int(spelt))
            except ValueError:
                continue
    found.update(int(match[0]) for match in _WHOLE.finditer(raw) if len(match[0]) < 4000)
    return frozenset(found)
