"""A task set in a run: asked of a real process after what is measured, kept item by item, judged from what was kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Severity
from hio_validate.evidence.tiers import verdict
from hio_validate.execute import expected, leg, record, tasks
from hio_validate.execute.prepare import prepare
from hio_validate.execute.watch import Watch
from hio_validate.execute.work import Question, Work, as_text, from_text
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.report import jobs, trial
from hio_validate.rules.base import View
from tests.cli.console import hio
from tests.execute.experiment import (
    APPROVAL_FILE,
    CHAIN,
    JOB,
    NOW,
    PLAN_FILE,
    ROOM,
    SERVICE,
    approval,
    fixture,
    plan,
    yaml,
)
from tests.execute.place import BASELINE, place
from tests.execute.test_client import GOOD, answering, asked
from tests.small_repo import pin, sha, write

ITEMS = [
    {"id": "sum", "prompt": "4 = 2 plus 2", "expected": "4"},
    {"id": "wrong", "prompt": "5 = 2 plus 2", "expected": "4"},
    {"id": "other", "prompt": "7 = 2 plus 5", "expected": "7", "kind": "large"},
]  # fmt: skip
"""The engine of these tests begins its answer with the fifth word from the end."""
TASKS_FILE = f"{ROOM}/tasks/sums"


def task_set(items: list[dict[str, str]] = ITEMS, **more: Any) -> dict[str, str]:
    """The files of the set `sums`."""
    text = "".join(json.dumps(each) + "\n" for each in items)
    said = {"hio": "tasks/v1", "name": "sums", "source": "arithmetic", "scoring": "first-number", "max_tokens": 1,
            "seed": 1, "sampling": CHAIN, "items": {"file": "sums.jsonl", "sha256": sha(text), "count": len(items)}}  # fmt: skip
    return {f"{TASKS_FILE}.jsonl": text, f"{TASKS_FILE}.yaml": yaml(said | more)}


def repository(tmp_path: Path, items: list[dict[str, str]] = ITEMS, **quality: Any) -> Path:
    """A repository whose stack runs here, with a plan that asks the set."""
    here = place(tmp_path, env={"LLAMA_LIKE": "forgets"})
    first = (here.root / BASELINE).read_text()
    decide = plan()["decide"] | {"metric": "wall_s", "better": "lower"}
    gate = {"tasks": "sums", "floor": 0.5, "margin": 0.9, **quality}
    write(here.root, {
        **task_set(items),
        f"{ROOM}/fixtures/tides.yaml": yaml(fixture()),
        PLAN_FILE: yaml(plan(order=["one", "two"], requests={"warm_up": 0, "measured": 1}, quality=gate, decide=decide)),
        APPROVAL_FILE: yaml(approval(after=[pin("b0", first)])),
    })  # fmt: skip
    return here.root


def work_of(root: Path) -> Work | list[str]:
    view = View(load(Folder(root)))
    found = view.repo.find("plan/v1", "threads", SERVICE)
    assert found is not None and found.model is not None, found
    return prepare(view, found, root, JOB, NOW)


def test_both_arms_are_asked_and_the_run_keeps_every_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "state"))
    # The engine here is a script: its process is python with the script in front of what was asked.
    monkeypatch.setattr(expected, "arguments", lambda process, arm: ())
    root, folder = repository(tmp_path), tmp_path / "job"
    work = work_of(root)
    assert isinstance(work, Work), work
    page = " ".join(trial.as_text(work, "faster?", "restore-parent", {}).split())
    assert (
        "Then 3 items of the task set sums, in the first leg of each arm, at most 3 generated tokens." in page
    )
    folder.mkdir()
    (folder / "work.json").write_text(as_text(work))
    watch = Watch()
    for number in (1, 2):
        watch.begin_leg()
        made = leg.run(work, number, number, watch, folder)
        watch.end_leg(keeping=False)
        assert made["invalid"] == []
        assert (made["invalid"], made["quality"]) == ([], {"items": 3, "right": 2, "unanswered": 0})
    ended = {"at": NOW, "event": "ended", "outcome": "completed", "why": "all legs ran"}
    (folder / "journal.jsonl").write_text(json.dumps(ended) + "\n")
    record.write(folder)
    repo = load(Folder(root))
    errors = [f"{each.location}: {each.message}" for each in engine.run(repo).of(Severity.ERROR)]
    assert errors == []
    run = repo.find("run/v1", JOB, SERVICE)
    assert run is not None and run.model.quality.rows == 6
    rows = [json.loads(line) for line in (root / f"{ROOM}/runs/{JOB}/quality.jsonl").read_text().splitlines()]
    assert [(each["leg"], each["arm"], each["item"], each["expected"]) for each in rows[1:4]] == [
        (1, "one", "wrong", "fail"), (1, "one", "other", "pass"), (2, "two", "sum", "pass"),
    ]  # fmt: skip
    assert (rows[0]["answer"], rows[0]["generated"]) == (" 4", 1)
    condition = next(each for each in verdict(run, View(repo)).record if each.name == "task set")
    assert condition.met, condition
    assert "2 of 3 (0.667) in one, 2 of 3 (0.667) in two" in condition.sentence


def test_a_failed_item_is_no_answer_and_the_next_one_is_asked(tmp_path: Path) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"
    questions = [
        Question(
            "quality", "sums", "/completion", {"prompt": item["prompt"], "n_predict": 2}, item=item["id"]
        )
        for item in ITEMS
    ]
    with answering([GOOD, busy, GOOD]) as port:
        code, said, _ = asked(port, tmp_path, questions)
    assert (code, [each["status"] for each in said]) == (1, ["ok", "HTTP 503: busy", "ok"])
    assert [each.get("answer") for each in said] == ["Moon", None, "Moon"]
    found = tasks.TaskSet(
        "p", "first", "exact", (), {"sum": "Moon", "wrong": "Moon", "other": "x"}, tuple(questions)
    )
    rows = list(tasks.rows(found, said[:2], 3, "two"))
    assert [(each["status"], each["expected"]) for each in rows] == [
        ("ok", "pass"), ("HTTP 503: busy", "-"), ("never asked: the leg ended before", "-"),
    ]  # fmt: skip
    assert tasks.counts(rows) == {"items": 3, "right": 1, "unanswered": 2}


def test_no_text_of_a_measured_request_is_kept(tmp_path: Path) -> None:
    with answering([GOOD]) as port:
        _, (said,), _ = asked(
            port, tmp_path, [Question("measured", "tides", "/completion", {"prompt": "Why?"})]
        )
    assert "answer" not in said and "item" not in said


def test_the_work_is_read_as_it_was_written(tmp_path: Path) -> None:
    work = work_of(repository(tmp_path, legs="every"))
    assert isinstance(work, Work) and work.tasks is not None, work
    assert from_text(as_text(work)) == work
    body = work.tasks.questions[0].body
    assert (body["prompt"], body["n_predict"], body["seed"], body["cache_prompt"]) == (
        "4 = 2 plus 2",
        1,
        1,
        False,
    )
    assert "top_k" not in body  # the model decides it
    assert [tasks.is_asked(work, at) for at in (1, 2)] == [True, True]


def test_a_chat_endpoint_is_asked_with_a_turn(tmp_path: Path) -> None:
    root = repository(tmp_path)
    write(root, task_set(endpoint="/v1/chat/completions", stop=["\n"]))
    work = work_of(root)
    assert isinstance(work, Work) and work.tasks is not None, work
    body = work.tasks.questions[0].body
    assert body["messages"] == [{"role": "user", "content": "4 = 2 plus 2"}]
    assert (body["max_tokens"], body["stop"], "prompt" in body) == (1, ["\n"], False)


def test_the_first_leg_of_each_arm_is_asked() -> None:
    work = Work(job="j", root="", service="", plan="", arms={}, order=("a", "b", "b", "a"), restart="", method="http",
                host="", port=1, questions=(), ceilings=None, approvals=(),  # type: ignore[arg-type]
                tasks=tasks.TaskSet("p", "first", "exact", (), {}, ()))  # fmt: skip
    assert [tasks.is_asked(work, at) for at in (1, 2, 3, 4)] == [True, True, False, False]


def test_a_set_that_cannot_be_asked_is_a_reason_not_to_run(tmp_path: Path) -> None:
    root = repository(tmp_path)
    write(root, {f"{TASKS_FILE}.jsonl": "{}\n"})
    found = work_of(root)
    assert isinstance(found, list)
    assert any("have other bytes than the set says" in each for each in found)
    (root / f"{TASKS_FILE}.jsonl").unlink()
    (root / f"{TASKS_FILE}.yaml").unlink()
    found = work_of(root)
    assert isinstance(found, list) and any("no readable task set" in each for each in found)


def test_the_end_of_a_leg_tells_how_many_items_were_right() -> None:
    data = {"record": {"invalid": [], "quality": {"items": 3, "right": 2, "unanswered": 1}}}
    assert jobs._leg_end(data) == "is measured; 2 of 3 items right, 1 not answered"


def test_the_page_of_a_plan_says_what_its_task_set_can_show(tmp_path: Path) -> None:
    root = repository(tmp_path, margin=0.4)
    said = hio(root, "plan", "check", "threads", "--repo", root)
    page = " ".join(said.out.split())
    assert "3 items of sums in the first leg of each arm; at least 0.5 right on every arm" in page
    assert "so many items show a margin of 0.474 with 95 % confidence at best" in page
    shape = json.loads(hio(root, "plan", "check", "threads", "--repo", root, "--format", "json").out)
    assert shape["quality"] | {"least_margin": 0} == {
        "tasks": "sums", "items": 3, "floor": 0.5, "margin": 0.4, "alpha": 0.05, "legs": "first", "least_margin": 0,
    }  # fmt: skip
    (root / f"{TASKS_FILE}.jsonl").unlink()
    page = " ".join(hio(root, "plan", "check", "threads", "--repo", root).out.split())
    assert "sums, which cannot be read" in page
