"""The report as GitLab's Code Quality list, which a merge request shows beside the changed lines.

Invariants: what could not be checked is an issue of its own, or the merge request would show none; fingerprints
are unique, and a finding that merely moved to another line keeps its own.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from hio_validate.diagnostic import Report, Severity
from hio_validate.report.details import details
from hio_validate.report.json_ import dump
from hio_validate.report.order import in_order
from hio_validate.report.summary import why_incomplete

_SEVERITY = {Severity.ERROR: "critical", Severity.GATE: "minor", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """A JSON list with one issue per finding."""
    seen: Counter[tuple[str, ...]] = Counter()
    issues = []
    for found in in_order(report.diagnostics):
        same = (found.rule, found.location.file, found.message)
        seen[same] += 1
        text = "\n".join(details(found))
        line = found.location.line or 1
        issues.append(
            _issue(
                found.rule,
                _SEVERITY[found.severity],
                text,
                found.location.file,
                line,
                (*same, str(seen[same])),
            )
        )
    incomplete = why_incomplete(report)
    if incomplete:
        text = "\n".join([f"hio could not check: {incomplete} (exit 3)", *sorted(report.unreadable)])
        issues.append(_issue("could-not-check", "blocker", text, ".", 1, (text,)))
    return dump(issues)


def _issue(
    rule: str, severity: str, text: str, path: str, line: int, identity: tuple[str, ...]
) -> dict[str, object]:
    mark = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "description": text,
        "check_name": rule,
        "fingerprint": mark,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }
