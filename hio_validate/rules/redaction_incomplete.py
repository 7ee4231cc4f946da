"""Bytes that a redaction entry says are gone and that still stand at HEAD.

A `redaction` entry explains why a frozen file was altered: these bytes, named by their digest, had to go, such as a
leaked secret (contract 1.4). If any file still has them, nothing was taken out, and the entry would excuse an
alteration that had no reason.

How to fix: take the bytes out of the file that is named. What was pushed once is known to others: change the
secret itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.rules.base import Problem, Rule, Scope
from hio_validate.rules.faults import in_history


def check(found: Sequence[Diagnostic]) -> Iterator[Problem]:
    return in_history(found, "redaction-incomplete")


RULE = Rule(
    "redaction-incomplete", Scope.HISTORY, Severity.ERROR, "redacted bytes still stand at HEAD", check,
    contract=("1.4",), since=2, suppressible=False,
)  # fmt: skip
