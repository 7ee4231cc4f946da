"""A champion has earned it, or the previous one is kept; each gate is missed for its own reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hio_validate.report.champion import as_shape, render, what_is_left
from tests.evidence.campaigned import FASTER, RUN_ID, SAME, SLOWER, Campaigned
from tests.evidence.experiment import ORDER, ROOM, SERVICE, SPEEDS, text
from tests.evidence.test_quality_gate import ITEMS, TASKS, rows
from tests.small_repo import pin, sha, stack, write

ONE_REGIME = {"two": ("2", "short"), "four": ("4", "short")}
TWO_REGIMES = {"two": ("2", "short"), "four": ("4", "long")}


def test_the_largest_shown_gain_of_a_regime_is_the_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", FASTER)
    found = made.champion()
    assert [each.reason for each in found.gates if not each.met] == []
    assert found.overall is not None and found.overall.name == "four"
    assert found.configurations == 3
    page = render(found)
    assert "the champion is base with server.threads = 4" in page
    assert "best of the 3 configurations measured in this scope" in page
    assert "not recorded yet: hio campaign run threads --yes goes on" in " ".join(page.split())
    shape = as_shape(found, 0)
    assert "kinds of tasks: code-tests, retrieval, positional-recall, tool-round-trips" in " ".join(
        page.split()
    )
    assert (shape["result"], shape["champion"]["set"]) == ("champion", {"server.threads": "4"})


def test_a_run_of_the_same_comparison_that_shows_nothing_is_told_beside_the_winner(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, {"two": ("2", "short")})
    made.run("two")
    made.experiment.run("2026-01-03-earlier", SPEEDS, plan=made.planned_as("two"))
    (regime,) = made.champion().regimes
    assert regime.winner is not None and regime.winner.otherwise == ()
    made.experiment.run("2026-01-03-nothing", SAME, plan=made.planned_as("two"))
    made.experiment.run("2026-01-03-of-four", SAME, plan=made.planned_as("two", {"server.threads": "4"}))
    found = made.champion()
    told = [("2026-01-03-nothing", "nothing beyond the noise of this host")]
    assert found.overall is not None and list(found.overall.otherwise) == told
    page = " ".join(render(found).split())
    assert "2026-01-03-nothing measured the same and shows nothing beyond the noise of this host" in page
    assert as_shape(found, 0)["regimes"][0]["otherwise"] == [{"run": told[0][0], "shows": told[0][1]}]


def test_no_improvement_keeps_the_previous_one_with_a_reason_for_each_cell(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two", SAME)
    made.run("four", SLOWER)
    found = made.champion()
    assert found.gates_met and found.winners == []
    page = render(found)
    assert page.startswith(f"{SERVICE}/threads: no improvement, keep the previous one: base\n")
    assert "it shows nothing beyond the noise of this host" in page
    assert "it shows a harm" in page
    assert as_shape(found, 0)["keeps"] == "base"


def test_two_regimes_with_two_winners_have_no_single_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO_REGIMES)
    made.run("two")
    made.run("four", FASTER)
    found = made.champion()
    assert found.overall is None
    assert {each.name: each.winner.name for each in found.winners if each.winner} == {
        "short": "two",
        "long": "four",
    }
    assert "no single champion; one for each regime" in render(found)


def test_one_configuration_that_wins_every_regime_is_the_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, {"short": ("2", "short"), "long": ("2", "long")})
    made.run("short")
    made.run("long", FASTER)
    assert made.champion().overall is not None


def test_a_regime_without_a_gain_leaves_no_single_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, TWO_REGIMES)
    made.run("two")
    made.run("four", SAME)
    found = made.champion()
    assert found.overall is None and [each.name for each in found.winners] == ["short"]
    assert "long: no improvement, keep base" in render(found)


def test_gains_that_overlap_are_not_told_apart(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", {**FASTER, "two": [60.3, 60.0, 61.1, 60.6]})
    assert made.champion().regimes[0].not_told_apart == ("two",)


def test_a_cell_that_was_not_run_leaves_the_coverage_incomplete(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    assert made.missed() == {"coverage": "coverage-incomplete"}
    assert made.champion().winners == []
    assert "keep base: not met: coverage" in render(made.champion())


def test_a_cell_beyond_the_coverage_may_be_missing(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME, lambda document: document.update(coverage=["two"]))
    made.run("two")
    assert made.missed() == {}


def test_a_run_outside_the_campaign_counts_for_nothing(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=lambda document: document.pop("campaign"))
    assert made.missed() == {"coverage": "coverage-incomplete"}


def test_an_aborted_run_is_not_complete(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=lambda document: document.update(outcome="aborted", why="memory"))
    assert "coverage" in made.missed()


def test_the_record_decides_which_run_is_the_cell(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", FASTER)
    two = f"{ROOM}/runs/{RUN_ID}.two/run.yaml"
    record = {
        "hio": "campaign-run/v1", "name": RUN_ID, "service": SERVICE, "campaign": made.pin,
        "at": "2026-01-04T02:00:00Z", "ended": "2026-01-04T09:00:00Z",
        "cells": {"two": {"outcome": "completed", "run": pin(f"{RUN_ID}.two", (tmp_path / two).read_text())},
                  "four": {"outcome": "not-run"}},
    }  # fmt: skip
    write(tmp_path, {f"{ROOM}/campaign-runs/{RUN_ID}.yaml": text(record)})
    found = made.champion()
    assert [each.run is not None for each in found.cells] == [True, False]
    assert found.is_recorded and "not recorded yet" not in render(found)


def _wrong(arm: str) -> Any:
    def spoil(row: dict[str, Any]) -> None:
        if row["phase"] == "check" and row["arm"] == arm:
            row["expected"] = "fail"

    return spoil


def test_wrong_answers_of_a_candidate_take_that_cell_out(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", FASTER, rows=_wrong("two"))
    found = made.champion()
    assert found.gates_met
    assert found.overall is not None and found.overall.name == "two"
    assert "out for wrong answers: four" in render(found).replace("\n                   ", " ")


def test_wrong_answers_of_the_baseline_leave_no_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", FASTER, rows=_wrong("base"))
    assert made.missed() == {"accuracy": "baseline-answers-wrong"}


def test_answers_that_nobody_judged_leave_no_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", rows=lambda row: row.update(expected="-"))
    assert made.missed()["accuracy"] == "accuracy-unknown"


def asked(root: Path, wrong: dict[str, dict[str, int]], four: dict[str, Any] | None = None) -> Campaigned:
    """Both cells with a task set; of each arm so many answers are wrong. `four` spoils the run of that cell."""

    def with_tasks(document: dict[str, Any]) -> None:
        document["scope"] = {"quantisation": ["q4_0"]}
        document["focus"]["accuracy"] = {"tasks": "sums", "floor": 0.5, "margin": 0.1}

    def planned(plan: dict[str, Any]) -> None:
        plan["quality"] = {"tasks": "sums", "floor": 0.5, "margin": 0.1}

    made = Campaigned(root, ONE_REGIME, with_tasks, planned)
    write(root, {f"{ROOM}/tasks/sums.yaml": text(TASKS), f"{ROOM}/tasks/sums.jsonl": ITEMS})
    for cell, speeds in (("two", SPEEDS), ("four", FASTER)):
        answers = rows(wrong.get(cell, {}))
        kept = "".join(json.dumps(each) + "\n" for each in answers)
        write(root, {f"{ROOM}/runs/{RUN_ID}.{cell}/quality.jsonl": kept})
        quality = {
            "file": "quality.jsonl",
            "sha256": sha(kept),
            "rows": len(answers),
            "tasks": pin("sums", text(TASKS)),
        }
        more = dict(four or {}) if cell == "four" else {}
        spoil = more.pop("run", lambda document: None)

        def with_answers(document: dict[str, Any], quality: Any = quality, spoil: Any = spoil) -> None:
            document["quality"] = quality
            spoil(document)

        made.run(cell, speeds, run=with_answers, **more)
    return made


def test_a_task_set_is_the_accuracy_floor(tmp_path: Path) -> None:
    found = asked(tmp_path, {}).champion()
    assert [each.reason for each in found.gates if not each.met] == []
    assert found.overall is not None and found.overall.name == "four"
    assert found.task_kinds == ["even", "odd"]


def test_a_candidate_below_the_floor_of_the_task_set_is_out(tmp_path: Path) -> None:
    found = asked(tmp_path, {"four": {"two": 40}}).champion()
    assert found.gates_met
    assert found.overall is not None and found.overall.name == "two"


def test_a_baseline_below_the_floor_of_the_task_set_leaves_no_champion(tmp_path: Path) -> None:
    made = asked(tmp_path, {"two": {"base": 40, "two": 40}, "four": {"base": 40, "two": 40}})
    assert made.missed()["accuracy"] == "baseline-answers-wrong"


def test_a_task_set_that_nobody_asked_leaves_no_champion(tmp_path: Path) -> None:
    made = Campaigned(
        tmp_path,
        ONE_REGIME,
        lambda document: document["focus"]["accuracy"].update(tasks="sums", floor=0.5, margin=0.1),
    )
    made.run("two")
    made.run("four", FASTER)
    assert made.missed() == {"accuracy": "accuracy-unknown"}


def test_a_draft_leaves_no_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=lambda document: document.update(logs=[]))
    assert made.missed() == {"repeated trials": "not-a-verdict"}


def test_cells_of_two_hosts_are_not_compared(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=lambda document: document["scope"].update(host="0" * 64))
    assert made.missed()["comparability"] == "host-differs"


def test_an_unknown_host_is_never_the_same(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    for cell in ONE_REGIME:
        made.run(cell, run=lambda document: document["scope"].pop("host"))
    assert made.missed()["comparability"] == "host-differs"


def test_a_program_that_was_replaced_between_two_cells_wants_the_baseline_again(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run(
        "four", capture=lambda document: document["processes"]["server"]["executable"].update(sha256="1" * 64)
    )
    assert made.missed()["comparability"] == "baseline-program-differs"


def test_speculation_that_is_not_declared_is_out_of_scope(tmp_path: Path) -> None:
    made = Campaigned(
        tmp_path, ONE_REGIME, lambda document: document.update(scope={"factors": ["server.batch-size"]})
    )
    made.run("two")
    made.run("four")
    assert made.missed() == {"declared scope": "out-of-scope"}


def test_an_input_that_is_missing_leaves_no_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME, lambda document: document.pop("target"))
    made.run("two")
    made.run("four")
    assert made.missed() == {"seven inputs": "inputs-missing"}


def test_an_open_correctness_failure_blocks_a_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four")
    entry = {
        "hio": "entry/v1", "id": "nan", "service": SERVICE, "after": [made.experiment.approval], "by": "someone",
        "at": "2026-01-06T00:00:00Z", "kind": "failed-run", "hazard": "non-finite-values",
        "because": "logits were NaN after 4096 tokens", "pins": {"stack": pin("base", stack("base"))},
    }  # fmt: skip
    write(tmp_path, {f"ledger/{SERVICE}/2026/nan.yaml": text(entry)})
    assert made.missed() == {"correctness": "open-correctness-failure"}


def test_nothing_that_counts_is_nothing_measured(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    assert not made.champion().is_measured
    assert what_is_left(made.champion()) == [
        "hio campaign check threads says what it still needs, hio campaign run threads --yes runs it"
    ]
    made.run("two")
    assert what_is_left(made.champion()) == ["hio report threads says what closes each gap"]
    made.run("four")
    assert what_is_left(made.champion()) == []


OTHER = sha("other weights")


def serving(arm: str, sha256: str | None) -> Any:
    """Spoils the captures of one arm: what it maps as its model."""

    def spoil(capture: dict[str, Any]) -> None:
        if ORDER[int(capture["name"].rpartition("-")[2]) - 1] == arm:
            model = capture["processes"]["server"]["artifacts"]["model"]
            model.update(sha256=sha256) if sha256 else model.pop("sha256")

    return spoil


def without_model(document: dict[str, Any]) -> None:
    """A run of two models has no one model as its scope."""
    document["scope"].pop("model")


def declared(document: dict[str, Any]) -> None:
    """Another quantisation is within the scope."""
    document["scope"] = {"quantisation": ["q4_0"]}


def test_other_weights_that_the_campaign_does_not_declare_are_out_of_scope(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", FASTER, run=without_model, capture=serving("two", OTHER))
    assert made.missed()["declared scope"] == "out-of-scope"


def test_other_weights_win_where_the_task_set_holds(tmp_path: Path) -> None:
    made = asked(tmp_path, {}, four={"capture": serving("two", OTHER), "run": without_model})
    found = made.champion()
    assert [each.sentence for each in found.gates if not each.met] == []
    assert found.overall is not None and found.overall.name == "four"
    assert OTHER[:12] in found.scope and sha("model")[:12] in found.scope
    said = f"two serves other weights ({OTHER[:12]}, the baseline {sha('model')[:12]})"
    assert said in " ".join(render(found).split())
    assert as_shape(found, 0)["champion"]["other_weights"] == OTHER


def test_other_weights_with_worse_answers_are_out(tmp_path: Path) -> None:
    made = asked(
        tmp_path, {"four": {"two": 25}}, four={"capture": serving("two", OTHER), "run": without_model}
    )
    found = made.champion()
    assert found.overall is not None and found.overall.name == "two"


def test_other_weights_that_no_task_set_judged_leave_no_champion(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME, declared)
    made.run("two")
    made.run("four", FASTER, run=without_model, capture=serving("two", OTHER))
    (gate,) = [each for each in made.champion().gates if not each.met]
    assert (gate.name, gate.reason) == ("accuracy", "accuracy-unknown")
    assert f"four: two serves other weights ({OTHER[:12]}, the baseline {sha('model')[:12]})" in gate.sentence
    assert "was asked no task set" in gate.sentence


def test_a_baseline_of_other_weights_in_one_cell_is_not_compared(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=without_model, capture=serving("base", OTHER))
    assert made.missed()["comparability"] == "model-differs"


def test_weights_that_nobody_knows_are_never_the_same(tmp_path: Path) -> None:
    made = Campaigned(tmp_path, ONE_REGIME)
    made.run("two")
    made.run("four", run=without_model, capture=serving("two", None))
    assert made.missed() == {"comparability": "model-differs", "repeated trials": "not-a-verdict"}
