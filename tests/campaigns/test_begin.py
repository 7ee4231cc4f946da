"""A campaign that is begun says what the documents say, and leaves the rest to a person."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.campaigns.begin import MOST, begin, grid_of
from hio_validate.models.campaign import Campaign
from hio_validate.plans.begin import Begun
from hio_validate.plans.refusal import CannotPlan
from hio_validate.repo import item_of
from hio_validate.rules.base import View
from hio_validate.source import read
from tests.execute.experiment import ROOM, SERVICE, yaml
from tests.execute.small_campaign import small_campaign
from tests.small_repo import write

SETTING = st.from_regex(r"[a-z][a-z.-]{0,20}", fullmatch=True)
VALUE = st.from_regex(r"[A-Za-z0-9._]{1,8}", fullmatch=True)


@given(st.dictionaries(SETTING, st.lists(VALUE, min_size=1, max_size=4), max_size=4))
def test_a_grid_is_read_as_it_is_written(grid: dict[str, list[str]]) -> None:
    assert grid_of([f"{setting}={','.join(values)}" for setting, values in grid.items()]) == grid


@pytest.mark.parametrize("word", ["threads", "=2", "threads=", "threads=,"])
def test_what_is_no_grid_is_told(word: str) -> None:
    with pytest.raises(CannotPlan, match="is no part of a grid; write SETTING=VALUE,VALUE"):
        grid_of([word])


def test_a_setting_stands_once_in_a_grid() -> None:
    with pytest.raises(CannotPlan, match="threads is given twice"):
        grid_of(["threads=1", "threads=2"])


def begun(root: Path, grid: dict[str, list[str]], plans: tuple[str, ...] = ()) -> tuple[Begun, Campaign]:
    view = View(small_campaign(root).repo)
    items = [item for name in plans if (item := view.repo.find("plan/v1", name, SERVICE)) is not None]
    made = begin(view, SERVICE, "sweep", items, grid, "decode_tps", "tides")
    item = item_of(read(made.files[0][1], made.files[0][0]))
    assert item.model is not None, item.refused
    return made, item.model


def test_every_point_of_a_grid_that_differs_from_the_parent_is_a_cell_with_a_plan(tmp_path: Path) -> None:
    made, campaign = begun(tmp_path, {"server.threads": ["1", "2", "4"]})
    assert list(campaign.cells) == ["threads-2", "threads-4"]  # the parent has one thread
    assert campaign.cells["threads-2"].plan == "sweep-threads-2"
    assert [file.rpartition("/")[2] for file, _ in made.files] == [
        "sweep.yaml",
        "sweep-threads-2.yaml",
        "sweep-threads-4.yaml",
    ]
    assert campaign.scope.factors == ["server.threads"]
    assert (
        (campaign.baseline.stack, campaign.baseline.entry) == ("base", "b0") if campaign.baseline else False
    )


def test_what_the_grid_asks_of_quantisation_is_declared(tmp_path: Path) -> None:
    made, campaign = begun(tmp_path, {"server.cache-type-k": ["q8_0"], "server.threads": ["2"]})
    assert (campaign.scope.quantisation, campaign.scope.speculation) == (["q8_0"], [])
    assert campaign.scope.factors == ["server.cache-type-k", "server.threads"]
    assert made.said == "1 cell over base, 1 plan begun"


TASKS = {
    "hio": "tasks/v1", "name": "sums", "source": "arithmetic", "scoring": "first-number", "max_tokens": 8, "seed": 1,
    "sampling": {"temperature": 0}, "items": {"file": "sums.jsonl", "sha256": "0" * 64, "count": 40},
}  # fmt: skip
GATE = {"tasks": "sums", "floor": 0.6, "margin": 0.1, "legs": "every"}


def with_tasks(root: Path, asking: bool) -> tuple[Begun, Campaign]:
    repo = small_campaign(root, **({"quality": GATE} if asking else {}))
    write(repo.root, {f"{ROOM}/tasks/sums.yaml": yaml(TASKS)})
    made = begin(View(repo.repo), SERVICE, "sweep", [], {"server.threads": ["3"]}, "decode_tps", "tides")
    item = item_of(read(made.files[0][1], made.files[0][0]))
    assert item.model is not None, item.refused
    return made, item.model


def test_a_task_set_is_asked_as_another_plan_of_the_service_asks_it(tmp_path: Path) -> None:
    made, campaign = with_tasks(tmp_path, asking=True)
    plan = item_of(read(made.files[1][1], made.files[1][0])).model
    assert plan.quality is not None
    assert (plan.quality.tasks, plan.quality.floor, plan.quality.margin, plan.quality.legs) == (
        "sums",
        0.6,
        0.1,
        "every",
    )
    assert campaign.focus is not None and campaign.focus.accuracy is not None
    assert (campaign.focus.accuracy.tasks, campaign.focus.accuracy.floor) == ("sums", 0.6)
    assert made.hints == ()


def test_a_task_set_of_which_nobody_said_what_is_enough_is_told(tmp_path: Path) -> None:
    made, campaign = with_tasks(tmp_path, asking=False)
    assert campaign.focus is not None and campaign.focus.accuracy is not None
    assert campaign.focus.accuracy.tasks is None
    assert made.hints[0] == (
        "the task set sums is not asked: only you know what is enough; write quality: {tasks: sums, floor: ..., "
        "margin: ...}, the margin at least 0.063"
    )


def test_plans_that_are_there_are_cells_as_they_stand(tmp_path: Path) -> None:
    made, campaign = begun(tmp_path, {}, ("two", "four"))
    assert {name: cell.plan for name, cell in campaign.cells.items()} == {"two": "two", "four": "four"}
    assert len(made.files) == 1
    assert campaign.focus is not None and campaign.focus.accuracy is not None
    assert (campaign.focus.metric, campaign.focus.accuracy.checks) == ("tpot_ms", ["words"])


def test_without_cells_there_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(CannotPlan, match="a campaign needs cells"):
        begun(tmp_path, {})
    again = tmp_path / "again"
    again.mkdir()
    with pytest.raises(CannotPlan, match="a campaign needs cells"):
        begun(again, {"server.threads": ["1"]})


def test_a_grid_that_nobody_waits_for_is_refused(tmp_path: Path) -> None:
    many = [str(each) for each in range(1, 12)]
    with pytest.raises(CannotPlan, match=f"the grid has 121 points, at most {MOST} are planned"):
        begun(tmp_path, {"server.threads": many, "server.ctx-size": many})
