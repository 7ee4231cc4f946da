"""The report as a comment on a pull request: a verdict, then a table with errors first.

Invariant: text from a document stays text (no markup, HTML, table cell or mention of its own), and the
comment stays below the size that GitHub accepts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hio_validate.diagnostic import Diagnostic, Report, Severity
from hio_validate.report.order import in_order, suppressed_in_order
from hio_validate.report.summary import summary_line
from hio_validate.report.visible import visible, visible_lines

LONGEST_COMMENT = 65_536
"""Characters that GitHub takes in one comment."""

_VERDICT = {0: "passes", 1: "fails", 3: "could not check"}
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKUP = re.compile(r"[\\`*_~|\[\]$#!]")


def render(report: Report) -> str:
    """The findings by severity, then place; what does not fit into a comment is counted."""
    verdict = f"**hio {_VERDICT[report.exit_code]}** — {escaped(summary_line(report))}"
    ordered = in_order(report.diagnostics)
    rows = [_row(found) for severity in Severity for found in ordered if found.severity is severity]
    head = ["| Severity | Where | What | Rule |", "| --- | --- | --- | --- |"]
    parts = [[verdict], [*head, *rows] if rows else [], _suppressed(report), _unreadable(report)]
    return _fitted(["\n".join(part) for part in parts if part])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line; `@name` at the start of a word notifies nobody."""
    text = "".join(_HTML.get(char, char) for char in _MARKUP.sub(r"\\\g<0>", visible(text)))
    return re.sub(r"(?<!\w)@", "@&#8203;", text)


def _code(text: str) -> str:
    # Not backticks: inside them nothing can be escaped.
    return f"<code>{escaped(text)}</code>"


def _row(found: Diagnostic) -> str:
    what = [escaped(found.message)]
    if found.help:
        what.append("help: " + "<br>".join(escaped(line) for line in visible_lines(found.help)))
    what += [f"note: {escaped(other.message)} ({_code(str(other.location))})" for other in found.related]
    cells = (found.severity.value, _code(str(found.location)), "<br>".join(what), _code(found.rule))
    return f"| {' | '.join(cells)} |"


def _suppressed(report: Report) -> list[str]:
    listed = [
        f"- {_code(str(one.diagnostic.location))} {_code(one.diagnostic.rule)}: {escaped(one.reason)}"
        for one in suppressed_in_order(report.suppressed)
    ]
    return ["Suppressed by a comment:", "", *listed] if listed else []


def _unreadable(report: Report) -> list[str]:
    listed = [f"- {_code(file)}" for file in sorted(report.unreadable)]
    return ["Could not be read:", "", *listed] if listed else []


def _fitted(parts: Sequence[str]) -> str:
    """The parts, cut after the last line that fits, with a word on what is missing."""
    text = "\n\n".join(parts) + "\n"
    if len(text) <= LONGEST_COMMENT:
        return text
    ending = "\n\nToo long for one comment: `hio validate` shows all of it.\n"
    kept = text[: LONGEST_COMMENT - len(ending)].rpartition("\n")[0]
    return kept.rstrip("\n") + ending
