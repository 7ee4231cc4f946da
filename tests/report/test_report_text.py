"""Text for a person at a terminal: places, wrapping, caret, colour, nothing that a terminal obeys."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import (
    CLEAN,
    ERROR,
    GATE,
    MATRIX,
    MIXED,
    NOTE,
    NOTHING,
    QUIET,
    UNREADABLE,
    nasty_texts,
    relaxed,
    reports,
)

from hio_validate.diagnostic import Diagnostic, Location, Report, Severity
from hio_validate.report.excerpt import excerpt
from hio_validate.report.text import render
from hio_validate.report.visible import visible

SGR = re.compile(r"\x1b\[\d+m")


def drawn(text: str) -> int:
    """Terminal columns, counted without the code under test."""
    marks = {"Mn", "Me"}
    return sum(
        0 if unicodedata.category(c) in marks else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def one(found: Diagnostic, **options: object) -> list[str]:
    return render(Report((found,), documents=1, rules=1), **options).splitlines()  # type: ignore[arg-type]


def test_a_whole_report_at_80_columns() -> None:
    assert render(MIXED) == (
        """\
manifests/services/lab/gemma-270m/stacks/base.yaml: note: judged by 30 rules,
    this hio has 34 [newer-rule]

matrix/lab/threads-2.yaml:12:5: error: the row says server.threads goes from 3:
    expected 4, as the parent stack base sets it, got 3 [value-mismatch]
  12 |     from: 3
     |     ^
  help: write `from: 4`, or name the parent that the candidate was really made
        from
  note: server.threads is set here
        (manifests/services/lab/gemma-270m/stacks/base.yaml:8:7)

matrix/lab/threads-2.yaml:20:3: gate: server.threads was measured at another
    context size: expected 8192 tokens, got 4096 tokens [undecided-retest]
  20 |   - factor: server.threads
     |   ^

suppressed by a comment:
  manifests/services/lab/gemma-270m/stacks/base.yaml:3:1: error [wide-exposure]:
    lab network, no route out

