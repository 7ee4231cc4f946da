"""The outcome of a run in one line, and why it came to exit 3.

Invariant: the line never says "no error" alone where something could not be checked.
"""

from __future__ import annotations

from hio_validate.diagnostic import Audited, Diagnostic, Report, Severity
from hio_validate.quantity import counted
from hio_validate.report.visible import visible


def blocks(report: Report, found: Diagnostic) -> bool:
    """True for a finding that fails this run: an error, or a gate where gates were asked for."""
    return found.severity is Severity.ERROR or (found.severity is Severity.GATE and bool(report.gates))


def why_incomplete(report: Report) -> str:
    """Why the check is not complete (exit 3), or "" where it is."""
    reasons = []
    if not report.documents:
        reasons.append("nothing was checked" if report.unreadable else "nothing matched")
    if report.unreadable:
        reasons.append(f"{counted(len(report.unreadable), 'file')} unreadable")
    if any(found.rule == "internal-error" for found in report.diagnostics):
        reasons.append("a rule crashed")
    return ", ".join(reasons)


def summary_line(report: Report) -> str:
    """E.g. "12 documents, 34 rules: 1 error, 2 gates (deployment blocked; exit 1 with --gate deploy)"."""
    parts = [_errors(report), _gates(report)]
    notes = len(report.of(Severity.NOTE))
    parts.append(counted(notes, "note") if notes else "")
    parts.append(f"{len(report.suppressed)} suppressed" if report.suppressed else "")
    incomplete = why_incomplete(report)
    parts.append(f"{incomplete} (exit 3)" if incomplete else "")
    judged = f"{counted(report.documents, 'document')}, {counted(report.rules, 'rule')}"
    looked_at = _history(report.audited) if report.audited else judged
    return f"{looked_at}: {', '.join(part for part in parts if part)}"


def _history(audited: Audited) -> str:
    """E.g. "12 commits from the first to 0123456789, 2 entries, 9 files of captures and runs, 1 anchor"."""
    begin = visible(audited.since)[:10] if audited.since else "the first"
    parts = [
        f"{counted(audited.commits, 'commit')} from {begin} to {visible(audited.head)[:10]}",
        f"{audited.entries} entries" if audited.entries != 1 else "1 entry",
        f"{counted(audited.files, 'file')} of captures and runs",
        counted(audited.anchors, "anchor"),
    ]
    if audited.decisions is not None:
        parts.append(f"{audited.signed} of {counted(audited.decisions, 'decision')} signed")
    if audited.uncommitted:
        parts.append(f"{counted(audited.uncommitted, 'uncommitted change')} left to hio validate")
    return ", ".join(parts)


def _errors(report: Report) -> str:
    errors = len(report.of(Severity.ERROR))
    if errors:
        return counted(errors, "error")
    return "no error" if report.documents else ""


def _gates(report: Report) -> str:
    gates = len(report.of(Severity.GATE))
    if not gates:
        return ""
    if report.gates:
        asked = visible(" ".join(f"--gate {gate}" for gate in report.gates))
        return f"{counted(gates, 'gate')} (deployment blocked; exit 1 because of {asked})"
    return f"{counted(gates, 'gate')} (deployment blocked; exit 1 with --gate deploy)"
