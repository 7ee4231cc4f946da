"""Findings that say the same of several documents, told once with every place.

Invariant: nothing is left out: each finding is either shown itself or named by its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.diagnostic import Diagnostic, Related


def together(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """One finding in the place of all that differ in nothing but where they stand; the first one's place and order."""
    groups: dict[tuple[object, ...], list[Diagnostic]] = {}
    for each in found:
        groups.setdefault((each.rule, each.severity, each.message, each.help), []).append(each)
    return [_one(same) for same in groups.values()]


def _one(same: Sequence[Diagnostic]) -> Diagnostic:
    first, *others = same
    also = tuple(Related("the same", each.location) for each in others)
    return first._replace(related=(*first.related, *also))
