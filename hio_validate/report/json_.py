"""The report as JSON in a versioned shape (schemas/report-v1.schema.json).

Invariant: version 1 only ever gains optional fields; keys and findings come in a fixed order.
"""

from __future__ import annotations

import json

from hio_validate import __version__
from hio_validate.diagnostic import Diagnostic, Location, Report, Severity
from hio_validate.report.order import in_order, suppressed_in_order
from hio_validate.report.visible import is_hidden

VERSION = 1


def render(report: Report) -> str:
    """One JSON object, indented, readable by any consumer of UTF-8."""
    return dump(
        {
            "version": VERSION,
            "tool": {"name": "hio", "version": __version__},
            **summary_and_findings(report),
            **({"audited": report.audited._asdict()} if report.audited else {}),
        }
    )


def summary_and_findings(report: Report) -> dict[str, object]:
    """What every answer says that carries findings."""
    return {
        "summary": _summary(report),
        "diagnostics": [_diagnostic(found) for found in in_order(report.diagnostics)],
        "suppressed": [
            {"diagnostic": _diagnostic(one.diagnostic), "reason": one.reason}
            for one in suppressed_in_order(report.suppressed)
        ],
        "unreadable": sorted(report.unreadable),
    }


def dump(value: object) -> str:
    """JSON with a newline at the end; hidden characters and lone surrogates are escaped, so that it can be
    printed and encoded."""
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines) + "\n"


def _escaped(line: str) -> str:
    return "".join(json.dumps(char)[1:-1] if is_hidden(char) else char for char in line)


def _summary(report: Report) -> dict[str, object]:
    return {
        "documents": report.documents,
        "rules": report.rules,
        "errors": len(report.of(Severity.ERROR)),
        "gates": len(report.of(Severity.GATE)),
        "notes": len(report.of(Severity.NOTE)),
        "suppressed": len(report.suppressed),
        "unreadable": len(report.unreadable),
        "gates_asked_for": list(report.gates),
        "exit_code": report.exit_code,
    }


def _diagnostic(found: Diagnostic) -> dict[str, object]:
    return {
        "rule": found.rule,
        "severity": found.severity.value,
        "message": found.message,
        "location": _location(found.location),
        "help": found.help,
        "related": [
            {"message": related.message, "location": _location(related.location)} for related in found.related
        ],
        "source_line": found.source_line,
    }


def _location(place: Location) -> dict[str, object]:
    return {"file": place.file, "line": place.line, "column": place.column}
