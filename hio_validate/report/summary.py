"""The outcome of a run in one line, and why it came to exit 3.

Invariant: the line never says "no error" alone where something could not be checked.
"""

from __future__ import annotations

from hio_validate.diagnostic import Diagnostic, Report, Severity
from hio_validate.report.visible import visible


def counted(number: int, noun: str) -> str:
    """A number with its noun, e.g. "1 error", "2 errors"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
    return f"{judged}: {', '.join(part for part in parts if part)}"


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
