"""A comment `# hio: allow RULE — reason` that keeps nothing quiet on its line.

A suppression is a promise: somebody looked at this finding and accepts it for that reason. When the finding is
gone, the comment still says that something is wrong here, and it will hide the next, different finding of the
same rule on that line without anyone having looked. A misspelt rule, a missing reason, or a rule that cannot be
suppressed (documents, pins, history, ledger) has no effect either, whatever its author believed.

How to fix: remove the comment. If it was meant for a finding, move it to the line that the finding names, spell
the rule as the finding does, and give the reason after a dash.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Location, Severity
from hio_validate.rules.base import Place, Problem, Rule, Scope
from hio_validate.source import Allowance, Document


def check(unused: list[tuple[Document, Allowance, str]]) -> Iterator[Problem]:
    for document, allowance, why in unused:
        place = Place(document, fixed=Location(document.file, allowance.line, allowance.column))
        yield Problem(
            place, f"allow {allowance.rule} {why}", "remove the comment, or put it right where it was meant"
        )


RULE = Rule(
    "unused-suppression", Scope.SUPPRESSION, Severity.ERROR, "a suppression comment keeps nothing quiet", check,
    suppressible=False,
)  # fmt: skip
