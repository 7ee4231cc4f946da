"""Every condition of contract 7.2: an experiment that meets all is a VERDICT; one that misses one says which."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.outcome import Result, Tier
from tests.evidence.experiment import SAME, SPEEDS, Experiment, Row, whole
from tests.small_repo import ENGINE, HELP, ROOM, SERVICE, baseline, sha, stack, write

Spoil = Callable[[dict[str, Any]], Any]


def test_an_experiment_that_meets_everything_is_a_verdict(tmp_path: Path) -> None:
    found = whole(tmp_path).verdict()
    assert (found.tier, found.result, found.reasons) == (Tier.VERDICT, Result.IMPROVEMENT, [])
    assert found.best == "two"
    assert [each.name for each in found.conditions if not each.met] == []


def spoil(**changes: Any) -> Spoil:
    return lambda document: document.update(changes)


def drop(*keys: str) -> Spoil:
    def forget(document: dict[str, Any]) -> None:
        for key in keys:
            del document[key]

    return forget


def within(*path: str | int, value: Any = None) -> Spoil:
    """Set, or without a value remove, what stands at a path."""

    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for part in path[:-1]:
            place = place[part]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value

    return change


PROCESS = ("processes", "server")
OF_THE_RUN: dict[str, Spoil] = {
    "no-plan": drop("plan"),
    "contradicts-plan": within("arms", "two", "set", value={"server.threads": "3"}),
    "imported": spoil(imported=True),
    "no-identity": within("legs", 0, "capture"),
    "too-few-trials": lambda run: [run["legs"][at].update(invalid=["drifted"]) for at in (0, 3)],
    "order-unproven": within("legs", 3, "started", value="2026-01-04T03:03:10Z"),
    "instrumented": within("legs", 3, "instrumented", value=True),
    "not-completed": spoil(outcome="aborted"),
    "no-log": drop("logs"),
    "no-commands": drop("commands"),
    "no-approval": drop("approvals"),
    "no-samples": drop("samples"),
    "sampling-hole": within("samples", "longest_gap_s", value=60.5),
    "baseline-not-accepted": spoil(at="2025-12-31T00:00:00Z"),
    "screening": spoil(stage="screening"),
    "no-raw-rows": within("raw", "sha256", value="0" * 64),
}
OF_THE_PLAN: dict[str, Spoil] = {
    "screening": spoil(stage="screening"),
    "a-a-experiment": spoil(stage="a-a"),
    "noise-unknown": within("decide", "noise"),
    "level-unreachable": within("decide", "alpha", value=0.015625),
    "not-restored": spoil(serving={"during": "stop", "restore": "base"}),
    "no-approval": spoil(serving={"during": "stop", "restore": "base"}),
    "not-restarted": spoil(restart="never"),
    "regime-unproven": spoil(cache="warm"),
}
OF_THE_ROWS: dict[str, Callable[[Row], None]] = {
    "no-quality-gate": lambda row: row.update(expected="-"),
    "quality-gate-failed": lambda row: (
        row.update(expected="fail") if row["phase"] == "check" and row["leg"] == 3 else None
    ),
    "work-differs": lambda row: row.update(content_sha256=sha(row["arm"])),
}
OF_THE_CAPTURES: dict[str, Spoil] = {
    "source-unknown": within(*PROCESS, "build"),
    "delivery-unknown": within(*PROCESS, "libraries", "libggml.so", "sha256"),
    "not-restarted": within(*PROCESS, "pid", value=7),
    "host-unknown": within("host", "id"),
    "host-differs": lambda capture: capture["host"].update(id=sha(capture["name"])),
}  # fmt: skip


def _lacks(root: Path, reason: str, **spoilt: Any) -> None:
    experiment = Experiment(root)
    experiment.noise()
    experiment.run(**spoilt)
    found = experiment.verdict()
    assert found.tier is Tier.DRAFT
    assert reason in [each.reason for each in found.reasons]
    sentence = next(each.sentence for each in found.reasons if each.reason == reason)
    assert sentence


@pytest.mark.parametrize("reason", OF_THE_RUN)
def test_what_the_run_lacks(tmp_path: Path, reason: str) -> None:
    _lacks(tmp_path, reason, run=OF_THE_RUN[reason])


@pytest.mark.parametrize("reason", OF_THE_PLAN)
def test_what_the_plan_lacks(tmp_path: Path, reason: str) -> None:
    _lacks(tmp_path, reason, plan=OF_THE_PLAN[reason])


@pytest.mark.parametrize("reason", OF_THE_ROWS)
def test_what_the_rows_lack(tmp_path: Path, reason: str) -> None:
    _lacks(tmp_path, reason, rows=OF_THE_ROWS[reason])


@pytest.mark.parametrize("reason", OF_THE_CAPTURES)
def test_what_the_captures_lack(tmp_path: Path, reason: str) -> None:
    def started_at_once(capture: dict[str, Any]) -> None:
        if reason == "not-restarted":
            capture["processes"]["server"]["started"]["ticks"] = 5
        OF_THE_CAPTURES[reason](capture)

    _lacks(tmp_path, reason, capture=started_at_once)


def test_a_plan_that_was_edited_afterwards_is_not_the_pinned_one(tmp_path: Path) -> None:
    experiment = whole(tmp_path)
    plan = tmp_path / ROOM / "plans/threads.yaml"
    plan.write_text(plan.read_text().replace("5.5", "0.5"))
    assert experiment.verdict().reasons[0].reason == "no-plan"


def test_an_approval_that_had_expired_counts_for_nothing(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    late = {"started": "2026-02-02T00:00:00Z", "ended": "2026-02-02T00:01:00Z"}
    experiment.run(run=lambda run: run["legs"][-1].update(late))
    assert [each.reason for each in experiment.verdict().reasons] == ["approval-expired"]


def test_legs_that_balance_no_drift_prove_no_order(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(plan=spoil(order=["base", "two"] * 4))
    assert "order-not-counterbalanced" in [each.reason for each in experiment.verdict().reasons]


def test_another_stack_than_the_parent_is_no_accepted_baseline(tmp_path: Path) -> None:
    experiment = whole(tmp_path)
    other = baseline("b0", f"two@sha256:{sha(stack('two', 2))}")
    write(tmp_path, {f"ledger/{SERVICE}/2026/b0.yaml": other})
    [reason] = experiment.verdict().reasons
    assert reason.sentence == "the parent was two then, by b0; the arm base is base"


def test_an_engine_without_a_revision_has_no_known_source(tmp_path: Path) -> None:
    experiment = whole(tmp_path)
    folder = "manifests/engines/llama-server/b1"
    write(
        tmp_path,
        {f"{folder}/engine.yaml": ENGINE.replace("source: {revision: b1}\n", ""), f"{folder}/help.txt": HELP},
    )
    assert [each.reason for each in experiment.verdict().reasons] == ["source-unknown"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"plan": spoil(stage="confirmation")}, "no A-A experiment that hio ran"),
        ({"run": spoil(imported=True)}, "no A-A experiment that hio ran"),
        ({"run": spoil(outcome="aborted")}, "was not completed"),
        ({"plan": spoil(fixture="sum")}, "the same fixture"),
        ({"run": lambda run: [leg.update(invalid=["x"]) for leg in run["legs"][:4]]}, "fewer than 3 trials"),
    ],
)
def test_noise_of_something_else_is_no_noise(tmp_path: Path, change: dict[str, Spoil], said: str) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise(**change)
    experiment.run()
    [reason] = experiment.verdict().reasons
    assert reason.reason == "noise-unknown" and said in reason.sentence


def _result(root: Path, speeds: dict[str, list[float]], **spoilt: Any) -> Any:
    experiment = Experiment(root)
    experiment.noise()
    experiment.run(speeds=speeds, **spoilt)
    return experiment.verdict()


def test_the_five_results(tmp_path: Path) -> None:
    slower = {"base": SPEEDS["two"], "two": SPEEDS["base"]}
    found = _result(tmp_path / "harm", slower)
    assert (found.result, found.tier, found.best) == (Result.HARM, Tier.VERDICT, "base")
    found = _result(tmp_path / "noise", {"base": SPEEDS["base"], "two": SAME["again"]})
    assert (found.result, found.tier) == (Result.WITHIN_NOISE, Tier.VERDICT)
    little = {"base": SPEEDS["base"], "two": [51.6, 51.9, 51.2, 51.5]}
    found = _result(tmp_path / "little", little)
    assert (found.result, found.tier) == (Result.NO_IMPROVEMENT, Tier.VERDICT)
    assert "below-tolerance" in [each.reason for each in found.effect]
    found = _result(tmp_path / "nothing", SPEEDS, rows=spoil(status="timeout"))
    assert (found.result, found.tier) == (Result.NOT_MEASURABLE, Tier.DRAFT)
    found = _result(tmp_path / "other", SPEEDS, rows=OF_THE_ROWS["work-differs"])
    assert (found.result, found.tier) == (Result.NOT_COMPARABLE, Tier.DRAFT)


def test_a_gain_that_breaks_a_bound_is_none(tmp_path: Path) -> None:
    def slow(row: Row) -> None:
        row.update(ttft_ms=40.5 if row["arm"] == "two" else 20.5)

    bound = within("decide", "bounds", value=[{"metric": "ttft_ms", "worse_by_percent": 5.5}])
    found = _result(tmp_path, SPEEDS, rows=slow, plan=bound)
    assert (found.result, found.best) == (Result.NO_IMPROVEMENT, "base")
    [broken] = [each for each in found.effect if each.reason == "bound-broken"]
    assert broken.sentence == "ttft_ms got worse by 97.56 %, 5.5 % is allowed"


def _unknown_ttft(row: Row) -> None:
    if row["leg"] == 3 and row["phase"] == "measured":
        row.update(ttft_ms="")


def test_a_bound_that_one_leg_did_not_measure_is_not_kept(tmp_path: Path) -> None:
    bound = within("decide", "bounds", value=[{"metric": "ttft_ms", "worse_by_percent": 90.5}])
    found = _result(tmp_path, SPEEDS, rows=_unknown_ttft, plan=bound)
    assert (found.result, found.best) == (Result.NO_IMPROVEMENT, "base")
    [unmeasured] = [each for each in found.effect if each.reason == "bound-unmeasured"]
    assert unmeasured.sentence == "ttft_ms was not measured in leg 3"


def test_a_metric_that_a_leg_does_not_know_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    found = _result(tmp_path, SPEEDS, rows=_unknown_ttft)
    beside = next(each for each in found.comparisons if each.metric.name == "ttft_ms")
    assert (found.result, found.tier) == (Result.IMPROVEMENT, Tier.VERDICT)
    assert [len(values) for values in beside.values] == [4, 3]


def test_a_round_pairs_only_legs_that_both_know_the_metric(tmp_path: Path) -> None:
    sign_flip = within("decide", "test", value="sign-flip")
    found = _result(tmp_path, SPEEDS, rows=_unknown_ttft, plan=sign_flip)
    beside = next(each for each in found.comparisons if each.metric.name == "ttft_ms")
    speeds = [
        pair for place, pair in enumerate(zip(SPEEDS["base"], SPEEDS["two"], strict=True)) if place != 1
    ]
    assert beside.test.n == (3,)
    assert beside.rounds == pytest.approx([log(base / two) for base, two in speeds], abs=1e-5)


def test_less_is_better_where_the_metric_says_so(tmp_path: Path) -> None:
    decide = {"metric": "ttft_ms", "better": "lower"}
    found = _result(tmp_path, SPEEDS, plan=lambda plan: plan["decide"].update(decide))
    assert (found.result, found.tier) == (Result.IMPROVEMENT, Tier.VERDICT)
    assert found.deciding[0].change < 0 < found.deciding[0].gain


def test_another_metric_than_the_planned_one_is_a_draft(tmp_path: Path) -> None:
    found = whole(tmp_path).verdict(metric="ttft_ms")
    assert found.tier is Tier.DRAFT
    assert [each.reason for each in found.reasons] == ["not-the-planned-metric"]


@pytest.mark.parametrize("lacks", ["fixture", "regime"])
def test_a_workload_without_a_shape_needs_context(tmp_path: Path, lacks: str) -> None:
    found = _result(tmp_path, SPEEDS, run=lambda run: (run.pop("plan"), run["scope"].pop(lacks)))
    assert found.tier is Tier.NEEDS_CONTEXT
    assert found.context[0].reason == "workload-unknown"


def test_several_candidates_share_the_level(tmp_path: Path) -> None:
    order = ["base", "two", "three", "three", "two", "base"] * 2
    speeds = {
        "base": [50.0, 50.4, 50.2, 49.9],
        "two": [60.0, 60.3, 60.2, 60.1],
        "three": [70.0, 70.3, 70.2, 70.1],
    }
    arms = {
        "base": {"stack": "base"},
        "two": {"stack": "base", "set": {"server.threads": "2"}},
        "three": {"stack": "base", "set": {"server.threads": "3"}},
    }
    found = _result(tmp_path, speeds, plan=spoil(order=order, arms=arms))
    assert found.case.alpha == pytest.approx(0.03125), "Bonferroni"
    assert [found.result_of(each) for each in found.deciding] == [Result.IMPROVEMENT, Result.IMPROVEMENT]
    assert found.best == "three"


def test_a_failed_quality_gate_names_every_arm(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(rows=lambda row: row.update(expected="fail") if row["phase"] == "check" else None)
    sentence = next(
        each.sentence for each in experiment.verdict().reasons if each.reason == "quality-gate-failed"
    )
    assert sentence == "answers that are not what was expected: 4 of base, 4 of two"


def test_an_arm_without_a_leg_that_counts_did_no_work(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(
        run=lambda run: [leg.update(invalid=["drifted"]) for leg in run["legs"] if leg["arm"] == "two"]
    )
    sentence = next(each.sentence for each in experiment.verdict().reasons if each.reason == "work-unproven")
    assert sentence == "two did no work that counts"
