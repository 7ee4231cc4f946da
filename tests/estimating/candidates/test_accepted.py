"""What recorded runs counted of drafting, against their rows read by hand."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.estimating.candidates.accepted import counted
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.estimating.workloads import inputs

OWN = Path(__file__).parents[3]
LAB = "lab/gemma-270m"
ADDRESS = "server.spec-type"


@pytest.fixture(scope="module")
def view() -> View:
    return View(load(Folder(OWN)))


def asking(view: View, fixture: str) -> Inputs:
    return replace(inputs(), service=LAB, view=view, fixture=view.repo.find("fixture/v1", fixture, LAB))


def test_the_newest_run_of_the_same_prompt_says_what_was_accepted(view: View) -> None:
    """The fixture without drafting has the prompt and the budget of the one with it."""
    found = counted(asking(view, "tides-128"), ADDRESS)
    assert found is not None and found.kind == "ngram-simple"
    with (OWN / f"manifests/services/{LAB}/runs/{found.run}/rows.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["phase"] == "measured" and row["drafted"]
        ]
    accepted = sum(int(row["accepted"]) for row in rows)
    drafted = sum(int(row["drafted"]) for row in rows)
    generated = sum(int(row["generated"]) for row in rows)
    assert rows and found.accepted.low <= accepted / drafted <= found.accepted.high
    assert found.drafted == pytest.approx(drafted / (generated - accepted), rel=0.02)


def test_a_run_that_measured_this_very_stack_with_and_without_says_its_times(view: View) -> None:
    """Run 2026-11-30-decode-2.drafting: 41.6 and 62.0 token/s in the median leg, give or take."""
    stack = view.repo.find("stack/v1", "threads-2", LAB)
    asked = asking(view, "tides-128")
    assert stack is not None
    asked = replace(
        asked, stack=stack, target=asked.target.model_copy(update={"metric": "decode_tps", "better": "higher"}),
        workload=asked.workload.model_copy(update={"target_host": None}),
    )  # fmt: skip
    found = counted(asked, ADDRESS)
    assert found is not None and found.times is not None
    without, with_ = found.times
    assert without.value / with_.value == pytest.approx(1.5, abs=0.1)
    elsewhere = replace(asked, workload=asked.workload.model_copy(update={"target_host": "b" * 64}))
    many = replace(asked, workload=asked.workload.model_copy(update={"concurrency": 2}))
    other = replace(asked, stack=view.repo.find("stack/v1", "base", LAB))  # type: ignore[arg-type]
    for each in (elsewhere, many, other):
        kept = counted(each, ADDRESS)
        assert kept is not None and kept.times is None


def test_another_prompt_says_nothing_of_this_one(view: View) -> None:
    assert counted(asking(view, "days-of-the-week"), ADDRESS) is None


def test_without_a_fixture_no_prompt_is_the_same(view: View) -> None:
    assert counted(replace(asking(view, "tides-128"), fixture=None), ADDRESS) is None
