"""The order in which every format lists findings.

Invariant: it depends on the findings only, never on the order in which the rules ran.
"""

from __future__ import annotations

from collections.abc import Iterable

from hio_validate.diagnostic import Diagnostic, Suppressed


def in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line, column, rule, message; findings equal in all five keep the order of their rule."""
    return sorted(found, key=_place)


def suppressed_in_order(kept_quiet: Iterable[Suppressed]) -> list[Suppressed]:
    """Suppressed findings, in the order of the findings that they keep quiet."""
    return sorted(kept_quiet, key=lambda one: (*_place(one.diagnostic), one.reason))


def _place(found: Diagnostic) -> tuple[str, int, int, str, str]:
    at = found.location
    return at.file, at.line, at.column, found.rule, found.message
