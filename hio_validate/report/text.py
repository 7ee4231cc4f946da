"""The report for a person at a terminal.

Invariant: the only control character is the newline, plus this module's own colour sequences where colour
is asked for; `path:line:column` is never broken; the last line is the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hio_validate.diagnostic import Diagnostic, Location, Report, Severity, Suppressed
from hio_validate.report.excerpt import excerpt
from hio_validate.report.order import in_order, suppressed_in_order
from hio_validate.report.summary import summary_line
from hio_validate.report.together import together
from hio_validate.report.visible import columns, visible, visible_lines

_BOLD = "1"
_SEVERITY_COLOR = {Severity.ERROR: "31", Severity.GATE: "33", Severity.NOTE: "34"}
_NARROWEST = 40
_WHERE_WE_LOOK = (
    "hio reads the YAML files under matrix/, ledger/ and manifests/ of the repository "
    "around the working directory (--repo), or the paths that you name"
)


class _Look(NamedTuple):
    color: bool
    width: int

    def painted(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text


def render(report: Report, *, color: bool = False, width: int = 80, grouped: bool = False) -> str:
    """The findings by file, then what was suppressed or unreadable, then one line with the outcome.

    `grouped`: what is said alike of several places stands once, with all of them.
    """
    look = _Look(color, max(width, _NARROWEST))
    found = in_order(report.diagnostics)
    sections = [_findings(together(found) if grouped else found, look)]
    sections.append(_suppressed(suppressed_in_order(report.suppressed), look))
    sections.append(_unreadable(report.unreadable, look))
    sections.append(_outcome(report, look))
    return "\n\n".join(section for section in sections if section) + "\n"


def _findings(found: Sequence[Diagnostic], look: _Look) -> str:
    text = ""
    previous: tuple[str, bool] | None = None
    for one in found:
        lines = _finding(one, look)
        current = (one.location.file, bool(one.source_line or one.help or one.related))
        # One-liners about one file stand together; whatever has details gets air around it.
        close = previous == current and not current[1]
        text += ("" if previous is None else "\n" if close else "\n\n") + "\n".join(lines)
        previous = current
    return text


def _finding(found: Diagnostic, look: _Look) -> list[str]:
    place, severity = visible(str(found.location)), found.severity
    head = f"{place}: {severity}:"
    words = [head, *visible(found.message).split(" "), f"[{visible(found.rule)}]"]
    lines = _wrapped(words, look.width, "    ")
    # Painted after wrapping, so that colour never moves a line break; the head is always on the first line.
    painted = f"{look.painted(place, _BOLD)}: {look.painted(f'{severity}:', _SEVERITY_COLOR[severity])}"
    lines[0] = painted + lines[0].removeprefix(head)
    lines += _source(found, look)
    if found.help:
        lines += _labelled("help", found.help, look.width)
    for related in found.related:
        lines += _labelled("note", related.message, look.width, related.location)
    return lines


def _source(found: Diagnostic, look: _Look) -> list[str]:
    at = found.location
    if not at.line or not found.source_line.strip():
        return []
    shown = excerpt(found.source_line, at.line, at.column, look.width)
    if not shown.caret:
        return [shown.source]
    caret = look.painted("^", _SEVERITY_COLOR[found.severity])
    return [shown.source, shown.caret.removesuffix("^") + caret]


def _labelled(label: str, text: str, width: int, place: Location | None = None) -> list[str]:
    """`  help: …`, its further lines and breaks aligned under the first word."""
    first = f"  {label}:"
    lines: list[str] = []
    texts = visible_lines(text)
    for number, line in enumerate(texts):
        words = [" " * len(first) if lines else first, *line.split(" ")]
        if place is not None and number == len(texts) - 1:
            words.append(f"({visible(str(place))})")
        lines += _wrapped(words, width, " " * (len(first) + 1))
    return lines


def _wrapped(words: Sequence[str], width: int, indent: str) -> list[str]:
    """Words in lines of at most `width` columns; a word is never broken, so that it can be copied."""
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if columns(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return [line.rstrip() for line in lines]


def _suppressed(kept_quiet: Sequence[Suppressed], look: _Look) -> str:
    lines: list[str] = []
    for one in kept_quiet:
        found = one.diagnostic
        head = f"  {visible(str(found.location))}: {found.severity} [{visible(found.rule)}]:"
        lines += _wrapped([head, *visible(one.reason).split(" ")], look.width, "    ")
    return "\n".join(["suppressed by a comment:", *lines]) if lines else ""


def _unreadable(files: Sequence[str], look: _Look) -> str:
    lines: list[str] = []
    for file in sorted(files):
        lines += _wrapped([" ", *visible(file).split(" ")], look.width, "    ")
    return "\n".join([look.painted("could not be read:", "31"), *lines]) if lines else ""


def _outcome(report: Report, look: _Look) -> str:
    """The summary, never wrapped: a script reads it as the last line."""
    lines = [look.painted(summary_line(report), _BOLD)]
    if not (report.documents or report.unreadable or report.diagnostics):
        lines = [*_labelled("help", _WHERE_WE_LOOK, look.width), *lines]
    return "\n".join(lines)
