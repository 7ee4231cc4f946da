"""The quality gate of a run: computed from its answers, missed for a reason with a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.quality import Side, Terms, gate, gate_of_means, side_of
from hio_validate.evidence.tiers import Verdict
from hio_validate.report.verdict import as_shape, render
from tests.evidence.experiment import ORDER, Experiment, Spoil, text
from tests.small_repo import ROOM, pin, sha, write

N = 60
ITEMS = "".join(
    json.dumps({"id": f"a{n}", "prompt": f"{n} + 1 =", "expected": str(n + 1), "kind": "odd" if n % 2 else "even"})
    + "\n"
    for n in range(N)
)  # fmt: skip
TASKS = {
    "hio": "tasks/v1", "name": "sums", "source": "arithmetic", "scoring": "first-number", "max_tokens": 8, "seed": 1,
    "sampling": {"temperature": 0}, "items": {"file": "sums.jsonl", "sha256": sha(ITEMS), "count": N},
}  # fmt: skip
Row = dict[str, Any]


def rows(wrong: dict[str, int], legs: tuple[int, ...] = (1, 2)) -> list[Row]:
    """Answers of legs, of which so many of each arm are wrong."""
    return [row(leg, item, item < wrong.get(ORDER[leg - 1], 0)) for leg in legs for item in range(N)]


def row(leg: int, item: int, is_wrong: bool) -> Row:
    answer = f" {item + 1 + is_wrong}\n"
    return {"leg": leg, "arm": ORDER[leg - 1], "item": f"a{item}", "status": "ok",
            "expected": "fail" if is_wrong else "pass", "generated": 2, "content_sha256": sha(answer),
            "answer": answer}  # fmt: skip


def judged(
    root: Path,
    answers: list[Row],
    plan: Spoil = lambda plan: None,
    run: Callable[[Row], None] = lambda run: None,
    floor: float = 0.5,
    margin: float = 0.1,
    **asked: Any,
) -> Verdict:
    experiment = Experiment(root)
    write(root, {f"{ROOM}/tasks/sums.yaml": text(TASKS), f"{ROOM}/tasks/sums.jsonl": ITEMS})
    kept = "".join(json.dumps(each) + "\n" for each in answers)
    write(root, {f"{ROOM}/runs/threads/quality.jsonl": kept})

    def with_tasks(document: Row) -> None:
        document["quality"] = {"tasks": "sums", "floor": floor, "margin": margin, **asked}
        plan(document)

    def with_answers(document: Row) -> None:
        document["quality"] = {"file": "quality.jsonl", "sha256": sha(kept), "rows": len(answers),
                               "tasks": pin("sums", text(TASKS))}  # fmt: skip
        run(document)

    experiment.noise()
    experiment.run(plan=with_tasks, run=with_answers)
    return experiment.verdict()


def missed(verdict: Verdict) -> dict[str, str]:
    return {each.reason: each.sentence for each in verdict.reasons}


def test_arms_that_answer_alike_meet_the_gate(tmp_path: Path) -> None:
    found = judged(tmp_path, rows({"base": 3, "two": 4}))
    assert missed(found) == {}
    assert (found.tier, found.result) == (Tier.VERDICT, Result.IMPROVEMENT)
    page = " ".join(render(found).split())
    assert "57 of 60 (0.950)" in page and "Tango" in page and "even" in page
    shape = as_shape(found)["quality"]
    assert shape["arms"]["two"] | {"interval": 0} == {
        "right": 56,
        "items": 60,
        "share": 56 / 60,
        "interval": 0,
    }
    assert shape["candidates"]["two"]["difference"]["value"] == pytest.approx(-1 / 60)


def test_a_task_set_stands_in_for_checks(tmp_path: Path) -> None:
    def without(plan: Row) -> None:
        plan["checks"] = []

    def expects_nothing(run: Row) -> None:
        run["fixtures"] = run["fixtures"][:1]

    found = judged(tmp_path, rows({}), without, expects_nothing)
    assert "no-quality-gate" not in missed(found)


def test_below_the_floor_the_faster_arm_is_no_improvement(tmp_path: Path) -> None:
    found = judged(tmp_path, rows({"two": 31}), margin=0.9)
    assert missed(found)["quality-gate-failed"] == "sums: 29 of 60 (0.483) of two: the floor is 0.5"
    assert (found.tier, found.result, found.best) == (Tier.DRAFT, Result.NO_IMPROVEMENT, "base")


def test_worse_by_more_than_the_margin_fails(tmp_path: Path) -> None:
    assert "worse than the margin 0.1" in missed(judged(tmp_path, rows({"two": 20})))["quality-gate-failed"]


def test_what_is_not_shown_is_not_met(tmp_path: Path) -> None:
    found = judged(tmp_path, rows({"two": 3}), margin=0.02)
    assert "so few items can show 0.043 at best" in missed(found)["quality-not-shown"]
    assert found.result is Result.NO_IMPROVEMENT


def test_every_leg_is_asked_where_that_was_planned(tmp_path: Path) -> None:
    found = missed(judged(tmp_path / "some", rows({}), legs="every"))
    assert found["no-quality-gate"] == "the item a0 was not answered in leg 4 of base"
    every = rows({"two": 40}, (1, 2, 3, 4, 5, 6, 7, 8))
    for each in every:
        if each["leg"] in (2, 5, 8):  # right in most of the legs
            each |= row(each["leg"], int(each["item"][1:]), False)
    assert "no-quality-gate" not in missed(judged(tmp_path / "all", every, legs="every"))


def test_an_item_right_in_half_of_the_legs_is_not_right(tmp_path: Path) -> None:
    every = rows({"two": 40}, (1, 2, 3, 4, 5, 6, 7, 8))
    for each in every:
        if each["leg"] in (2, 5):
            each |= row(each["leg"], int(each["item"][1:]), False)
    assert "quality-gate-failed" in missed(judged(tmp_path, every, legs="every"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda found: found[:60], "no leg of two that counts was asked sums"),
        (lambda found: found[:-1], "the item a59 was not answered in leg 2 of two"),
        (lambda found: [*found[:-1], {"leg": 2, "arm": "two", "item": "a59", "status": "HTTP 503", "expected": "-"}],
         "the item a59 was not answered in leg 2 of two: HTTP 503"),
        (lambda found: [*found[:-1], found[-1] | {"expected": "fail"}], "line 120 of the answers: a59 is called fail"),
        (lambda found: [*found[:-1], {"item": "a59"}], "line 120: the line is no answer"),
        (lambda found: [], "no leg of base that counts was asked sums"),
    ],
)  # fmt: skip
def test_an_arm_without_all_its_answers_has_no_gate(
    tmp_path: Path, spoil: Callable[[list[Row]], list[Row]], said: str
) -> None:
    found = judged(tmp_path, spoil(rows({})))
    assert missed(found)["no-quality-gate"].startswith(said)
    assert as_shape(found)["quality"] is None


def test_no_answers_at_all_contradict_the_plan(tmp_path: Path) -> None:
    def without(run: Row) -> None:
        del run["quality"]

    found = missed(judged(tmp_path, rows({}), run=without))
    assert found["no-quality-gate"] == "sums was planned, and the run kept no answers to it"
    assert "sums of threads was never asked" in found["contradicts-plan"]


def test_answers_that_are_not_the_recorded_ones_are_none(tmp_path: Path) -> None:
    def other(run: Row) -> None:
        run["quality"]["sha256"] = sha("others")

    assert "not the recorded ones" in missed(judged(tmp_path, rows({}), run=other))["no-quality-gate"]


def test_an_empty_side_is_not_measurable() -> None:
    found = gate(Side("base", 1, 2), Side("two", 0, 0), Terms(0, 1, 0.05))
    assert (found.reason, found.difference) == ("not-measurable", None)


def test_the_same_items_are_compared_one_by_one_and_others_are_not() -> None:
    one, two = side_of("base", {"a": True, "b": False}), side_of("two", {"a": True, "b": True})
    other = side_of("two", {"a": True, "c": True})
    terms = Terms(0, 1, 0.05)
    found, unlike = gate(one, two, terms).difference, gate(one, other, terms).difference
    assert found and found.method.startswith("Tango")
    assert unlike and unlike.method.startswith("Newcombe")


def test_a_mean_that_is_better_lower_turns_floor_and_difference() -> None:
    terms = Terms(8.0, 0.5, 0.05)
    assert gate_of_means((6.0, 0.1), (6.1, 0.1), terms, False, "two").reason == ""
    assert gate_of_means((6.0, 0.1), (7.5, 0.1), terms, False, "two").reason == "quality-gate-failed"
    assert (
        gate_of_means((6.0, 0.1), (8.5, 0.1), terms, False, "two").sentence == "6 and 8.5: the ceiling is 8"
    )
    assert gate_of_means((6.0, 0.3), (6.3, 0.3), terms, False, "two").reason == "quality-not-shown"
