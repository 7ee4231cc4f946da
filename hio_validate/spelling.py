"""Did you mean: the known word that is most like an unknown one."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.6
"""How alike two words must be at least, from 0 to 1 (difflib.SequenceMatcher.ratio)."""


def nearest(word: str, known: Iterable[str], alike: float = ALIKE) -> str:
    """The known word most like this one; "" where none is alike."""
    # Imported here: most documents have no word that nobody knows.
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=alike)
    return near[0] if near else ""
