"""JUnit: always XML, at least one test case, red exactly where the run is."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

from hypothesis import given
from report_samples import (
    CLEAN,
    ERROR,
    GATE,
    MATRIX,
    MIXED,
    NOTE,
    NOTHING,
    QUIET,
    STACK,
    UNREADABLE,
    relaxed,
    reports,
)

from hio_validate.diagnostic import Report
from hio_validate.report.junit import render

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parsed(report: Report) -> Element:
    return fromstring(render(report).encode("utf-8"))


def case_of(root: Element, rule: str) -> Element:
    return next(case for case in root.iter("testcase") if (case.get("name") or "").startswith(rule))


@given(report=reports)
@relaxed
def test_any_report_is_xml_with_a_test_case(report: Report) -> None:
    root = parsed(report)
    assert root.tag == "testsuites"
    assert not NOT_XML.search(render(report))
    assert list(root.iter("testcase"))


@given(report=reports)
@relaxed
def test_it_is_red_exactly_where_the_exit_code_is_not_0(report: Report) -> None:
    root = parsed(report)
    assert bool(list(root.iter("failure")) or list(root.iter("error"))) == (report.exit_code != 0)


@given(report=reports)
@relaxed
def test_totals_agree_with_what_is_listed(report: Report) -> None:
    root = parsed(report)
    for suite in (root, *root):
        for total, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped",) * 2,
        ):
            assert suite.get(total) == str(len(list(suite.iter(tag))))


def test_one_suite_per_file_and_one_case_per_finding() -> None:
    root = parsed(MIXED)
    assert [(suite.get("name"), len(suite)) for suite in root] == [(STACK, 2), (MATRIX, 2)]
    assert [case.get("name") for case in root[1]] == ["value-mismatch (12:5)", "undecided-retest (20:3)"]


def test_an_error_is_a_failure_with_everything_in_it() -> None:
    failure = case_of(parsed(MIXED), ERROR.rule).find("failure")
    assert failure is not None
    assert failure.get("type") == ERROR.rule
    assert failure.get("message") == f"error: {ERROR.message}"
    assert failure.text == (
        f"{ERROR.location}: error\n{ERROR.message}\nhelp: {ERROR.help}\n"
        f"note: server.threads is set here ({ERROR.related[0].location})"
    )


def test_a_gate_fails_only_where_it_was_asked_for() -> None:
    assert case_of(parsed(MIXED), GATE.rule).find("skipped") is not None
    assert case_of(parsed(MIXED), GATE.rule).find("failure") is None
    asked = case_of(parsed(MIXED._replace(gates=("deploy",))), GATE.rule)
    assert asked.find("failure") is not None
    assert asked.find("skipped") is None


def test_a_note_passes_and_is_shown() -> None:
    case = case_of(parsed(MIXED._replace(gates=("deploy",))), NOTE.rule)
    assert [child.tag for child in case] == ["system-out"]
    assert NOTE.message in (case[0].text or "")


def test_a_suppressed_finding_is_skipped_with_its_reason() -> None:
    skipped = case_of(parsed(MIXED), QUIET.diagnostic.rule).find("skipped")
    assert skipped is not None
    assert skipped.get("message") == f"suppressed: {QUIET.reason}"


def test_a_clean_run_shows_one_passing_case() -> None:
    (suite,) = parsed(CLEAN)
    (case,) = suite
    assert case.get("name") == "12 documents, 34 rules: no error"
    assert len(case) == 0


def test_a_check_that_was_not_complete_is_broken() -> None:
    for report, reason in ((NOTHING, "nothing matched"), (UNREADABLE, "1 file unreadable")):
        error = case_of(parsed(report), "check is complete").find("error")
        assert error is not None
        assert error.get("message") == reason
    assert "matrix/a.yaml: Permission denied" in render(UNREADABLE)


def test_characters_that_xml_forbids_are_shown_as_escapes() -> None:
    shown = render(Report((ERROR._replace(message='a\x00b\uffff<&>"]]>'),), documents=1))
    failure = fromstring(shown).find(".//failure")
    assert failure is not None
    assert failure.get("message") == r'error: a\x00b\uffff<&>"]]>'
