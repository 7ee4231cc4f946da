"""What blocks at the head: errors and gates that a change brings, resolves, or found there before.

Invariant: a finding is the same one where rule, document and sentence are, wherever the lines moved to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hio_validate.diagnostic import Diagnostic, Report, Severity
from hio_validate.repo import service_of
from hio_validate.review.changes import Finding, Quiet

_Key = tuple[str, Severity, str, str]


def compared(
    before: Report, after: Report, focus: frozenset[str], renamed: Mapping[str, str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(all that blocks at the head, what was resolved). Outside the focus nothing changed, so all was there before."""
    now_named = {was: now for now, was in renamed.items()}
    known = Counter(_key(each, now_named) for each in _blocking(before))
    found = []
    for each in _blocking(after):
        key = _key(each, {})
        old = each.location.file not in focus or known[key] > 0
        known[key] -= 1
        found.append(_finding(each, new=not old))
    left = Counter({key: count for key, count in known.items() if count > 0})
    resolved = []
    for each in _blocking(before):
        key = _key(each, now_named)
        if left[key] > 0:
            left[key] -= 1
            resolved.append(_finding(each, new=False))
    return tuple(found), tuple(resolved)


def _blocking(report: Report) -> Iterable[Diagnostic]:
    return (each for each in report.diagnostics if each.severity is not Severity.NOTE)


def _key(found: Diagnostic, now_named: Mapping[str, str]) -> _Key:
    file = found.location.file
    return found.rule, found.severity, now_named.get(file, file), found.message


def _finding(found: Diagnostic, new: bool) -> Finding:
    return Finding(
        found.rule,
        found.severity,
        service_of(found.location.file),
        found.location.file,
        found.location.line,
        found.message,
        found.help,
        new,
    )


def kept_quiet(
    before: Report, after: Report, focus: frozenset[str], renamed: Mapping[str, str]
) -> tuple[Quiet, ...]:
    """The findings that comments of this change keep quiet; those of comments from before are not told."""
    now_named = {was: now for now, was in renamed.items()}
    known = {(*_key(each.diagnostic, now_named), each.reason) for each in before.suppressed}
    found = [
        Quiet(
            each.diagnostic.rule,
            service_of(each.diagnostic.location.file),
            each.diagnostic.location.file,
            each.diagnostic.location.line,
            each.diagnostic.message,
            each.reason,
        )
        for each in after.suppressed
        if each.diagnostic.location.file in focus and (*_key(each.diagnostic, {}), each.reason) not in known
    ]
    return tuple(sorted(found, key=lambda one: (one.document, one.line, one.rule)))