12 documents, 34 rules: 1 error, 1 gate (deployment blocked; exit 1 with --gate deploy), 1 note, 1 suppressed
"""
    )


def test_a_clean_report_is_one_line() -> None:
    assert render(CLEAN) == "12 documents, 34 rules: no error\n"


def test_nothing_matched_says_where_hio_looks() -> None:
    lines = render(NOTHING).splitlines()
    assert lines[-1] == "0 documents, 34 rules: nothing matched (exit 3)"
    assert lines[0].startswith("  help: hio reads the YAML files under matrix/, ledger/ and manifests/")


def test_unreadable_files_are_named_with_the_reason() -> None:
    assert render(UNREADABLE) == (
        "could not be read:\n  matrix/a.yaml: Permission denied\n\n"
        "1 document, 34 rules: no error, 1 file unreadable (exit 3)\n"
    )


def test_one_liners_about_a_file_stand_together_and_details_get_air() -> None:
    found = (NOTE, NOTE._replace(message="second"), ERROR, NOTE._replace(location=Location("z.yaml", 1, 1)))
    lines = render(Report(found, documents=2, rules=2), width=200).splitlines()
    heads = [index for index, line in enumerate(lines) if re.match(r"\S.*: (error|note): ", line)]
    assert [lines[index - 1] == "" for index in heads[1:]] == [False, True, True]


def test_a_suppressed_finding_shows_place_rule_and_reason() -> None:
    shown = render(Report((), suppressed=(QUIET,), documents=1, rules=1), width=200)
    place = QUIET.diagnostic.location
    assert f"suppressed by a comment:\n  {place}: error [wide-exposure]: lab network, no route out\n" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_wrapping_keeps_every_word_and_only_unbreakable_ones_stand_out(width: int) -> None:
    shown = render(MIXED, width=width).splitlines()[:-1]
    assert " ".join(shown).split() == " ".join(render(MIXED, width=1000).splitlines()[:-1]).split()
    for line in shown:
        words = re.sub(r": (error|gate|note)( \[.*\])?:$", ":", line).split()
        assert drawn(line) <= width or len(words) == 1, line


@given(report=reports)
@relaxed
def test_place_and_severity_stand_unbroken_at_the_start_of_a_line(report: Report) -> None:
    lines = render(report, width=40).split("\n")
    for found in report.diagnostics:
        head = f"{visible(str(found.location))}: {found.severity}:"
        assert any(line.startswith(head) for line in lines)


@given(report=reports)
@relaxed
def test_colour_adds_only_colour(report: Report) -> None:
    painted = render(report, color=True)
    assert SGR.sub("", painted) == render(report)


def test_colours_follow_severity() -> None:
    painted = render(MIXED, color=True, width=1000)
    assert f"\x1b[1m{ERROR.location}\x1b[0m: \x1b[31merror:\x1b[0m " in painted
    assert f"\x1b[1m{GATE.location}\x1b[0m: \x1b[33mgate:\x1b[0m " in painted
    assert f"\x1b[1m{NOTE.location}\x1b[0m: \x1b[34mnote:\x1b[0m " in painted
    assert "     |     \x1b[31m^\x1b[0m\n" in painted


@given(report=reports)
@relaxed
def test_a_terminal_has_nothing_to_obey(report: Report) -> None:
    for shown in (render(report), SGR.sub("", render(report, color=True))):
        hidden = {unicodedata.category(char) for char in shown.replace("\n", "")}
        assert not hidden & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_escapes_of_a_document_are_shown_as_text() -> None:
    evil = ERROR._replace(
        message="value \x1b[2J\x9b\u202eover", source_line="key: \x1b]0;title\x07", help="a\tb"
    )
    shown = "\n".join(one(evil, color=False, width=200))
    assert r"value \x1b[2J\x9b\u202eover" in shown
    assert r"key: \x1b]0;title\x07" in shown
    assert r"help: a\tb" in shown


def test_a_message_cannot_fake_a_finding() -> None:
    shown = one(ERROR._replace(message="bad\nfake.yaml:1:1: error: forged"), width=200)
    assert not [line for line in shown if line.startswith("fake.yaml")]
    assert r"bad\nfake.yaml" in shown[0]


def test_help_of_several_lines_keeps_its_shape() -> None:
    shown = one(ERROR._replace(help="write\n  threads: 4\nthere", related=()))
    at = shown.index("  help: write")
    assert shown[at + 1 : at + 3] == ["          threads: 4", "        there"]


def test_no_source_line_for_a_file_as_a_whole_and_no_caret_without_a_column() -> None:
    whole = ERROR._replace(location=Location(MATRIX), help="", related=())
    assert " | " not in "\n".join(one(whole))
    no_column = ERROR._replace(location=Location(MATRIX, 12), help="", related=())
    shown = one(no_column)
    assert "  12 |     from: 3" in shown
    assert not [line for line in shown if "^" in line]


@pytest.mark.parametrize(
    ("line", "column", "source", "caret"),
    [
        ("threads: 3", 10, "  7 | threads: 3", "    |          ^"),
        ("\tthreads: 3", 2, "  7 |     threads: 3", "    |     ^"),
        ("\tthreads: 3", 1, "  7 |     threads: 3", "    | ^"),
        ("世界: x", 4, "  7 | 世界: x", "    |      ^"),
        ("e\u0301: x", 3, "  7 | e\u0301: x", "    |  ^"),
        ("e\u0301: x", 2, "  7 | e\u0301: x", "    | ^"),
        ("a\x1bb", 3, r"  7 | a\x1bb", "    |      ^"),
        ("a", 2, "  7 | a", "    |  ^"),
        ("a", 90, "  7 | a", "    |  ^"),
    ],
)
def test_the_caret_in_known_lines(line: str, column: int, source: str, caret: str) -> None:
    shown = excerpt(line, 7, column, 80)
    assert (shown.source, shown.caret) == (source, caret)


def test_a_long_line_is_cut_on_the_sides_that_do_not_fit() -> None:
    line = "a" * 500 + "X" + "b" * 500
    start, middle, end = (excerpt(line, 1, column, 40) for column in (1, 501, 1001))
    assert start.source == "  1 | " + "a" * 32 + "…" or start.source == "  1 | " + "a" * 33 + "…"
    assert re.fullmatch(r"  1 \| …a+Xb+…", middle.source)
    assert re.fullmatch(r"  1 \| …b+", end.source)
    assert middle.source[middle.caret.index("^")] == "X"
    assert end.caret.index("^") == len(end.source) - 1


def test_a_caret_after_the_end_of_a_line_needs_a_column_too() -> None:
    fits, cut = excerpt("a" * 33, 1, 34, 40), excerpt("a" * 34, 1, 35, 40)
    assert (fits.source, fits.caret.index("^")) == ("  1 | " + "a" * 33, 39)
    assert cut.source.startswith("  1 | …a")
    assert cut.caret.index("^") == len(cut.source) < 40


def test_a_cut_is_shown_even_where_all_that_was_looked_at_fits() -> None:
    marks = "\u0301" * 33
    assert excerpt("a" * 500 + "b" + marks + "X", 1, 535, 40).source == f"  1 | …b{marks}X"
    assert excerpt("X" + marks + "\u0301" + "a" * 500, 1, 1, 40).source == f"  1 | X{marks}\u0301…"


def test_a_cut_never_parts_a_letter_from_its_accent() -> None:
    shown = excerpt("a\u0301" * 100 + "X", 1, 201, 41).source
    assert shown.startswith("  1 | …a\u0301")


def test_a_related_message_of_several_lines_names_its_place_once() -> None:
    related = (ERROR.related[0]._replace(message="one\ntwo"),)
    shown = one(ERROR._replace(related=related))
    at = shown.index("  note: one")
    assert shown[at + 1] == f"        two ({related[0].location})"


@given(
    before=st.one_of(nasty_texts, nasty_texts.map(lambda text: text * 9)),
    target=st.sampled_from("Ω龍\x1b\u202e"),
    after=st.one_of(nasty_texts, nasty_texts.map(lambda text: text * 9)),
    width=st.integers(40, 120),
    line=st.integers(1, 10**6),
)
@relaxed
def test_the_caret_stands_under_the_character(
    before: str, target: str, after: str, width: int, line: int
) -> None:
    before, after = before.replace(target, ""), after.replace(target, "")
    shown = excerpt(before + target + after, line, len(before) + 1, width)
    assert drawn(shown.source) <= width
    assert shown.caret.isascii() and "\n" not in shown.source
    at = shown.caret.index("^")
    under = [index for index in range(len(shown.source)) if drawn(shown.source[:index]) == at]
    assert any(shown.source.startswith(visible(target), index) for index in under)


def test_visible_changes_nothing_that_can_be_seen() -> None:
    assert visible("é 世界 — `x` \\ |") == "é 世界 — `x` \\ |"
    assert visible("\r\n\t\x00\x7f\u200b\u2028\u2029\ufeff\udcff\U000e0041") == (
        r"\r\n\t\x00\x7f\u200b\u2028\u2029\ufeff\udcff\U000e0041"
    )


def test_severities_are_all_painted() -> None:
    for severity in Severity:
        assert SGR.search(one(ERROR._replace(severity=severity), color=True)[0])


def test_what_is_said_alike_of_several_documents_stands_once_with_every_place() -> None:
    found = [
        Diagnostic("unknown-noise", Severity.GATE, "no A-A", Location(f"{name}.yaml", 3, 1), "run one")
        for name in ("a", "b", "c")
    ]
    other = found[0]._replace(message="another", location=Location("b.yaml", 9, 1))
    report = Report((*found, other), documents=3, rules=1)
    page = render(report, grouped=True)
    assert page.count("no A-A") == 1 and page.count("another") == 1
    assert [page.count(f"{name}.yaml:3:1") for name in ("a", "b", "c")] == [1, 1, 1]
    assert page.splitlines()[-1] == render(report).splitlines()[-1]
    assert render(report).count("no A-A") == 3
