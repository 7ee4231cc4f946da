"""The report as GitHub workflow commands, which annotate the changed lines of a pull request.

Invariant: one finding is one line, and no text from a document can start a command of its own.
"""

from __future__ import annotations

from hio_validate.diagnostic import Diagnostic, Report, Severity
from hio_validate.report.details import details
from hio_validate.report.order import in_order
from hio_validate.report.summary import summary_line, why_incomplete
from hio_validate.report.visible import visible

_COMMAND = {Severity.ERROR: "error", Severity.GATE: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """One command per finding, one where the check was not complete, then the outcome as a plain line."""
    lines = [_command(found) for found in in_order(report.diagnostics)]
    incomplete = why_incomplete(report)
    if incomplete:
        files = [visible(file) for file in sorted(report.unreadable)]
        text = "\n".join([f"{incomplete} (exit 3)", *files])
        lines.append(f"::error title={escaped_property('hio could not check')}::{escaped_data(text)}")
    return "\n".join([*lines, summary_line(report)]) + "\n"


def escaped_data(text: str) -> str:
    """The message of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """A value between `::` and `::`, where colon and comma separate."""
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(found: Diagnostic) -> str:
    at = found.location
    properties = {"file": visible(at.file)}
    if at.line:
        properties["line"] = str(at.line)
    if at.line and at.column:
        properties["col"] = str(at.column)
    properties["title"] = visible(found.rule)
    message = "\n".join(details(found))
    listed = ",".join(f"{name}={escaped_property(value)}" for name, value in properties.items())
    return f"::{_COMMAND[found.severity]} {listed}::{escaped_data(message)}"
