"""A parser's complaint, in the words and at the place that help whoever wrote the text.

A parser notices an open quote or bracket only where the text stops making sense, often many lines later; what
is reported here is where it was opened.
"""

from __future__ import annotations

from typing import Any

import yaml

from hio_validate.source.fault import Fault

DEEPEST = 64
"""Levels of nesting; the deepest real document has seven."""

_SAID = (
    ("exceeded maximum nesting depth", f"nested deeper than {DEEPEST} levels", "flatten it"),
    ("directive", "a %YAML or %TAG directive", "remove it; YAML 1.2 is understood"),
    ("incompatible YAML document", "a %YAML or %TAG directive", "remove it; YAML 1.2 is understood"),
    ("tag handle", "a tag that nothing defines", "remove it; no tag is obeyed"),
)
_ADVICE = (
    ("mapping values are not allowed", 'a value with ": " in it needs quotes, and a key needs its line and indentation'),
    ("could not find expected ':'", "a key needs a colon and a space after it"),
    ("that cannot start any token", "quote the value"),
    ("unknown escape character", r"write \\ for a backslash, or use single quotes"),
    ("expected <block end>", "check the indentation of this line and the brackets and quotes above it"),
    ("did not find expected", "check the indentation of this line and the brackets and quotes above it"),
)  # fmt: skip


def syntax_fault(error: yaml.MarkedYAMLError, text: str, last: Any) -> Fault:
    """The fault of a text that cannot be parsed; `last` is the last event before the error."""
    lines = text.split("\n")
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    problem = error.problem or "not YAML"
    here = lines[line][column : column + 1] if line < len(lines) else ""
    if here == "\t" or "'\\t'" in problem:
        return _at(line, column, "a tab where YAML wants spaces", "indent with spaces")
    return (
        _never_closed(error, lines, last)
        or _elsewhere(error, lines)
        or _at(line, column, *_wording(problem, error.context))
    )


def _at(line: int, column: int, message: str, help: str = "") -> Fault:
    return Fault("syntax-error", message, help, line + 1, column + 1)


def _wording(problem: str, context: str | None) -> tuple[str, str]:
    for part, message, help in _SAID:
        if part in problem:
            return message, help
    advice = next((advice for part, advice in _ADVICE if part in problem), "")
    return f"{problem} ({context})" if context else problem, advice


def _elsewhere(error: yaml.MarkedYAMLError, lines: list[str]) -> Fault | None:
    """Errors whose cause stands before the place where the parser stopped."""
    problem, context, mark = error.problem or "", error.context or "", error.problem_mark
    if context == "while scanning a simple key" and error.context_mark:
        return _at(error.context_mark.line, error.context_mark.column, *_wording(problem, context))
    if mark and ("directive" in problem or "incompatible YAML" in problem):
        return _at(mark.line, 0, *_wording(problem, context))
    if mark and "<document start>" in problem:
        if any(line.startswith("...") for line in lines[: mark.line]):
            return _at(mark.line, mark.column, "a second document in the file", "one file holds one document")
        return _at(
            mark.line, mark.column, "text after the end of the document", "one file holds one document"
        )
    return None


def _never_closed(error: yaml.MarkedYAMLError, lines: list[str], last: Any) -> Fault | None:
    problem, context, opened = error.problem or "", error.context or "", error.context_mark
    if "quoted scalar" in context and "end of stream" in problem and opened:
        return _at(opened.line, opened.column, "the quote that opens here is never closed", "close it")
    if not error.problem_mark:
        return None
    if getattr(last, "style", None) in ("'", '"') and _runs_into(last, error.problem_mark, lines):
        start, end = last.start_mark, last.end_mark
        message = f"the quote that opens here is closed only on line {end.line + 1}, by the next one"
        return _at(start.line, start.column, message, "close it on its own line")
    if context in ("while parsing a flow sequence", "while parsing a flow mapping") and opened:
        return _open_bracket(opened, error.problem_mark, lines)
    return None


def _open_bracket(opened: Any, mark: Any, lines: list[str]) -> Fault | None:
    """What follows on a later line, indented no deeper than the line of the bracket, was not meant to be in it."""
    if mark.line > opened.line and _indent(lines, mark.line) <= _indent(lines, opened.line):
        bracket = lines[opened.line][opened.column]
        return _at(opened.line, opened.column, f"the {bracket} that opens here is never closed", "close it")
    return None


def _runs_into(scalar: Any, mark: Any, lines: list[str]) -> bool:
    """Whether the parser stopped right behind the end of a quoted text that runs over several lines."""
    start, end = scalar.start_mark, scalar.end_mark
    if not start.line < end.line == mark.line:
        return False
    return not lines[mark.line][end.column : mark.column].strip()


def _indent(lines: list[str], line: int) -> int:
    """Leading spaces; the end of the text counts as no indentation."""
    return len(lines[line]) - len(lines[line].lstrip(" ")) if line < len(lines) else 0
