"""What every format says of an audited history."""

from __future__ import annotations

import json

import pytest
from report_samples import AUDITED, CLEAN

from hio_validate.report import FORMATS, render
from hio_validate.report.summary import summary_line

LINE = (
    "7 commits from the first to 0123456789, 1 entry, 9 files of captures and runs, 2 anchors, "
    "2 of 3 decisions signed, 1 uncommitted change left to hio validate: no error"
)


def test_the_summary_says_how_far_back_and_what_was_looked_at() -> None:
    assert summary_line(AUDITED) == LINE
    assert AUDITED.audited is not None
    plain = AUDITED.audited._replace(decisions=None, signed=None, uncommitted=0, since="f" * 40, entries=2)
    assert summary_line(AUDITED._replace(audited=plain)) == (
        "7 commits from ffffffffff to 0123456789, 2 entries, 9 files of captures and runs, 2 anchors: no error"
    )


@pytest.mark.parametrize("format_", [name for name in FORMATS if name not in ("json", "sarif", "gitlab")])
def test_every_format_has_the_line(format_: str) -> None:
    assert "7 commits from the first to 0123456789" in render(AUDITED, format_)


def test_json_gives_each_figure_and_only_of_an_audit() -> None:
    assert json.loads(render(AUDITED, "json"))["audited"]["commits"] == 7
    assert "audited" not in json.loads(render(CLEAN, "json"))
