"""GitLab's Code Quality list: one issue per finding, each with a fingerprint of its own."""

from __future__ import annotations

import json

from hypothesis import given
from report_samples import CLEAN, ERROR, MIXED, NOTHING, UNREADABLE, relaxed, reports

from hio_validate.diagnostic import Location, Report
from hio_validate.report.gitlab import render


@given(report=reports)
@relaxed
def test_every_finding_is_an_issue_with_all_that_gitlab_asks_for(report: Report) -> None:
    issues = json.loads(render(report))
    assert len(issues) - len(report.diagnostics) in (0, 1)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1


def test_errors_gates_and_notes_weigh_differently() -> None:
    found = {issue["check_name"]: issue for issue in json.loads(render(MIXED))}
    assert {name: issue["severity"] for name, issue in found.items()} == {
        "value-mismatch": "critical", "undecided-retest": "minor", "newer-rule": "info",
    }  # fmt: skip
    assert found["value-mismatch"]["location"] == {"path": ERROR.location.file, "lines": {"begin": 12}}


def test_a_finding_that_moved_keeps_its_fingerprint_and_a_second_one_has_another() -> None:
    moved = ERROR._replace(location=Location(ERROR.location.file, 99, 1))
    alone, elsewhere = (json.loads(render(Report((each,), documents=1)))[0] for each in (ERROR, moved))
    assert alone["fingerprint"] == elsewhere["fingerprint"]
    both = json.loads(render(Report((ERROR, moved), documents=1)))
    assert len({issue["fingerprint"] for issue in both}) == 2


def test_what_could_not_be_checked_is_never_an_empty_list() -> None:
    assert json.loads(render(CLEAN)) == []
    for report in (NOTHING, UNREADABLE):
        assert [issue["severity"] for issue in json.loads(render(report))] == ["blocker"]
    assert "Permission denied" in render(UNREADABLE)
