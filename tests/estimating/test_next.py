"""The one next experiment: its order of precedence, and that what it says to type begins a plan."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hio_validate.costs.routes import ROUTES
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.next import next_of
from hio_validate.models.estimate import NextExperiment
from hio_validate.repo import item_of
from hio_validate.source import read
from tests.cli.console import hio
from tests.estimating.candidates.workbench import STACK, asked, bench, looked, profile
from tests.small_repo import SERVICE, pin


def following(inputs: Inputs) -> NextExperiment:
    ledger = terms_of(inputs)
    bound = bound_of(ledger, inputs)
    found = next_of(inputs, ledger, bound, looked(inputs).candidates)
    assert found.proves and found.stop_if and found.route in ROUTES
    return found


def failed() -> Any:
    text = (
        f'hio: entry/v1\nid: f1\nservice: {SERVICE}\nafter: ["{pin("b0", "b0")}"]\nkind: failed-run\nby: someone\n'
        f'at: "2026-01-02T00:00:00Z"\nhazard: non-finite-values\npins: {{stack: "{pin("base", STACK)}"}}\n'
    )
    return item_of(read(text.encode(), f"ledger/{SERVICE}/2026/f1.yaml"))


def test_the_cause_of_a_wrong_answer_comes_before_everything(tmp_path: Path) -> None:
    found = following(replace(asked(bench(tmp_path), measured=100.0), wrong=(failed(),)))
    assert found.candidate is None
    assert "find the cause of f1 (non-finite-values): base against itself" in found.experiment
    assert f"ledger/{SERVICE}/2026/f1.yaml tells what was seen" in found.experiment and "9.6" in found.stop_if
    _begins(tmp_path, found, "base-a-a")


def test_without_a_shape_the_workload_is_completed_first(tmp_path: Path) -> None:
    found = following(replace(asked(bench(tmp_path)), shape=None))
    assert found.candidate is None
    assert found.experiment == "get what nothing is estimated without: the model's shape"
    assert found.command == "hio probe model FILE --service lab/tiny --hash --write"


@pytest.mark.parametrize(
    ("told", "helps"),
    [
        ({"kv_cache": "at-start", "slots": 4}, True),
        ({"kv_cache": "at-start", "slots": 4, "concurrency": 1}, False),
        ({"kv_cache": "paged", "slots": 4}, False),
        ({"kv_cache": None}, False),
    ],
    ids=["at-start", "one-request", "paged", "unknown"],
)
def test_fewer_requests_are_proposed_only_where_all_of_them_have_to_be_held(
    tmp_path: Path, told: dict[str, Any], helps: bool
) -> None:
    whole = replace(asked(bench(tmp_path)), baseline=None)
    whole = replace(whole, workload=whole.workload.model_copy(update={"concurrency": 4, **told}))
    ledger = terms_of(whole)
    found = next_of(whole, ledger, bound_of(ledger, whole), (), fits=False)
    assert "which cannot fit: divide it over more devices" in found.experiment
    assert ("fewer requests at once" in found.experiment) is helps


def test_each_thing_that_a_bound_is_missing_has_its_command_and_nothing_else_is_named(tmp_path: Path) -> None:
    whole = asked(bench(tmp_path))
    workload = whole.workload.model_copy(update={"prompt_tokens": None, "generated_tokens": None})
    bare = replace(whole, shape=None, ceilings=(), workload=workload, missing=("a side issue",), stated={})
    found = following(bare)
    assert found.experiment == (
        "get what nothing is estimated without, in this order: the model's shape; rates of the machine; the prompt's tokens and "
        "the generated tokens, counted by a run of this fixture, or stated"
    )
    assert found.command is not None and found.command.splitlines() == [
        "hio probe model FILE --service lab/tiny --hash --write",
        "hio probe host --yes --write",
        "hio estimate base --service lab/tiny --fixture tides --metric decode_tps --assume prompt-tokens=N --assume "
        "generated-tokens=N",
    ]
    only = following(replace(bare, shape=whole.shape, workload=whole.workload))
    assert only.command == "hio probe host --yes --write"


def test_a_missing_baseline_is_measured_before_any_candidate(tmp_path: Path) -> None:
    found = following(asked(bench(tmp_path)))
    assert (found.candidate, found.route) == (None, "measure-baseline")
    assert (
        found.command
        == "hio plan new --service lab/tiny --a-a --stack base --fixture tides --metric decode_tps"
    )


def test_no_run_of_hio_is_a_baseline_of_several_requests_at_once(tmp_path: Path) -> None:
    found = following(asked(bench(tmp_path), concurrency=4))
    assert "at 4 requests at once with a load generator" in found.experiment
    assert found.command == "hio import RESULTS --service lab/tiny --stack base --write"
    (tmp_path / "RESULTS").write_text("nothing of a result")
    said = hio(tmp_path, *shlex.split(found.command)[1:])
    assert said.code == 3 and "RESULTS: no results" in said.err, "its words are understood"


def test_a_gap_that_no_candidate_explains_asks_for_a_profile(tmp_path: Path) -> None:
    """A tenth of the bound: four mechanisms together explain less than the gap."""
    found = following(asked(bench(tmp_path), measured=11.0))
    assert (found.candidate, found.route) == (None, "decode-step-budget")
    assert "base takes 906 % longer than the bound" in found.experiment
    assert found.command == (
        "hio probe engine b1 --yes --write\nhio estimate base --service lab/tiny --fixture tides --metric decode_tps "
        "--assume prompt-tokens=300 --assume generated-tokens=64"
    )


def test_a_profile_is_told_to_the_command_that_reads_it(tmp_path: Path) -> None:
    found = following(asked(bench(tmp_path), "ttft_ms", measured=5000.0))
    assert found.command is not None and found.command.splitlines() == [
        "perf record -e cpu-clock -F 499 -p PID -- sleep 30",
        "perf report --stdio -n --header > REPORT",
        "hio probe profile REPORT --stack base --path request --fixture tides --write",
    ]


@pytest.mark.parametrize(
    ("metric", "route"), [("ttft_ms", "attribute-cpu-and-device"), ("decode_tps", "decode-step-budget")]
)
def test_the_path_decides_which_profile(tmp_path: Path, metric: str, route: str) -> None:
    measured = 5000.0 if metric == "ttft_ms" else 2.0
    assert following(asked(bench(tmp_path), metric, measured=measured)).route == route


def test_with_a_profile_the_first_candidate_is_tried(tmp_path: Path) -> None:
    parts = [("ggml_vec_dot_f16", 90, "arithmetic", "weights"), ("rest", 10, "other", None)]
    found = following(asked(bench(tmp_path, profile(*parts)), measured=11.0))
    assert found.candidate is not None and found.route != "decode-step-budget"


def test_a_gap_within_the_candidates_is_tried_by_the_first_one(tmp_path: Path) -> None:
    found = following(asked(bench(tmp_path), measured=100.0))
    assert found.candidate == "draft-ngram-mod" and found.route == "tune-sweep"
    assert "base against base with one change, server.spec-type none -> ngram-mod" in found.experiment
    assert "decode_tps gains anything, at most" in found.proves


def test_where_nothing_is_left_the_machine_is_sized(tmp_path: Path) -> None:
    inputs = replace(asked(bench(tmp_path), measured=110.0), view=None)
    found = following(inputs)
    assert (found.candidate, found.route) == (None, "size-capacity")
    assert "none on this machine: base is 1 % beyond the bound" in found.experiment


def test_what_it_says_to_type_begins_the_plan_of_a_baseline(tmp_path: Path) -> None:
    _begins(tmp_path, following(asked(bench(tmp_path))), "base-a-a")


def test_what_it_says_to_type_begins_the_plan_of_a_candidate(tmp_path: Path) -> None:
    inputs = asked(bench(tmp_path, threads={1: 50.0, 2: 80.0}), measured=100.0, stated={"acceptance": 0.0})
    thread = [each for each in looked(inputs).candidates if each.factor == "server.threads"]
    ledger = terms_of(inputs)
    found = next_of(inputs, ledger, bound_of(ledger, inputs), thread)
    assert found.candidate == "threads-2"
    _begins(tmp_path, found, "threads-2")


def _begins(root: Path, found: NextExperiment, name: str) -> None:
    """The command creates a plan in which only what a person can say is missing."""
    assert found.command is not None
    words = shlex.split(found.command)
    assert words[0] == "hio"
    said = hio(root, *words[1:])
    assert said.code == 0, said.err
    checked = json.loads(hio(root, "plan", "check", name, "--format", "json").out)
    wrong = {each["rule"] for each in checked["diagnostics"] if each["severity"] == "error"}
    assert wrong == {"unfinished-plan"}
