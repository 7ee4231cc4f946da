"""What holds for every format: loaded late, printable, complete, in a fixed order."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from report_samples import CLEAN, ERROR, GATE, MIXED, NOTE, NOTHING, RULES, relaxed, reports

from hio_validate.diagnostic import Diagnostic, Location, Report, Severity
from hio_validate.report import FORMATS, render
from hio_validate.report.order import in_order
from hio_validate.report.summary import blocks, summary_line, why_incomplete

LATE = {"xml.etree.ElementTree", "json", "hashlib", "urllib.parse", "hio_validate.report.excerpt"}


def test_formats_are_the_documented_ones() -> None:
    assert list(FORMATS) == ["text", "json", "sarif", "github", "gitlab", "junit", "markdown"]


def loaded_by(code: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_room_loads_no_format() -> None:
    loaded = loaded_by("import hio_validate.report")
    assert "hio_validate.report" in loaded
    assert not LATE & loaded
    assert not {f"hio_validate.report.{name}" for name in ("text", "json_", "sarif", "junit")} & loaded


def test_printing_one_format_loads_only_that_one() -> None:
    code = (
        "from hio_validate.report import render; from hio_validate.diagnostic import Report; "
        "render(Report(()), 'text')"
    )
    loaded = loaded_by(code)
    assert "hio_validate.report.text" in loaded
    assert not {"hio_validate.report.sarif", "hio_validate.report.junit", "xml.etree.ElementTree"} & loaded


def test_an_unknown_format_names_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"expected one of text, json, .*markdown, got 'yaml'"):
        render(CLEAN, "yaml")


@pytest.mark.parametrize("name", FORMATS)
def test_options_of_other_formats_are_accepted(name: str) -> None:
    assert render(MIXED, name, color=False, width=100, rules=RULES).endswith("\n")
    assert FORMATS[name](MIXED)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_every_message(name: str) -> None:
    shown = render(MIXED, name, width=1000)
    for found in (ERROR, GATE, NOTE):
        assert found.message in shown
        assert found.rule in shown
    assert "write " in shown and "server.threads is set here" in shown


@pytest.mark.parametrize("name", FORMATS)
@given(report=reports)
@relaxed
def test_output_can_be_written_as_utf8_and_ends_with_a_newline(name: str, report: Report) -> None:
    shown = render(report, name)
    assert shown.encode("utf-8").endswith(b"\n")


@pytest.mark.parametrize("name", FORMATS)
@given(report=reports)
@relaxed
def test_no_format_prints_a_control_character_other_than_newline(name: str, report: Report) -> None:
    shown = render(report, name).replace("\n", "")
    assert not [char for char in shown if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0]


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_in_which_rules_ran_does_not_show(name: str) -> None:
    turned = Report(MIXED.diagnostics[::-1], MIXED.suppressed, MIXED.documents, MIXED.rules)
    assert render(turned, name) == render(MIXED, name)


@pytest.mark.parametrize("name", FORMATS)
def test_findings_come_by_file_line_column_rule(name: str) -> None:
    places = [("a", 9, 1, "r"), ("b", 2, 1, "r"), ("b", 2, 3, "q"), ("b", 2, 3, "r"), ("b", 10, 1, "a")]
    found = tuple(
        Diagnostic(rule, Severity.ERROR, f"finding-{number}", Location(file, line, column))
        for number, (file, line, column, rule) in enumerate(places)
    )
    shown = render(Report(found[::-1], documents=2, rules=2), name)
    at = [shown.index(f"finding-{number}") for number in range(len(places))]
    assert at == sorted(at)


@pytest.mark.parametrize("name", FORMATS)
def test_unreadable_files_come_in_order_too(name: str) -> None:
    shown = render(Report((), documents=1, unreadable=("b.yaml: denied", "a.yaml: denied")), name)
    assert 0 < shown.index("a.yaml: denied") < shown.index("b.yaml: denied")


def test_findings_of_one_rule_at_one_place_come_by_message() -> None:
    first, second = (ERROR._replace(message=text, help=text[::-1]) for text in ("az", "ba"))
    assert in_order([second, first]) == in_order([first, second]) == [first, second]


def test_rules_that_found_nothing_reach_the_format_that_lists_them() -> None:
    assert "never-fires" in render(CLEAN, "sarif", rules=RULES)


def test_summary_counts_in_singular_and_plural() -> None:
    assert summary_line(MIXED) == (
        "12 documents, 34 rules: 1 error, 1 gate (deployment blocked; exit 1 with --gate deploy), "
        "1 note, 1 suppressed"
    )
    twice = Report((ERROR, ERROR, GATE, GATE, NOTE, NOTE), documents=1, rules=1)
    assert summary_line(twice) == (
        "1 document, 1 rule: 2 errors, 2 gates (deployment blocked; exit 1 with --gate deploy), 2 notes"
    )


def test_summary_of_a_clean_run() -> None:
    assert summary_line(CLEAN) == "12 documents, 34 rules: no error"
    assert summary_line(Report((NOTE,), documents=2, rules=1)) == "2 documents, 1 rule: no error, 1 note"


def test_summary_names_the_gates_that_were_asked_for() -> None:
    asked = Report((GATE,), documents=1, rules=1, gates=("deploy", "tested"))
    assert "1 gate (deployment blocked; exit 1 because of --gate deploy --gate tested)" in summary_line(asked)


def test_summary_says_why_a_check_is_not_complete() -> None:
    crash = Diagnostic("internal-error", Severity.ERROR, "boom", Location("a"))
    assert summary_line(NOTHING) == "0 documents, 34 rules: nothing matched (exit 3)"
    blind = Report((), documents=0, rules=1, unreadable=("a: no", "b: no"))
    assert summary_line(blind) == "0 documents, 1 rule: nothing was checked, 2 files unreadable (exit 3)"
    crashed = Report((crash,), documents=1, rules=1)
    assert summary_line(crashed) == "1 document, 1 rule: 1 error, a rule crashed (exit 3)"


@given(report=reports)
@relaxed
def test_the_reason_is_given_exactly_where_the_exit_code_is_3(report: Report) -> None:
    assert bool(why_incomplete(report)) == (report.exit_code == 3)
    assert ("(exit 3)" in summary_line(report)) == (report.exit_code == 3)


@given(report=reports)
@relaxed
def test_blocking_findings_agree_with_the_exit_code(report: Report) -> None:
    if report.exit_code != 3:
        assert any(blocks(report, found) for found in report.diagnostics) == (report.exit_code == 1)
