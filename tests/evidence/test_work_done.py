"""The same work, request by request (contract 6.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.work_done import Unequal
from tests.evidence.experiment import Experiment, Row
from tests.small_repo import sha


def unequal(root: Path, change: dict[str, Any], measured: int = 3, **same_work: Any) -> tuple[Unequal, ...]:
    """What differs where some cells of one request of the second arm are others."""

    def spoil(row: Row) -> None:
        if row["arm"] == "two" and row["request"] == measured:
            row.update(change)

    experiment = Experiment(root)
    experiment.run(rows=spoil, plan=lambda plan: plan["same_work"].update(same_work))
    return experiment.verdict().unequal


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"generated": 7}, "tokens generated in request 1: 8 in base and 7 in two (12.50 %, tolerated 0 %)"),
        ({"evaluated": 4}, "tokens evaluated in request 1: 5 in base and 4 in two (20.00 %, tolerated 0 %)"),
        (
            {"drafted": 96},
            "tokens drafted in request 1: none in base and 96 in two (100.00 %, tolerated 0 %)",
        ),
        ({"prompt_sha256": sha("x")}, "the prompt of request 1 is not the same in base and two"),
    ],
)
def test_every_difference_is_told_with_its_numbers(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    assert [each.sentence for each in unequal(tmp_path, change)] == [sentence]


def test_the_request_that_differs_is_named(tmp_path: Path) -> None:
    [found] = unequal(tmp_path, {"generated": 7}, measured=4)
    assert found.request == 2


def test_another_answer_is_another_work_unless_the_plan_allows_it(tmp_path: Path) -> None:
    changed = {"content_sha256": sha("x")}
    assert unequal(tmp_path / "any", changed, content="any") == ()
    both = {**changed}
    experiment = Experiment(tmp_path / "equal")
    experiment.run(rows=lambda row: row.update(both) if row["arm"] == "two" else None)
    assert {each.column for each in experiment.verdict().unequal} == {"content_sha256"}


def test_the_plan_says_how_far_tokens_may_differ(tmp_path: Path) -> None:
    assert unequal(tmp_path / "a", {"generated": 7}, generated_percent=12.5) == ()
    assert unequal(tmp_path / "b", {"generated": 7}, generated_percent=12.25) != ()
    assert unequal(tmp_path / "c", {"drafted": 96, "accepted": 40}, accepted_percent=100.0) == ()


def test_a_leg_that_does_not_count_is_not_compared(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(
        rows=lambda row: row.update(generated=1) if row["leg"] == 2 else None,
        run=lambda run: run["legs"][1].update(invalid=["cut short"]),
    )
    assert experiment.verdict().unequal == ()


def test_what_nobody_reports_is_no_difference(tmp_path: Path) -> None:
    assert unequal(tmp_path, {"drafted": "-", "accepted": "none"}) == ()
