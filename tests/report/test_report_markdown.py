"""Markdown for a pull request: text stays text, tables stay tables, the comment stays postable."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from report_samples import (
    CLEAN,
    ERROR,
    GATE,
    MIXED,
    NOTE,
    NOTHING,
    QUIET,
    UNREADABLE,
    nasty_texts,
    relaxed,
    reports,
)

from hio_validate.diagnostic import Report
from hio_validate.report.markdown import LONGEST_COMMENT, escaped, render
from hio_validate.report.summary import summary_line
from hio_validate.report.visible import visible

CELL_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")


def rows(shown: str) -> list[str]:
    lines = shown.split("\n")
    if "| --- | --- | --- | --- |" not in lines:
        return []
    start = lines.index("| --- | --- | --- | --- |") + 1
    return lines[start : lines.index("", start)]


def read(text: str) -> str:
    """What Markdown makes of escaped text."""
    return re.sub(r"\\(.)", r"\1", html.unescape(text.replace("&#8203;", "")))


@given(text=nasty_texts)
@relaxed
def test_escaped_text_reads_as_the_text(text: str) -> None:
    assert read(escaped(text)) == visible(text)


@given(text=nasty_texts)
@relaxed
def test_escaped_text_starts_no_markup(text: str) -> None:
    bare = re.sub(r"\\.", "", escaped(text))
    assert not set(bare) & set("`*_~|[]<>\n")


def test_escapes() -> None:
    assert escaped("a|b `c` <i> & *d* [e](f)\ng\\") == (
        r"a\|b \`c\` &lt;i&gt; &amp; \*d\* \[e\](f)\\ng" + "\\\\"
    )


def test_only_a_name_that_would_be_notified_is_broken() -> None:
    assert escaped("@team and base@sha256:00") == "@&#8203;team and base@sha256:00"


@given(report=reports)
@relaxed
def test_one_row_of_four_cells_per_finding(report: Report) -> None:
    listed = rows(render(report))
    assert len(listed) == len(report.diagnostics)
    for row in listed:
        assert len(CELL_BORDER.findall(row)) == 5
        assert set(re.findall(r"<[^>]*>", row)) <= {"<code>", "</code>", "<br>"}


def test_the_verdict_is_the_first_line() -> None:
    for report, verdict in ((MIXED, "fails"), (CLEAN, "passes"), (NOTHING, "could not check")):
        assert render(report).splitlines()[0] == f"**hio {verdict}** — {summary_line(report)}"


def test_a_clean_run_is_the_verdict_alone() -> None:
    assert render(CLEAN) == "**hio passes** — 12 documents, 34 rules: no error\n"


def test_errors_come_first() -> None:
    assert [row.split(" ")[1] for row in rows(render(MIXED))] == ["error", "gate", "note"]
    assert MIXED.diagnostics[0] == GATE


def test_help_and_related_places_are_kept() -> None:
    row = rows(render(Report((ERROR._replace(help="one\n two", message="wrong"),), documents=1)))[0]
    assert row == (
        f"| error | <code>{ERROR.location}</code> | wrong<br>help: one<br> two<br>"
        f"note: server.threads is set here (<code>{ERROR.related[0].location}</code>) "
        "| <code>value-mismatch</code> |"
    )


def test_suppressed_and_unreadable_are_listed() -> None:
    place = QUIET.diagnostic.location
    assert f"- <code>{place}</code> <code>wide-exposure</code>: {QUIET.reason}\n" in render(MIXED)
    assert "Could not be read:\n\n- <code>matrix/a.yaml: Permission denied</code>\n" in render(UNREADABLE)


@pytest.mark.parametrize("length", range(40, 140, 7))
def test_a_comment_is_never_longer_than_github_takes(length: int) -> None:
    notes = tuple(NOTE._replace(message=f"{number} " + "x" * length) for number in range(1000))
    shown = render(Report(notes, documents=1))
    assert LONGEST_COMMENT * 0.9 < len(shown) <= LONGEST_COMMENT
    assert shown.startswith("**hio passes** — 1 document, 0 rules: no error, 1000 notes\n")
    assert shown.endswith("|\n\nToo long for one comment: `hio validate` shows all of it.\n")
