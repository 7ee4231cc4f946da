"""A rule of hio that raised an exception instead of giving an answer.

What it would have found is unknown, and unknown never passes: the run ends with exit code 3 even if all other
rules, which did run, found nothing. The message names the rule and the document on which it failed.

How to fix: this is a fault of hio, not of the document. Report it with the document or a reduced one; it cannot
be suppressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.diagnostic import Severity
from hio_validate.rules.base import Place, Problem, Rule, Scope, in_file
from hio_validate.source import Document


class Crash(NamedTuple):
    """A rule that raised, and on which document (None: on the repository)."""

    rule: str
    document: Document | None
    error: Exception


def check(crash: Crash) -> Iterator[Problem]:
    place = Place(crash.document, ()) if crash.document else in_file(".")
    kind, said = type(crash.error).__name__, str(crash.error)
    yield Problem(
        place,
        f"the rule {crash.rule} failed here: {kind}{': ' + said if said else ''}",
        "this is a fault of hio; please report it with this document. The other rules did run",
    )


RULE = Rule("internal-error", Scope.CRASH, Severity.ERROR, "a rule of hio failed", check, suppressible=False)
