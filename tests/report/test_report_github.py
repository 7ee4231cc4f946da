"""GitHub workflow commands: escaping that the runner undoes, one command per finding."""

from __future__ import annotations

import re

from hypothesis import given
from report_samples import ERROR, GATE, MIXED, NOTE, NOTHING, UNREADABLE, nasty_texts, relaxed, reports

from hio_validate.diagnostic import Location, Report
from hio_validate.report.details import details
from hio_validate.report.github import escaped_data, escaped_property, render
from hio_validate.report.order import in_order
from hio_validate.report.summary import summary_line
from hio_validate.report.visible import visible

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def data_read_by_the_runner(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def property_read_by_the_runner(text: str) -> str:
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(escape, char)
    return text.replace("%25", "%")


def read(line: str) -> tuple[str, dict[str, str], str]:
    matched = COMMAND.fullmatch(line)
    assert matched, line
    command, listed, data = matched.groups()
    pairs = (one.partition("=") for one in listed.split(","))
    properties = {name: property_read_by_the_runner(value) for name, _, value in pairs}
    return command, properties, data_read_by_the_runner(data)


@given(text=nasty_texts)
@relaxed
def test_the_runner_reads_what_was_meant(text: str) -> None:
    assert data_read_by_the_runner(escaped_data(text)) == text
    assert property_read_by_the_runner(escaped_property(text)) == text
    assert not set(escaped_data(text)) & set("\r\n")
    assert not set(escaped_property(text)) & set("\r\n:,")


def test_escapes() -> None:
    assert escaped_data("100%\r\n:,") == "100%25%0D%0A:,"
    assert escaped_property("100%\r\n:,") == "100%25%0D%0A%3A%2C"


@given(report=reports)
@relaxed
def test_one_line_per_finding_and_it_reads_back(report: Report) -> None:
    *lines, last = render(report).removesuffix("\n").split("\n")
    assert last == summary_line(report)
    found = in_order(report.diagnostics)
    assert len(lines) == len(found) + (report.exit_code == 3)
    for line, one in zip(lines, found, strict=False):
        _, properties, data = read(line)
        assert properties["file"] == visible(one.location.file)
        assert properties["title"] == visible(one.rule)
        assert data == "\n".join(details(one))


def test_severities_places_and_titles() -> None:
    note, error, gate, _ = render(MIXED).splitlines()
    assert read(error)[:2] == (
        "error",
        {"file": ERROR.location.file, "line": "12", "col": "5", "title": ERROR.rule},
    )
    assert read(gate)[0] == "warning"
    assert read(note)[:2] == ("notice", {"file": NOTE.location.file, "title": NOTE.rule})


def test_help_and_related_places_are_kept() -> None:
    assert read(render(Report((ERROR,), documents=1)).splitlines()[0])[2] == (
        f"{ERROR.message}\nhelp: {ERROR.help}\nnote: server.threads is set here ({ERROR.related[0].location})"
    )


def test_help_of_several_lines_is_kept() -> None:
    found = ERROR._replace(message="wrong", help="write\n  threads: 4", related=())
    line = render(Report((found,), documents=1)).splitlines()[0]
    assert line.endswith("::wrong%0Ahelp: write%0A  threads: 4")


def test_an_unknown_column_is_left_out() -> None:
    line = render(Report((GATE._replace(location=Location("a.yaml", 3)),), documents=1)).splitlines()[0]
    assert read(line)[1] == {"file": "a.yaml", "line": "3", "title": GATE.rule}


def test_a_check_that_was_not_complete_is_an_error() -> None:
    assert read(render(NOTHING).splitlines()[0])[0::2] == ("error", "nothing matched (exit 3)")
    assert read(render(UNREADABLE).splitlines()[0])[0::2] == (
        "error",
        "1 file unreadable (exit 3)\nmatrix/a.yaml: Permission denied",
    )
